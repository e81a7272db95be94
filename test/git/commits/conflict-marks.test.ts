import assert from "node:assert/strict";
import { test } from "node:test";
import { leftMarks } from "../../../src/git/commits/conflict-marks.ts";

const SHA = "0123456789abcdef0123456789abcdef01234567";
const patch = (file: string, ...lines: string[]) =>
  [`diff --git a/${file} b/${file}`, `--- a/${file}`, `+++ b/${file}`, "@@ -0,0 +1 @@", ...lines, ""].join("\n");

test("what git writes into a file that conflicts is found, each kind by itself", () => {
  for (const mark of [`<<<<<<< ${SHA}`, `>>>>>>> ${SHA}:old.txt`, `||||||| ${SHA}`, "=======", "=======\r"])
    assert.deepEqual(leftMarks(patch("a.txt", "+one", `+${mark}`), ""), ["a.txt"], mark);
});

test("what only looks like it is not, nor what the commit had", () => {
  const harmless = ["+<<<<<<< HEAD", "+========", "-=======", " =======", `-<<<<<<< ${SHA}`, "+<< a", "++++ b/x"];
  assert.deepEqual(leftMarks(patch("a.txt", ...harmless), ""), []);
  const heading = patch("a.md", "+Chapter", "+=======");
  assert.deepEqual(leftMarks(heading, heading), []);
  assert.deepEqual(leftMarks(heading + patch("b.md", "+======="), heading), ["b.md"]);
});
