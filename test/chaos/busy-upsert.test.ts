import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { planIdFor } from "../../src/plan/identity.ts";
import { appears, until } from "../testing/agents/agent-scripts.ts";
import { startDaemon } from "../testing/daemon.ts";
import { thorough } from "../testing/thorough.ts";
import { makeChaosWorld } from "./chaos-project.ts";
import { outsideProblems } from "./invariants/outside-invariants.ts";

const MAIN = planIdFor({ title: "Main", source: { system: "outside", kind: "item", id: "main" }, fallback: "plan" });
const CALM = { OUTSIDE_CALM: "1" };

test(
  "an upsert that waits for the end of a run is not forgotten when the dispatcher is killed meanwhile",
  thorough,
  async () => {
    const { project, outside } = makeChaosWorld({ stepMs: 5, seed: 1 });
    const put = (words: string): void =>
      outside.put({
        kind: "source",
        source: "main",
        status: "queued",
        text: `# Main\n\n${words}\n\n## TODO\n\n- [ ] [hold] make one\n`,
      });
    put("As it was.");
    const daemon = await startDaemon(project, CALM);
    await daemon.said(MAIN, /worker started/);
    await appears(join(project.worktree(MAIN), "half-0"));
    put("As it is now.");
    const poll = await project.cli(["poll"]);
    assert.equal(poll.code, 0, poll.stderr);
    const bus = join(project.authority, "bus");
    await until(bus, () => readFileSync(join(bus, "settled.jsonl"), "utf8").includes("is being worked on"));
    await daemon.end("SIGKILL");
    writeFileSync(join(project.authority, "plans", MAIN, "runs", "go"), "");
    const result = await project.work(CALM);
    assert.equal(result.code, 0, `${result.stderr}${result.stdout}`);
    assert.equal(project.record(MAIN).status, "review");
    assert.deepEqual(outsideProblems(project, outside), [], `the project is kept in ${project.root}`);
    project.remove();
  },
);
