import assert from "node:assert/strict";
import { homedir } from "node:os";
import { test } from "node:test";
import { agentPlaces, pathsOf } from "../../src/dispatcher/paths.ts";

const PLACES: readonly [what: string, commonDir: string, places: string[]][] = [
  ["git's folder as it comes", "/repo/.git", ["prloom/.local", "trees", ".git"]],
  ["under a name of its own", "/repo/store", ["prloom/.local", "trees", "store"]],
  ["bare, so that it is the top", "/repo", ["prloom/.local", "trees"]],
  ["elsewhere", "/store", ["prloom/.local", "trees"]],
];

for (const [what, commonDir, places] of PLACES) {
  test(`agents write below the top, with git's folder: ${what}`, () => {
    assert.deepEqual(agentPlaces(pathsOf({ root: "/repo", commonDir }, "trees")), places);
  });
}

test("worktreesDir is below the top, unless it says where it is", () => {
  const worktrees = (named: string) => pathsOf({ root: "/repo", commonDir: "/repo/.git" }, named).worktrees;
  assert.deepEqual(["trees", "../trees", "/disk/trees", "~/trees", "~mine"].map(worktrees), [
    "/repo/trees",
    "/trees",
    "/disk/trees",
    `${homedir()}/trees`,
    "/repo/~mine",
  ]);
});
