import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { oneOf, someOf } from "../../testing/sample.ts";
import { inTemporary, openWorld } from "../fixture.ts";

const PROGRAM = fileURLToPath(new URL("killed-program.ts", import.meta.url));

function run(dir: string, crashAt?: string) {
  const { PRLOOM_CRASH_AT: _none, ...env } = process.env;
  return spawnSync(process.execPath, [PROGRAM, dir], {
    encoding: "utf8",
    env: crashAt === undefined ? env : { ...env, PRLOOM_CRASH_AT: crashAt },
  });
}

/** By point, when the process is killed: in the hooks of events, of routing, of the plan's text. */
const POINTS: Readonly<Record<string, readonly number[]>> = {
  "hook:attempted": [1, 6, 17, 20],
  "hook:called": [5, 16, 19],
  "hook:pending": [1, 4],
  "hook:settled": [3, 5, 11, 16, 19, 20],
  "state:file-written": [1, 5, 8],
};

for (const [point, times] of someOf(Object.entries(POINTS), 2)) {
  for (const time of oneOf(times)) {
    it(`does everything once that hooks did, through kills at ${point}, the ${time}th time and then at once`, () =>
      inTemporary((dir) => {
        const killed = run(dir, `${point}:${time}`);
        assert.equal(killed.signal, "SIGKILL", killed.stderr);
        run(dir, `${point}:1`);
        const last = run(dir);
        assert.equal(last.status, 0, last.stderr);
        assert.match(last.stdout, /done\n$/);
        checkWorld(dir);
      }));
  }
}

function checkWorld(dir: string): void {
  const world = openWorld(dir);
  for (const planId of world.stores.pendingPlans()) world.bus(planId);
  for (const planId of [undefined, "p1", "p2"]) assert.deepEqual(world.bus(planId).newEvents(9), []);
  for (const planId of ["p1", "p2"]) {
    assert.deepEqual(world.stores.read({ kind: "plan", planId, plugin: "counts" }), { n: 3 });
    const comments = world.actions(planId).filter(({ payload }) => payload.type === "comment");
    assert.deepEqual(
      comments.map(({ relatedEventId }) => relatedEventId),
      ["e1", "e2", "e3"],
    );
  }
  assert.deepEqual(world.stores.read({ kind: "global", plugin: "answers" }), { n: 9 });
  const notes = world.actions("p1").filter(({ payload }) => payload.type === "notification");
  assert.deepEqual([notes.length, new Set(notes.map(({ id }) => id)).size], [3, 3]);
  assert.equal(readFileSync(join(dir, "plan.md"), "utf8"), "plan\na t\nb t\n");
  assert.deepEqual(world.bus("p1").deadLetters(), []);
}
