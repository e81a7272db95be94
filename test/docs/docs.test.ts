import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createProgram } from "../../src/cli/program.ts";
import { parseConfig } from "../../src/config/load.ts";
import { parsePlan } from "../../src/plan/markdown/markdown.ts";
import { CLI } from "../testing/program.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const pages = [
  ...["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map((name) => join(root, name)),
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(root, "docs", name)),
];

const { files: packed } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { files: string[] };
/** What the first page shows to those who look at the repository. */
const IN_THE_REPOSITORY: ReadonlySet<string> = new Set(["test/chaos"]);

function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

for (const page of pages) {
  const name = relative(root, page);
  const text = readFileSync(page, "utf8");

  test(`${name}: every link leads somewhere`, () => {
    for (const [, link = ""] of text.replace(/```[\s\S]*?```/g, "").matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [path = "", anchor] = link.split("#");
      const file = path === "" ? page : join(dirname(page), path);
      assert.ok(existsSync(file), `${link} does not exist`);
      if (anchor) assert.ok(anchorsOf(readFileSync(file, "utf8")).has(anchor), `${link} has no such heading`);
    }
  });

  test(`${name}: no link leads out of what is packed`, () => {
    for (const [, link = ""] of text.replace(/```[\s\S]*?```/g, "").matchAll(/\]\(([^)\s#]+)/g)) {
      const path = relative(root, join(dirname(page), link));
      const isPacked = packed.some((entry) => path === entry || path.startsWith(`${entry}/`));
      assert.ok(/^[a-z]+:/.test(link) || isPacked || IN_THE_REPOSITORY.has(path), `${link} is not packed`);
    }
  });

  test(`${name}: every JSON example of the config is one that prloom takes`, () => {
    for (const [, json = ""] of text.matchAll(/```json\n([\s\S]*?)```/g)) {
      if (json.includes('"stages"')) parseConfig(json, "prloom/config.json");
      else JSON.parse(json);
    }
  });

  test(`${name}: every plan that is shown parses without problems`, () => {
    for (const [, plan = ""] of text.matchAll(/```markdown\n([\s\S]*?)```/g)) {
      const { todos, problems } = parsePlan(plan);
      assert.deepEqual(problems, []);
      assert.ok(todos.length > 0 || !/\[ \]/.test(plan));
    }
  });
}

test("every command that the pages name exists, with the flags they show", () => {
  const program = createProgram();
  const helpOf = (name: string): string =>
    program.commands.find((command) => [command.name(), ...command.aliases()].includes(name))?.helpInformation() ??
    assert.fail(`prloom ${name} does not exist`);
  for (const page of pages) {
    for (const { command, words } of commandsIn(readFileSync(page, "utf8"))) {
      const told = helpOf(command);
      for (const [flag] of words.matchAll(/(?<=\s)--[a-z-]+/g)) {
        assert.ok(told.includes(flag), `${relative(root, page)}: prloom ${command} has no ${flag}`);
      }
    }
  }
});

/** Commands stand in code: as a line of a block, or as a span. Quoted words and what follows a `#` are not theirs. */
function commandsIn(text: string): { command: string; words: string }[] {
  const blocks = [...text.matchAll(/```[a-z]*\n([\s\S]*?)```/g)].flatMap(([, body = ""]) => body.split("\n"));
  const spans = [...text.replace(/```[\s\S]*?```/g, "").matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
  return [...blocks, ...spans].flatMap((line) => {
    const [, command, rest = ""] = /^\s*(?:\$ )?prloom ([a-z]+)\b(.*)$/.exec(line) ?? [];
    const words = rest.replace(/"[^"]*"/g, "").split("#")[0] ?? "";
    return command === undefined ? [] : [{ command, words }];
  });
}

test("docs/cli.md has every command", () => {
  const args = [CLI, "--help"];
  const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const commands = [...stdout.matchAll(/^ {2}([a-z]+) \[options\]/gm)].map(([, command = ""]) => command);
  assert.ok(commands.length > 15, stdout);
  const page = readFileSync(join(root, "docs", "cli.md"), "utf8");
  const missing = commands.filter((command) => !page.includes(`\`prloom ${command}`));
  assert.deepEqual(missing, []);
});
