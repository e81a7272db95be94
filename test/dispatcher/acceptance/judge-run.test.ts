import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeRun, type RunEvidence, type RunVerdict } from "../../../src/dispatcher/acceptance/judge-run.ts";

const exit = {
  reason: "exited" as const,
  code: 0,
  signal: null,
  startedAt: "",
  endedAt: "",
  outputBytes: 0,
  truncated: false,
  leftBehind: 0,
};
const changes = {
  kind: "staged" as const,
  files: ["a"],
  deleted: 0,
  trackedBefore: 10,
  onlyProtected: false,
  refused: [],
  astray: [],
};
const refused = [{ folder: "lib", entries: ["lib/HEAD"] }];
const good: RunEvidence = {
  exit,
  outputTail: "",
  claims: { tick: "done", appended: [] },
  changes,
  expects: undefined,
  evidence: false,
  scope: [],
  maxDeletions: { files: 200, percent: 20 },
};
const nothing = { tick: "done" as const, nothingToChange: "it is there", appended: [] };
const none = { tick: "none" as const, appended: [] };

const TABLE: [name: string, change: Partial<RunEvidence>, expected: RunVerdict["kind"], detail?: RegExp][] = [
  ["ticked and changed", {}, "accept"],
  ["an exit code decides nothing", { exit: { ...exit, code: 1 } }, "accept"],
  ["not ticked", { claims: none }, "again", /not ticked.*code 0/],
  ["not ticked, with what it printed", { claims: none, outputTail: "no idea" }, "again", /no idea/],
  [
    "more files gone than a plain number allows",
    { changes: { ...changes, deleted: 6 }, maxDeletions: { files: 5, percent: 100 } },
    "block",
    /allows 5 files\)/,
  ],
  ["killed", { claims: none, exit: { ...exit, code: null, signal: "SIGKILL" } }, "again", /SIGKILL/],
  ["too long", { claims: none, exit: { ...exit, reason: "deadline" } }, "again", /runTimeout/],
  ["too silent", { claims: none, exit: { ...exit, reason: "silence" } }, "again", /silenceTimeout/],
  ["ended by the policy", { claims: none, exit: { ...exit, reason: "policy", error: "denied" } }, "again", /denied/],
  ["ended by the policy, though ticked", { exit: { ...exit, reason: "policy" } }, "again", /The policy ended/],
  ["ticked, nothing changed", { changes: { ...changes, files: [] } }, "again", /said to be done, but no file changed/],
  ["files make a repository", { changes: { ...changes, refused } }, "again", /`lib\/HEAD` git would .* repository/],
  ["links lead astray", { changes: { ...changes, astray: ["lib"] } }, "again", /links `lib` lead out of the project/],
  ["files make a repository, not ticked", { changes: { ...changes, refused }, claims: none }, "again", /not ticked/],
  ["only prloom/ changed", { changes: { ...changes, files: [], onlyProtected: true } }, "again", /under prloom/],
  ["nothing expected", { changes: { ...changes, files: [] }, expects: "none" }, "accept"],
  ["nothing to change, and nothing changed", { claims: nothing, changes: { ...changes, files: [] } }, "accept"],
  ["nothing to change, and something changed", { claims: nothing }, "again", /nothing-to-change.*but `a` changed/],
  [
    "nothing to change nor expected, and something changed",
    { claims: nothing, expects: "none" },
    "again",
    /but `a` changed/,
  ],
  [
    "nothing to change, where files are expected",
    { claims: nothing, changes: { ...changes, files: [] }, expects: "files src/*.ts" },
    "again",
    /no changed file matches `src\/\*\.ts`, which its context expects/,
  ],
  [
    "nothing to change, where tests are expected",
    { claims: nothing, changes: { ...changes, files: [] }, expects: "tests" },
    "again",
    /no test changed, and its context says `expects: tests`/,
  ],
  [
    "only prloom/ changed, where tests are expected",
    { changes: { ...changes, files: [], onlyProtected: true }, expects: "tests" },
    "again",
    /under prloom/,
  ],
  ["the expected file", { expects: "files src/*.ts", changes: { ...changes, files: ["src/a.ts"] } }, "accept"],
  ["not the expected file", { expects: "files src/*.ts" }, "again", /src\/\*\.ts/],
  ["one of several", { expects: "files src/{a,b}.[tj]s", changes: { ...changes, files: ["src/b.js"] } }, "accept"],
  ["none of several", { expects: "files src/{a,b}.[tj]s", changes: { ...changes, files: ["src/c.ts"] } }, "again"],
  ["at any depth", { expects: "files **/b/*.[tj]s", changes: { ...changes, files: ["a/b/b/c.ts"] } }, "accept"],
  // A plan may be written by a stranger, and names of files by an agent.
  ["choices without end", { expects: `files ${"{a,b}".repeat(40)}` }, "again"],
  ["a range without end", { expects: "files {1..100000000}" }, "again"],
  [
    "wildcards without end",
    { expects: `files ${"*a".repeat(50)}b`, changes: { ...changes, files: ["a".repeat(200)] } },
    "again",
  ],
  [
    "repetitions without end",
    { expects: "files +(a|aa)+(a|aa)+(a|aa)b", changes: { ...changes, files: ["a".repeat(200)] } },
    "again",
  ],
  ["a test as expected", { expects: "tests", changes: { ...changes, files: ["src/a.test.ts"] } }, "accept"],
  ["a test in a folder", { expects: "tests", changes: { ...changes, files: ["test/a.py"] } }, "accept"],
  [
    "no test though expected",
    { expects: "tests", changes: { ...changes, files: ["src/latest.ts"] } },
    "again",
    /no test/,
  ],
  ["evidence instead of a change", { changes: { ...changes, files: [] }, evidence: true }, "accept"],
  [
    "evidence instead of the expected file",
    { changes: { ...changes, files: [] }, evidence: true, expects: "files src/*.ts" },
    "again",
    /no changed file matches/,
  ],
  [
    "evidence instead of tests",
    { changes: { ...changes, files: [] }, evidence: true, expects: "tests" },
    "again",
    /no test changed/,
  ],
  ["a file of the expected folder", { expects: "files src", changes: { ...changes, files: ["src/a"] } }, "accept"],
  ["within its paths", { scope: [["docs/**", "a"], ["**"]] }, "accept"],
  ["outside of its paths", { scope: [["docs/**"], ["**"]] }, "again", /do not allow a change of `a`/],
  ["within its paths, and outside of its role", { scope: [["a"], ["docs/**"]] }, "again", /do not allow/],
  ["outside of its paths, not ticked", { scope: [["docs/**"]], claims: none }, "again", /not ticked/],
  ["it says that it cannot", { claims: { tick: "blocked", reason: "why", appended: [] } }, "block-todo", /why/],
  ["a program that is not there", { exit: { ...exit, reason: "spawn-failed", error: "ENOENT" } }, "block", /ENOENT/],
  ["a branch that was moved", { changes: { kind: "diverged" } }, "block", /does not follow/],
  ["one of three files deleted", { changes: { ...changes, deleted: 1, trackedBefore: 3 } }, "accept"],
  ["a fifth deleted", { changes: { ...changes, deleted: 2, trackedBefore: 10 } }, "accept"],
  ["more than a fifth", { changes: { ...changes, deleted: 3, trackedBefore: 10 } }, "block", /3 of 10/],
  ["200 of very many", { changes: { ...changes, deleted: 200, trackedBefore: 10_000 } }, "accept"],
  ["201 of very many", { changes: { ...changes, deleted: 201, trackedBefore: 10_000 } }, "block", /201/],
  ["deletions are found before the missing tick", { claims: none, changes: { ...changes, deleted: 9 } }, "block"],
];

