import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { oneOf, someOf } from "../../testing/sample.ts";

const PROGRAM = join(import.meta.dirname, "delivery-program.ts");
const POINTS = [
  "poll:returned",
  "poll:events-appended",
  "poll:settled",
  "poll:revived-appended",
  "poll:revived-settled",
  "deliver:routed",
  "deliver:sending",
  "deliver:returned",
  "deliver:settled",
  "bus.written",
];

function run(dir: string, round: number, crashAt: string | undefined): NodeJS.Signals | number | null {
  const { PRLOOM_CRASH_AT: _unset, ...env } = process.env;
  const wanted = crashAt === undefined ? env : { ...env, PRLOOM_CRASH_AT: crashAt };
  const done = spawnSync(process.execPath, [PROGRAM, dir, String(round)], { env: wanted, encoding: "utf8" });
  assert.equal(done.stderr, "");
  return done.signal ?? done.status;
}

const ids = (dir: string, log: string): string[] =>
  readFileSync(join(dir, `${log}.jsonl`), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line).id);

describe("a kill between any two effects of a poll and its deliveries", () => {
  for (const point of someOf(POINTS, 4)) {
    for (const count of oneOf([1, 3])) {
      it(`at ${point}, time ${count}: each event once, each delivery once, to where it was sent`, () => {
        const dir = mkdtempSync(join(tmpdir(), "prloom-bridges-"));
        try {
          assert.equal(run(dir, 0, `${point}:${count}`), "SIGKILL");
          assert.equal(run(dir, 1, undefined), 0);
          const outside = readFileSync(join(dir, "outside.txt"), "utf8").trim().split("\n");
          const expected = [1, 2, 3].flatMap((n) => [`desk plain-${n}`, `attic moved-${n}`]);
          assert.deepEqual(outside.toSorted(), expected.toSorted());
          const plain = outside.filter((line) => line.startsWith("desk"));
          assert.deepEqual(plain, ["desk plain-1", "desk plain-2", "desk plain-3"], "in order for an address");
          const expectedEvents = ["bad-1", "bad-2", "bad-3", "e1", "e2", "e3"];
          assert.deepEqual(ids(dir, "events").toSorted(), expectedEvents, "what was refused came in when it was right");
          assert.deepEqual(new Set(ids(dir, "dead")).size, 3);
          const actions = ids(dir, "actions");
          assert.equal(actions.length, 9);
          assert.equal(new Set(actions).size, 9);
        } finally {
          rmSync(dir, { recursive: true, force: true });
        }
      });
    }
  }
});
