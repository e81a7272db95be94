import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startDaemon } from "../../testing/daemon.ts";
import { TEST_AGENT } from "../../testing/project.ts";
import { oneOf, SEED_NOTE } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";
import { branch, commit, fresh, settled, write } from "../fixtures/checkouts.ts";

const SOURCE = fileURLToPath(new URL("../../../src", import.meta.url));
/** What another branch does, and what must not come of it while a dispatcher runs. */
describe(`a checkout changes nothing for a dispatcher that runs (${SEED_NOTE})`, () => {
  test("one without checks: broken work is still refused, and the change is told", async () => {
    const project = fresh({ config: { checks: ["! grep broken work.txt"] } });
    branch(project, "careless", () => project.config({ checks: [] }));
    const daemon = await startDaemon(project);
    project.git("checkout", "-q", "careless");
    const told = await daemon.said(undefined, /differs from what the dispatcher works with/);
    assert.match(told.text, /checks: \["! grep broken work\.txt"\] → \[\]\. `prloom reload` applies it/);
    project.plan("bad", ["broken"]);
    assert.match(await settled(daemon, "bad"), /blocked:/);
    assert.deepEqual(project.commits("bad"), []);
    const { pinned } = await project.status();
    assert.deepEqual(
      pinned?.changes.map(({ key, loosens }) => [key, loosens]),
      [["checks", true]],
    );
    assert.match((await project.cli(["status"])).stdout, /^config: what is checked out differs .*checks/m);
    project.git("checkout", "-q", "main");
    await daemon.said(undefined, /again what the dispatcher works with/);
    await daemon.end();
  });

  test("a stranger's command without a sandbox is not run, and work starts from the branch of the start", async () => {
    const project = fresh();
    const marker = join(project.home, "owned");
    branch(project, "stranger", () => {
      const evil = { command: "sh", args: ["-c", `touch ${marker}`], sandbox: "none" };
      write(project, "claude", `#!/bin/sh\ntouch ${marker}\n`);
      project.config({
        agents: { test: evil, ask: { adapter: "claude", command: "./claude" } },
        initCommands: [`touch ${marker}`],
        checks: [`touch ${marker}`],
      });
      write(project, "src/a.txt", "evil\n");
    });
    const daemon = await startDaemon(project);
    project.git("checkout", "-q", "stranger");
    await daemon.said(undefined, /differs from what the dispatcher works with/);
    project.plan("good", ["one"]);
    assert.match(await settled(daemon, "good"), /in review/);
    assert(!existsSync(marker));
    assert.equal(project.record("good").baseBranch, "main");
    assert.equal(project.git("show", "prloom/good:src/a.txt"), "a\n");
    // Nor by a command that a person types meanwhile and after it.
    assert.match((await project.cli(["doctor"])).stdout, /agents, plugins and bridges were not tried/);
    await daemon.end();
    assert.equal((await project.cli(["status"])).code, 0);
    assert.equal((await project.cli(["merge", "good"])).code, 0);
    assert(!existsSync(marker));
  });

  const LINKED: readonly [what: string, path: string, to: (pipe: string) => string][] = [
    ["a config that is a pipe", "prloom/config.json", (pipe) => pipe],
    ["a prompt without an end", "prloom/prompts/worker.md", () => "worker.md"],
    ["prompts without an end", "prloom/prompts", () => "prompts"],
  ];
  for (const [what, path, to] of oneOf(LINKED))
    test(`${what}: work goes on, and commands that only read, too`, { timeout: 120_000, ...thorough }, async () => {
      const project = fresh();
      const pipe = join(project.home, "pipe");
      execFileSync("mkfifo", [pipe]);
      write(project, "prloom/prompts/worker.md", "PINNED {{todo}} {{planFile}}");
      commit(project, "A prompt");
      branch(project, "linked", () => {
        rmSync(join(project.root, path), { recursive: true });
        symlinkSync(to(pipe), join(project.root, path));
      });
      const daemon = await startDaemon(project);
      project.git("checkout", "-q", "linked");
      await daemon.said(undefined, /changed and is not used|differs from what the dispatcher works with/);
      project.plan("good", ["one"]);
      assert.match(await settled(daemon, "good"), /in review/);
      for (const command of [["status"], ["show", "good"], ["pause", "good"]])
        assert.equal((await project.cli(command)).code, 0, command.join(" "));
      await daemon.end();
      assert.equal((await project.cli(["status"])).code, 0);
    });

  test("other prompts are not used", thorough, async () => {
    const project = fresh();
    write(project, "prloom/prompts/worker.md", "PINNED {{todo}} {{planFile}}");
    commit(project, "A prompt");
    branch(project, "other", () => write(project, "prloom/prompts/worker.md", "EVIL {{todo}}"));
    const daemon = await startDaemon(project);
    project.git("checkout", "-q", "other");
    await daemon.said(undefined, /prloom\/prompts\/worker\.md/);
    project.plan("good", ["one"]);
    assert.match(await settled(daemon, "good"), /in review/);
    assert.match(project.runFile("good", 1, "prompt.md"), /^PINNED one/);
    await daemon.end();
  });

  test("a module runs as it was loaded, one that it imports later as it was, and one that no module named not at all", async () => {
    const project = fresh({ config: { plugins: { pen: { module: "./prloom/plugins/pen.mjs" } } } });
    const notes = join(project.home, "notes");
    const pen = (word: string) => `
      import { appendFileSync } from "node:fs";
      import { base } from "./base.mjs";
      export default () => ({
        async beforeTodo() {
          const { late } = await import("./late.mjs");
          const other = await import("./" + ["un", "named"].join("") + ".mjs").then((m) => m.word, (e) => e.message);
          appendFileSync(${JSON.stringify(notes)}, "${word} " + base + " " + late + " " + other + "\\n");
        },
      });`;
    const files = (word: string) => {
      write(project, "prloom/plugins/pen.mjs", pen(word));
      write(project, "prloom/plugins/base.mjs", `export const base = "${word}";`);
      write(project, "prloom/plugins/late.mjs", `import { deep } from "./deep.mjs"; export const late = deep;`);
      write(project, "prloom/plugins/deep.mjs", `export const deep = "${word}";`);
      write(project, "prloom/plugins/unnamed.mjs", `export const word = "${word}";`);
    };
    files("mine");
    commit(project, "A plugin");
    branch(project, "other", () => files("evil"));
    const daemon = await startDaemon(project);
    project.git("checkout", "-q", "other");
    const told = await daemon.said(undefined, /prloom\/plugins\/pen\.mjs/);
    assert.match(told.text, /`prloom stop`, then `prloom start`, applies it/);
    project.plan("good", ["one"]);
    assert.match(await settled(daemon, "good"), /in review/);
    const [line = ""] = readFileSync(notes, "utf8").split("\n");
    assert.match(line, /^mine mine mine \S*unnamed\.mjs changed after the dispatcher was started\. `prloom stop`/);
    const refused = await project.cli(["reload", "--yes"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /\[reload-refused\]\n {2}hint: `prloom stop`, then `prloom start`/);
    // To look after one's things on the stranger's branch runs nothing of it either.
    const before = readFileSync(notes, "utf8");
    await daemon.end();
    write(
      project,
      "prloom/plugins/pen.mjs",
      `import { appendFileSync } from "node:fs"; appendFileSync("${notes}", "!");`,
    );
    assert.match(
      (await project.cli(["doctor"])).stdout,
      /a branch other than that of the last start is checked out, and differs/,
    );
    assert.equal((await project.cli(["poll"])).code, 1);
    assert.equal(readFileSync(notes, "utf8"), before);
  });

  test(
    "doctor runs nothing of a stranger's: neither when no branch is checked out, nor by a path in the tree",
    thorough,
    async () => {
      const project = fresh();
      const marker = join(project.home, "owned");
      const plugin = "prloom/plugins/pen.mjs";
      write(project, plugin, "export default () => ({ async beforeTodo() {} });");
      write(project, "claude", "#!/bin/sh\necho 9.9.9\n");
      project.config({
        agents: { ask: { adapter: "claude", command: "./claude" } },
        stages: { default: "ask" },
        plugins: { pen: { module: `./${plugin}` } },
      });
      commit(project, "A plugin");
      branch(project, "module", () =>
        write(project, plugin, `import { writeFileSync } from "node:fs"; writeFileSync("${marker}", "");`),
      );
      branch(project, "program", () => write(project, "claude", `#!/bin/sh\ntouch ${marker}\n`));
      project.git("checkout", "-q", "--detach");
      const first = await project.work();
      assert.equal(first.code, 0, first.stderr);
      for (const name of ["module", "program"]) {
        project.git("checkout", "-q", "--detach", name);
        await project.cli(["doctor"]);
        assert(!existsSync(marker), name);
      }
    },
  );

  test("nor by what a module imports, nor where a link leads, when the module is as it was", thorough, async () => {
    const project = fresh({ config: { plugins: { pen: { module: "./prloom/plugins/pen.mjs" } } } });
    const marker = join(project.home, "owned");
    const evil = `import { writeFileSync } from "node:fs"; writeFileSync("${marker}", ""); export default () => ({});`;
    const installed = join(project.root, "node_modules/pad");
    mkdirSync(installed, { recursive: true });
    writeFileSync(join(installed, "index.mjs"), "export default 1;");
    writeFileSync(join(installed, "package.json"), '{"name":"pad","exports":"./index.mjs"}');
    write(project, ".gitignore", "/node_modules\n");
    write(project, "lib/pen.mjs", 'import "pad"; export default () => ({ async beforeTodo() {} });');
    mkdirSync(join(project.root, "prloom/plugins"));
    symlinkSync("../../lib/pen.mjs", join(project.root, "prloom/plugins/pen.mjs"));
    commit(project, "A plugin");
    branch(project, "package", () => {
      write(project, "lib/node_modules/pad/index.mjs", evil);
      write(project, "lib/node_modules/pad/package.json", '{"name":"pad","exports":"./index.mjs"}');
    });
    branch(project, "link", () => {
      write(project, "lib/evil.mjs", evil);
      rmSync(join(project.root, "prloom/plugins/pen.mjs"));
      symlinkSync("../../lib/evil.mjs", join(project.root, "prloom/plugins/pen.mjs"));
    });
    // A file that is older than the start, and not the person's: a name can lead to it.
    const old = join(project.home, "old");
    mkdirSync(old);
    writeFileSync(join(old, "index.js"), `require("node:fs").writeFileSync("${marker}", "");`);
    const nearer = join(project.root, "lib/node_modules/pad");
    branch(project, "detour", () => {
      mkdirSync(dirname(nearer));
      symlinkSync(old, nearer);
    });
    branch(project, "other-main", () => {
      const main = relative(nearer, join(old, "index.js"));
      write(project, "lib/node_modules/pad/package.json", JSON.stringify({ name: "pad", main }));
    });
    branch(project, "harmless", () => write(project, "src/a.txt", "other\n"));
    assert.equal((await project.work()).code, 0);
    for (const name of ["package", "link", "detour", "other-main"]) {
      project.git("checkout", "-q", name);
      assert.match((await project.cli(["doctor"])).stdout, /changed after the dispatcher was started/);
      const polled = await project.cli(["poll"]);
      assert.equal(polled.code, 1, name);
      assert(!existsSync(marker), name);
    }
    project.git("checkout", "-q", "harmless");
    assert.match((await project.cli(["doctor"])).stdout, /plugins and bridges: 1 can be loaded/);
    assert.equal((await project.cli(["poll"])).code, 0);
  });

  for (const changed of oneOf(["agents/shim/shim.ts", "kernel/clock.ts"]))
    test(`prloom itself, installed in the checkout, starts runs only with what it was (${changed})`, thorough, () =>
      startsAsItWas(changed),
    );

  async function startsAsItWas(changed: string): Promise<void> {
    const project = fresh();
    const marker = join(project.home, "owned");
    const file = `vendor/prloom/src/${changed}`;
    cpSync(SOURCE, join(project.root, "vendor/prloom/src"), { recursive: true });
    cpSync(join(SOURCE, "../package.json"), join(project.root, "vendor/prloom/package.json"));
    symlinkSync(join(SOURCE, "../node_modules"), join(project.root, "vendor/prloom/node_modules"));
    commit(project, "Vendor");
    branch(project, "other", () =>
      write(project, file, `import "node:fs"; require("fs").writeFileSync("${marker}", "x");`),
    );
    const cli = join(project.root, "vendor/prloom/src/cli/main.ts");
    const daemon = await startDaemon({ ...project, spawnCli: (args, env) => project.spawnCli(args, env, cli) });
    project.git("checkout", "-q", "other");
    await daemon.said(undefined, new RegExp(file));
    project.plan("good", ["one"]);
    await daemon.said("good", new RegExp(`${changed} is not what it was when the dispatcher was started`));
    project.git("checkout", "-q", "main");
    assert.match(await settled(daemon, "good"), /in review/);
    assert(!existsSync(marker));
    await daemon.end();
  }

  test("no program of ours is one that a branch brings into a folder of PATH", async () => {
    const project = fresh();
    const marker = join(project.home, "owned");
    const folder = join(project.root, "node_modules/.bin");
    branch(project, "other", () => {
      for (const name of ["bwrap", "git", "mkfifo"])
        write(project, `node_modules/.bin/${name}`, `#!/bin/sh\necho ${name} >> ${marker}\n`);
    });
    // As `npx` has it.
    const PATH = `${folder}:${process.env.PATH}`;
    const daemon = await startDaemon(project, { PATH });
    project.git("checkout", "-q", "other");
    project.plan("good", ["one"]);
    assert.match(await settled(daemon, "good"), /in review/);
    for (const command of [["show", "good"], ["doctor"], ["pause", "good"]]) await project.cli(command, { PATH });
    await daemon.end();
    assert.equal((await project.cli(["status"], { PATH })).code, 0);
    assert(!existsSync(marker), existsSync(marker) ? readFileSync(marker, "utf8") : "");
  });

  for (const started of oneOf(["by its path", "by a line for a shell"]))
    test(`a program of the checkout is run only as it was, started ${started}`, () => runsAsItWas(started));

  async function runsAsItWas(started: string): Promise<void> {
    const project = fresh();
    const marker = join(project.home, "owned");
    const tool = join(project.root, "tools", "agent.sh");
    write(project, "tools/agent.sh", `#!/bin/sh\nexec "${process.execPath}" "${TEST_AGENT}"\n`);
    const command = started === "by its path" ? { command: tool } : { command: "sh", args: ["-c", `exec ${tool}`] };
    project.config({ agents: { test: { ...command, sandbox: "none" } } });
    commit(project, "A tool");
    branch(project, "other", () => write(project, "tools/agent.sh", `#!/bin/sh\ntouch ${marker}\n`));
    const daemon = await startDaemon(project);
    project.git("checkout", "-q", "other");
    await daemon.said(undefined, /tools\/agent\.sh/);
    project.plan("good", ["one"]);
    await daemon.said("good", /tools\/agent\.sh is not what it was when the dispatcher was started/);
    project.git("checkout", "-q", "main");
    assert.match(await settled(daemon, "good"), /in review/);
    assert(!existsSync(marker));
    await daemon.end();
  }
});
