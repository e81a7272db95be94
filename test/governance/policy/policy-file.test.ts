import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesAny, realPath } from "../../../src/governance/policy/paths.ts";
import { parsePolicy } from "../../../src/governance/policy/policy-file.ts";
import { ROLES, roleNamed } from "../../../src/governance/policy/roles.ts";
import { PrloomError } from "../../../src/kernel/errors.ts";
import { fakeFiles, policy } from "./fixtures.ts";

test("a policy that was written is read as it was", () => {
  assert.deepEqual(parsePolicy(JSON.stringify(policy())), policy());
});

const WRONG: readonly [what: string, text: string, message: RegExp][] = [
  ["nothing", "", /policy\.json cannot be used: it is not JSON/],
  ["half of it", JSON.stringify(policy()).slice(0, 40), /it is not JSON/],
  ["a list", "[]", /cannot be used/],
  [
    "a newer version",
    JSON.stringify({ ...policy(), schemaVersion: 2, more: 1 }),
    /it has version 2, and this prloom knows versions up to 1/,
  ],
  ["a field that is not known", JSON.stringify({ ...policy(), extra: 1 }), /extra/],
  ["a door that is ajar", JSON.stringify({ ...policy(), door: { state: "ajar", reason: "" } }), /door\.state/],
  ["a worktree that is not absolute", JSON.stringify({ ...policy(), root: "src" }), /root/],
];

for (const [what, text, message] of WRONG)
  test(`a policy is refused by what is wrong with it: ${what}`, () => {
    assert.throws(
      () => parsePolicy(text),
      (error) => error instanceof PrloomError && error.code === "policy-invalid" && message.test(error.message),
    );
  });

test("the field of a policy that does not fit: each one", () => {
  for (const key of Object.keys(policy()))
    assert.throws(() => parsePolicy(JSON.stringify({ ...policy(), [key]: { not: ["this"] } })), PrloomError, key);
});

test("a role of the config has no more than the one that it extends", () => {
  const added = {
    docs: { extends: "executor", paths: ["docs/**"], tools: ["read", "edit"] },
    sly: { extends: "investigator", shell: "work" as const, tools: ["read", "delegate", "shell"] },
    executor: { extends: "coordinator" },
    lost: { extends: "boss" },
  };
  const docs = roleNamed("docs", added);
  assert.deepEqual([docs?.tools, docs?.paths, docs?.shell], [["read", "edit"], ["docs/**"], "work"]);
  const sly = roleNamed("sly", added);
  assert.deepEqual([sly?.tools, sly?.shell], [["read", "shell"], "reads"]);
  assert.equal(
    roleNamed("executor", added),
    ROLES.find(({ name }) => name === "executor"),
  );
  assert.equal(roleNamed("lost", added), undefined);
  assert.equal(roleNamed("constructor", added), undefined);
});

const PATTERNS: readonly [pattern: string, path: string, expected: boolean][] = [
  ["**", "a/b", true],
  ["src/**", "src/a/b.ts", true],
  ["src/**", "srcs/a", false],
  ["src", "src/a", true],
  ["src/*.ts", "src/a.ts", true],
  ["src/*.ts", "src/a/b.ts", false],
  ["**/*.md", "a/b.md", true],
  ["**/*.md", "b.md", true],
  ["a?c", "abc", true],
  ["a.c", "abc", false],
  ["(x)", "(x)", true],
  ["**/a*/**/b*.ts", "x/a1/y/z/b2.ts", true],
  ["**/a*/**/b*.ts", "x/a1/b2.ts", true],
  ["**/a*/**/b*.ts", "x/a1/b2.ts/in", true],
  ["**/a*/**/b*.ts", "x/1a/b2.ts", false],
  ["./*/*/*/", "a/b/c", true],
  ["*/*/*", "a/b", false],
];

for (const [pattern, path, expected] of PATTERNS)
  test(`${pattern} ${expected ? "matches" : "does not match"} ${path}`, () =>
    assert.equal(matchesAny(path, [pattern]), expected));

test("patterns that a plan may have made up to take for ever are answered all the same", () => {
  const [name, path] = [`${"a".repeat(200)}!`, `${"a/".repeat(100)}c`];
  assert(!matchesAny(name, [`${"*a".repeat(50)}b`]));
  assert(!matchesAny(path, [`${"**/".repeat(50)}b`]));
  for (const stars of [9, 1999, 100_000]) {
    assert(!matchesAny(name, [`${"*".repeat(stars)}b`]));
    assert(matchesAny(`x/${name}`, [`${"*".repeat(stars)}!`]));
  }
  assert(matchesAny(name, [`${"*a".repeat(50)}!`]));
  assert(matchesAny(name.toUpperCase(), [`${"*a".repeat(50)}!`], "any-case"));
});

test("as many patterns as a TODO has room for cost less than a second on the processor, however long the path is", () => {
  const path = `${`${"a".repeat(250)}/`.repeat(16)}c`;
  const patterns = (end: string) => Array.from({ length: 285 }, () => `**?**${end}`);
  const before = process.cpuUsage();
  assert(!matchesAny(path, patterns("b")));
  const { user, system } = process.cpuUsage(before);
  assert((user + system) / 1000 < 1000, `${(user + system) / 1000} ms`);
  assert(matchesAny(path, patterns("c")));
});

test("letters count, but for what is protected", () => {
  assert(!matchesAny("SRC/a", ["src"]));
  assert(matchesAny("PRLOOM/a", ["prloom"], "any-case"));
});

const LINKS = { "/r/a": "b", "/r/b": "/x/y", "/r/up": "..", "/r/loop": "loop", "/r/d": "c/../e", "/r/c": "/far/away" };
const REAL: readonly [path: string, real: string | undefined][] = [
  ["plain", "/r/plain"],
  ["a", "/x/y"],
  ["a/new/file", "/x/y/new/file"],
  ["up/other", "/other"],
  ["x/../y", "/r/y"],
  ["loop", undefined],
  ["/abs/./x", "/abs/x"],
  // `..` behind a link means the folder around its target.
  ["d", "/far/e"],
  // Here that is a matter of who reads it.
  ["c/../x", undefined],
  ["plain/../x", "/r/x"],
];

for (const [path, real] of REAL)
  test(`${path} is really ${real ?? "nowhere"}`, () => assert.equal(realPath(path, "/r", fakeFiles(LINKS)), real));
