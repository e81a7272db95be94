import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { until } from "../../testing/agents/agent-scripts.ts";
import { showPlan, succeeds, untilIdle } from "../../testing/at-gate.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { makeProject, type Project, type ProjectOptions, TEST_AGENT } from "../../testing/project.ts";
import { thorough } from "../../testing/thorough.ts";

/** A designer that writes when it is told to: first a thought, then TODOs. Others do what test agents do. */
const DESIGNER = `#!/bin/sh
if [ "$PRLOOM_STAGE" != designer ]; then exec "$1" "$2"; fi
until_there() { while [ ! -e "$GATE/$1" ]; do sleep 0.05; done; }
until_there think
printf '\\nA thought.\\n' >> "$PRLOOM_PLAN_FILE"
until_there plan
printf '\\n## TODO\\n\\n- [ ] make one\\n' >> "$PRLOOM_PLAN_FILE"
`;

interface Designing {
  readonly project: Project;
  /** Lets the designer go on. */
  tell(word: "think" | "plan"): void;
}

function designing(options: ProjectOptions = {}): Designing {
  const project = makeProject(options);
  const gate = join(project.home, "gate");
  mkdirSync(gate);
  const script = join(project.home, "designer.sh");
  writeFileSync(script, DESIGNER, { mode: 0o755 });
  const { test: agent } = project.config().agents as { test: object };
  const args = [script, process.execPath, TEST_AGENT];
  project.config({ agents: { test: { ...agent, args, env: { GATE: gate } } } });
  return { project, tell: (word) => writeFileSync(join(gate, word), "") };
}

interface PhaseEvent {
  readonly type: string;
  readonly context: { readonly planId: string; readonly oldPhase?: string; readonly newPhase: string };
}

function told(project: Project, id = "shop"): string[] {
  const lines = readFileSync(join(project.authority, "bus", "events.jsonl"), "utf8").split("\n");
  const events = lines.filter((line) => line !== "").map((line) => (JSON.parse(line) as { data: PhaseEvent }).data);
  return events
    .filter(({ type, context }) => type === "plan_phase_changed" && context.planId === id)
    .map(({ context }) => context.newPhase);
}

describe("the phases of a plan", { concurrency: 2 }, () => {
  it("are told one by one, and planning begins when the designer first changes its copy", async () => {
    const { project, tell } = designing({ config: { gates: { plan: true, advisory: true } } });
    project.plan("shop", []);
    const dispatcher = await startDaemon(project);
    await dispatcher.said("shop", /designer started/);
    assert.equal((await showPlan(project)).phase, "investigating");
    tell("think");
    await until(join(project.authority, "bus"), () => told(project).includes("planning"));
    assert.equal((await project.status()).plans[0]?.phase, "planning");
    tell("plan");
    await dispatcher.said("shop", /waits for your answer/);
    assert.equal((await showPlan(project)).phase, "plan_gate");
    await succeeds(project, "revise", "shop", "Another way.");
    await until(join(project.authority, "bus"), () => told(project).filter((one) => one === "plan_gate").length === 2);
    await succeeds(project, "approve", "shop");
    await dispatcher.said("shop", /worker started/);
    await dispatcher.end();
    assert.deepEqual(told(project), [
      ...["investigating", "planning", "planning_complete", "plan_gate"],
      ...["planning", "planning_complete", "plan_gate", "implementing"],
    ]);
    project.remove();
  });

  it("are those of its own work, whatever lies in the repository", thorough, async () => {
    const { project, tell } = designing();
    for (const name of ["investigations/shop.md", "plans/shop.plan.md", "reports/shop.md"]) {
      const path = join(project.root, ".claude", "PRPs", name);
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, "## TODO\n\n- [ ] an old one\n");
    }
    writeFileSync(join(project.root, "plan.md"), "## TODO\n\n- [ ] an old one\n");
    project.git("add", "-A");
    project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "Old plans");
    project.plan("shop", []);
    project.plan("made", ["make two"]);
    const dispatcher = await startDaemon(project);
    await dispatcher.said("shop", /designer started/);
    assert.deepEqual(told(project), ["investigating"]);
    tell("think");
    tell("plan");
    await dispatcher.said("shop", /worker started/);
    await dispatcher.end();
    assert.deepEqual(told(project), ["investigating", "planning", "planning_complete", "implementing"]);
    assert.deepEqual(told(project, "made"), ["planning_complete", "implementing"]);
    project.remove();
  });

  it("are told once, however often the dispatcher is killed", thorough, async () => {
    const project = makeProject({ config: { gates: { plan: true, advisory: true } } });
    project.plan("shop", []);
    for (const passage of ["", ":2", ":2"]) {
      const { signal } = await project.work({ PRLOOM_CRASH_AT: `phase:told${passage}` });
      assert.equal(signal, "SIGKILL");
    }
    await untilIdle(project);
    assert.deepEqual(told(project), ["investigating", "planning", "planning_complete", "plan_gate"]);
    await untilIdle(project);
    assert.equal(told(project).length, 4);
    project.remove();
  });
});
