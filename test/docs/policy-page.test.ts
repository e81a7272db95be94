import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { PROTECTED } from "../../src/git/staging/protected-paths.ts";
import { POLICY_RULES } from "../../src/governance/policy/judge.ts";
import { ROLES } from "../../src/governance/policy/roles.ts";
import { CLI } from "../testing/program.ts";

const page = readFileSync(new URL("../../docs/policy.md", import.meta.url), "utf8");
const dir = realpathSync(mkdtempSync(join(tmpdir(), "prloom-page-")));
after(() => rmSync(dir, { recursive: true, force: true }));
execFileSync("git", ["init", "-q", dir]);

const examples = [...page.matchAll(/```\n\$ (.*\bprloom .*)\n([\s\S]*?)```/g)];

test("the page shows what is denied, what is allowed, and a batch", () => assert(examples.length >= 5));

for (const [, line = "", shown] of examples)
  test(`what the page shows is what is printed: ${line}`, async () => {
    const script = `prloom() { "$NODE" "$CLI" "$@"; }\n${line}`;
    const env = { ...process.env, NODE: process.execPath, CLI, HOME: dir };
    const { stdout } = await promisify(execFile)("sh", ["-c", script], { cwd: dir, env });
    assert.equal(stdout.replaceAll(dir, "/home/ada/shop"), shown);
  });

test("the page has every rule, every role and every protected path", () => {
  const rows = [...page.matchAll(/^\| ([a-z ]+) \| (.*) \|$/gm)].map(([, name, purpose]) => `${name}: ${purpose}`);
  const rules = POLICY_RULES.map(({ name, purpose }) => `${name}: ${purpose}`);
  assert.deepEqual(rows.slice(rows.indexOf(rules[0] ?? ""), rows.indexOf(rules.at(-1) ?? "") + 1), rules);
  for (const { name } of ROLES) assert(page.includes(`| ${name} |`), name);
  const [, paths = ""] = /### Protected paths\n([\s\S]*?)\n#/.exec(page) ?? [];
  for (const path of PROTECTED) assert(paths.includes(`\`${path}`), path);
});
