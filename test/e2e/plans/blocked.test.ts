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

test("a base branch that is not there is told once, with what to type, and found by doctor", async (t) => {
  const project = makeProject({ config: { baseBranch: "mian" } });
  t.after(() => project.remove());
  project.plan("shop", ["make one"]);
  const worked = await project.work();
  assert.equal([...worked.stdout.matchAll(/activate failed/g)].length, 1, worked.stdout);
  const { reason, hint } = project.record("shop").blocked ?? assert.fail("it is not blocked");
  assert.match(reason, /^The base branch mian does not exist\.$/);
  assert.match(hint ?? "", /Set `baseBranch` .*`prloom reload`\. Then `prloom unblock shop` tries again\./);
  const doctor = await project.cli(["doctor"]);
  assert.equal(doctor.code, 1);
  assert.match(doctor.stdout, /^✗ base branch: there is no branch mian\n {2}hint: Set `baseBranch`/m);
});
