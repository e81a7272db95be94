import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { THROW_EFFECTS } from "../../src/hooks/contexts/hook-types.ts";
import { renderMatrix } from "../hooks/contexts/matrix.ts";
import { makeProject } from "../testing/project.ts";
import { thorough } from "../testing/thorough.ts";
import { withCommands } from "./installed.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = ["docs/plugins.md", "docs/bridges.md", "README.md"].map((name) => readFileSync(join(root, name), "utf8"));
const [plugins = "", bridges = ""] = pages;

/** Whole files of the pages, by the path that stands before each. */
const files = new Map(
  pages.flatMap((page) =>
    [...page.matchAll(/`([\w./-]+\.ts)`[^\n`]*:\n\n```ts\n([\s\S]*?)```/g)].map(([, name = "", code = ""]) => [
      name,
      code,
    ]),
  ),
);

function configOf(page: string, word: string): Record<string, unknown> {
  const found = [...page.matchAll(/```json\n([\s\S]*?)```/g)].find(([, json = ""]) => json.includes(word));
  return JSON.parse(found?.[1] ?? assert.fail(`no config with ${word}`));
}

function writeFiles(folder: string, wanted: Iterable<string>): void {
  for (const name of wanted) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, files.get(name) ?? assert.fail(`no page has ${name}`));
  }
}

/** A repository as an author has it: with prloom among its packages. */
function authorsFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "prloom-pages-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  writeFiles(folder, files.keys());
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  const installed = join(folder, "node_modules", "prloom");
  mkdirSync(installed, { recursive: true });
  symlinkSync(join(root, "src", "plugin.ts"), join(installed, "plugin.ts"));
  const entry = { name: "prloom", type: "module", exports: { "./plugin": "./plugin.ts" } };
  writeFileSync(join(installed, "package.json"), JSON.stringify(entry));
  return folder;
}

test("every block of TypeScript is a whole file with a name", () => {
  const blocks = pages.flatMap((page) => [...page.matchAll(/^```ts$/gm)]);
  assert.equal(files.size, blocks.length);
  assert.ok(files.size >= 5);
});

test("all of them compile as strictly as prloom itself", () => {
  const folder = authorsFolder();
  const compilerOptions = {
    typeRoots: [join(root, "node_modules", "@types")],
    paths: { "prloom/plugin": [join(root, "src", "plugin.ts")] },
  };
  const config = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["prloom"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const { status, stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", folder], { encoding: "utf8" });
  assert.equal(status, 0, stdout);
});

test("the test of a plugin that the page shows runs", thorough, () => {
  const { NODE_TEST_CONTEXT: _ours, ...env } = process.env;
  const args = ["--test", "--test-reporter=tap", "prloom/plugins/progress.test.ts"];
  const printed = execFileSync(process.execPath, args, { cwd: authorsFolder(), env, encoding: "utf8" });
  assert.match(printed, /# pass 1\n/);
});

test("the plugin in ten lines does what the page says", async () => {
  const project = withCommands(makeProject());
  after(() => project.remove());
  writeFiles(project.root, ["prloom/plugins/progress.ts"]);
  project.config(configOf(plugins, '"progress"'));
  project.plan("log-in", ["Store users", "Add the form"]);
  await project.untilIdle();
  const shown = /```\n(prloom comment log-in[\s\S]*?)```/.exec(plugins)?.[1] ?? assert.fail("no commands");
  for (const line of shown.trim().split("\n")) {
    await project.type(
      ...[...line.matchAll(/"([^"]*)"|(\S+)/g)].slice(1).map(([, quoted, plain]) => quoted ?? plain ?? ""),
    );
  }
  const answer = (await project.thread("log-in")).at(-1)?.body ?? "";
  assert.equal(answer, "2 of 2 TODOs are done.");
  assert.ok(plugins.includes(answer));
  assert.equal(project.record("log-in").runs, 2, "no triage");
});

test("the bridge makes a draft of a wish, and delivers answers once", thorough, async () => {
  const project = withCommands(makeProject());
  after(() => project.remove());
  writeFiles(project.root, ["prloom/bridges/wishes.ts"]);
  // Something that answers, so that the way out is walked too.
  const plugin = `export default () => ({
    onGlobalEvent(event, ctx) {
      if (event.type === "plan_created") ctx.emitComment({ target: "wishes" }, "Taken: " + event.context.planId);
    },
  });`;
  writeFileSync(join(project.root, "prloom", "answers.mjs"), plugin);
  project.config({ ...configOf(bridges, '"wishes"'), globalPlugins: { answers: { module: "./prloom/answers.mjs" } } });
  writeFileSync(join(project.root, "wishes.txt"), "Add a dark mode\n");
  const { signal } = await project.work({ PRLOOM_CRASH_AT: "deliver:returned:2" });
  assert.equal(signal, "SIGKILL", "killed after the answer was written and before that was on record");
  await project.untilIdle();
  const { plans } = await project.status();
  assert.deepEqual(
    plans.map(({ title, status }) => ({ title, status })),
    [{ title: "Add a dark mode", status: "draft" }],
  );
  const answers = readFileSync(join(project.root, "wishes.txt.answers"), "utf8");
  assert.match(answers, /^Taken: add-a-dark-mode\S* <!-- prloom:\S+ -->\n$/);
});

test("the error that the page shows for beforeTriage is the real one", async () => {
  const project = withCommands(makeProject());
  after(() => project.remove());
  mkdirSync(join(project.root, "prloom", "plugins"), { recursive: true });
  writeFileSync(
    join(project.root, "prloom/plugins/memory.mjs"),
    "export default () => ({ beforeTriage: (plan) => plan });",
  );
  project.config({ plugins: { memory: { module: "./prloom/plugins/memory.mjs" } } });
  const { code, stderr } = await project.work();
  assert.equal(code, 1);
  const shown = /```\n(error: [^\n]*\n[^\n]*)\n```/.exec(plugins)?.[1] ?? assert.fail("the page shows no error");
  assert.ok(stderr.includes(shown), stderr);
  assert.match(stderr, /onEvent\(event, ctx\)/);
});

test("the table of hooks says of each what a throw leads to, as the code has it", () => {
  const rows = [...plugins.matchAll(/^\| `(\w+)` \|.*\| ([^|]+) \|$/gm)].filter(
    ([, hook = ""]) => hook in THROW_EFFECTS,
  );
  const said = rows.map(([, hook, effect = ""]) => [hook, effect.replace(/,.*/, "")]);
  assert.deepEqual(Object.fromEntries(said), THROW_EFFECTS);
});

test("the matrix of hooks and context members is the one of the code", () => {
  const [, shown = ""] = /<!-- matrix -->\n([\s\S]*?)<!-- \/matrix -->/.exec(plugins) ?? [];
  assert.equal(shown.trim(), renderMatrix().trim());
});