for (const [name, change, expected, detail] of TABLE) {
  test(name, async () => {
    const verdict = await judgeRun({ ...good, ...change });
    assert.equal(verdict.kind, expected);
    if (detail) assert.match(JSON.stringify(verdict), detail);
  });
}

const AT_WORK: [what: string, scope: string[], files: string[]][] = [
  [
    "long patterns are compared with many long names",
    [`${"**a".repeat(600)}z`],
    Array.from({ length: 5 }, (_, at) => `${`${"a".repeat(250)}/`.repeat(12)}f${at}`),
  ],
  ["a name is compared with all that braces make", Array(48).fill("**/**/{1..8}{1..8}?"), [`${"a/".repeat(2000)}c`]],
];

for (const [what, scope, files] of AT_WORK)
  test(`others have their turns while ${what}`, async (t) => {
    let turns = 0;
    const others = setInterval(() => {
      turns += 1;
    }, 5);
    t.after(() => clearInterval(others));
    const verdict = await judgeRun({ ...good, changes: { ...changes, files }, scope: [scope] });
    assert.equal(verdict.kind, "again");
    assert.equal(turns > 2, true, `${turns} turns`);
  });

for (const file of [
  "app/tests.py",
  "src/CalcTest.java",
  "My.App.Tests/Calc.cs",
  "AppUITests/Login.swift",
  "web/a.cy.ts",
  "t/calc.t",
  "features/sign-in.feature",
])
  test(`a TODO that expects tests is done with ${file}`, async () => {
    const verdict = await judgeRun({ ...good, expects: "tests", changes: { ...changes, files: [file] } });
    assert.equal(verdict.kind, "accept");
  });
