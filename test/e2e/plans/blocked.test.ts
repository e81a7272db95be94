import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { succeeds, untilIdle } from "../../testing/at-gate.ts";
import { makeProject, type Project } from "../../testing/project.ts";

interface Told {
  readonly type: string;
  readonly severity: string;
  readonly context: { readonly planId: string; readonly reason: string; readonly hint?: string };
}

function told(project: Project): Told[] {
  const lines = readFileSync(join(project.authority, "bus", "events.jsonl"), "utf8").split("\n");
  const events = lines.filter((line) => line !== "").map((line) => (JSON.parse(line) as { data: Told }).data);
  return events.filter(({ type }) => type === "plan_blocked");
}

test("a plan that is blocked is an event with the reason, once each time, also over a kill", async () => {
  const project = makeProject();
  project.plan("shop", ["[say-blocked] make one"]);
  const { signal } = await project.work({ PRLOOM_CRASH_AT: "blocked:told" });
  assert.equal(signal, "SIGKILL");
  await untilIdle(project);
  await untilIdle(project);
  const [first, ...others] = told(project);
  const { blocked } = project.record("shop");
  assert.deepEqual(others, []);
  assert.equal(first?.severity, "warning");
  assert.deepEqual([first?.context.planId, first?.context.reason], ["shop", blocked?.reason]);
  await succeeds(project, "unblock", "shop");
  await succeeds(project, "block", "shop", "looks wrong");
  await untilIdle(project);
  assert.deepEqual(
    told(project).map(({ context }) => context.reason),
    [blocked?.reason, "looks wrong"],
  );
  project.remove();
});
