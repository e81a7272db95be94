import assert from "node:assert/strict";
import { test } from "node:test";
import { corpus, deniedBecause, type Row, type Situation } from "./judging.ts";

const shown = ({ file, heading, command }: Row) => `${file}, ${heading}: ${command}`;

function wrongly(rows: readonly Row[], expected: "allow" | "deny", situations: readonly Situation[]): string[] {
  return rows.flatMap((row) =>
    situations.flatMap((situation) => {
      const because = deniedBecause(row.command, situation);
      return (because === undefined) === (expected === "allow")
        ? []
        : [`${situation}, ${shown(row)}${because === undefined ? "" : `\n    ${because}`}`];
    }),
  );
}

test("ordinary work of an executor is allowed", () => {
  assert.deepEqual(wrongly(corpus("allowed"), "allow", ["executor"]), []);
});

test("what harms, escapes, sends or cannot be understood is denied in every situation", () => {
  assert.deepEqual(wrongly(corpus("denied"), "deny", ["executor", "investigator", "closed door"]), []);
});

test("what only reads is allowed to an investigator and behind a closed door", () => {
  assert.deepEqual(wrongly(corpus("reading"), "allow", ["executor", "investigator", "closed door"]), []);
});

test("what may change something is for executors behind an open door", () => {
  assert.deepEqual(wrongly(corpus("working"), "deny", ["investigator", "closed door"]), []);
  assert.deepEqual(wrongly(corpus("working"), "allow", ["executor"]), []);
});

test("the corpus is as large as promised, and no command is in it twice", () => {
  const [allowed, denied, reading, working] = ["allowed", "denied", "reading", "working"].map(corpus);
  const all = [allowed, denied, reading, working].flatMap((rows) => rows ?? []);
  const seen = new Set<string>();
  const twice = all.filter(({ command }) => seen.has(command) || !seen.add(command));
  assert.deepEqual(twice.map(shown), []);
  assert.ok(all.length >= 500, `${all.length} commands`);
  assert.ok((allowed?.length ?? 0) + (reading?.length ?? 0) + (working?.length ?? 0) >= 200);
});
