import assert from "node:assert/strict";
import { it } from "node:test";
import { actionsOf } from "../../../src/github/bridge/actions.ts";

it("a run without jobs is a check: its workflow could not be read, or it waits", async () => {
  const run = { workflow_id: 1, event: "push", name: "CI" };
  const answers: Record<string, unknown> = {
    "/actions/runs": {
      workflow_runs: [
        { ...run, id: 7, status: "completed", conclusion: "startup_failure" },
        { ...run, id: 8, workflow_id: 2, name: null, status: "queued", conclusion: null },
      ],
    },
    "/commits/abc/status": { statuses: [] },
  };
  const get = async (path: string) => ({ kind: "ok", data: answers[path] ?? { jobs: [] }, headers: {} });
  const checks = await actionsOf({ get } as unknown as Parameters<typeof actionsOf>[0], "abc");
  assert.deepEqual(
    checks.map(({ name, state, job }) => [name, state, job]),
    [
      ["CI", "red", undefined],
      ["workflow", "pending", undefined],
    ],
  );
});

it("what a run that was replaced left red in the summary hides no check", async () => {
  const run = { workflow_id: 1, event: "push", name: "CI", status: "completed", run_attempt: 1 };
  const found = (...workflow_runs: unknown[]) =>
    actionsOf(
      {
        get: async (path: string) => ({
          ...{ kind: "ok", headers: {} },
          data: path === "/actions/runs" ? { workflow_runs } : { jobs: [], statuses: [] },
        }),
      } as unknown as Parameters<typeof actionsOf>[0],
      "abc",
      "red",
    );
  const passed = { ...run, id: 8, conclusion: "success" };
  const names = async (...runs: unknown[]): Promise<string[]> => (await found(...runs)).map(({ name }) => name);
  assert.deepEqual(await names(passed), ["CI", "one that the token may not see"]);
  assert.deepEqual(await names(passed, { ...run, id: 7, conclusion: "cancelled" }), ["CI"]);
  assert.deepEqual(await names({ ...passed, run_attempt: 2 }), ["CI"]);
});
