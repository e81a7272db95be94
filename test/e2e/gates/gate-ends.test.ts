import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gateStates, killed, showPlan, succeeds, untilIdle, waitingAtGate } from "../../testing/at-gate.ts";
import { startDaemon } from "../../testing/daemon.ts";
import type { Project } from "../../testing/project.ts";
import { thorough } from "../../testing/thorough.ts";

/** What the global bus was told of gates, in order: their kind and state. */
function told(project: Project): string[] {
  const journal = readFileSync(join(project.authority, "bus", "events.jsonl"), "utf8");
  return journal
    .split("\n")
    .filter((line) => /"type":"gate_(opened|decided)"/.test(line))
    .map((line) => (JSON.parse(line) as { data: { context: { kind: string; state: string } } }).data.context)
    .map(({ kind, state }) => `${kind} ${state}`);
}

function switchTo(project: Project, gates: object): void {
  project.config({ gates: { advisory: true, ...gates } });
}

async function edit(project: Project, change: (text: string) => string): Promise<void> {
  const file = join(project.home, "edited.md");
  writeFileSync(file, change(project.planText("shop")));
  await succeeds(project, "edit", "shop", "--file", file);
}

describe("what becomes of a gate is told once", { concurrency: 2 }, () => {
  it("also if it is switched off, or its plan is deleted", thorough, async () => {
    const project = await waitingAtGate(["make one"], { gates: { pr: true } });
    switchTo(project, { pr: true });
    await killed(project, "gate:dropped", "start", "--until-idle");
    await untilIdle(project);
    assert.deepEqual(told(project), ["plan open", "plan revised", "pr open"]);
    await killed(project, "gate:told", "delete", "shop", "--yes");
    await untilIdle(project);
    assert.deepEqual(told(project), ["plan open", "plan revised", "pr open", "pr revised", "pr open"]);
    await succeeds(project, "delete", "shop", "--yes");
    assert.deepEqual(told(project).slice(5), ["pr revised"]);
    project.remove();
  });

  it(
    "also if the gate of a change makes room for that of its plan, and if a person merges past it",
    thorough,
    async () => {
      const project = await waitingAtGate(["make one"], { gates: { pr: true } });
      await succeeds(project, "approve", "shop");
      await untilIdle(project);
      await edit(project, (text) => text.replace("- [x] make one", "$&\n- [ ] make two"));
      await untilIdle(project);
      const before = ["plan open", "plan approved", "pr open", "pr revised", "plan open"];
      assert.deepEqual(told(project), before);
      await succeeds(project, "approve", "shop");
      await untilIdle(project);
      assert.deepEqual(told(project).slice(5), ["plan approved", "pr open"]);
      project.git(
        "-c",
        "user.name=P",
        "-c",
        "user.email=p@localhost",
        "merge",
        "--no-ff",
        "-qm",
        "by hand",
        "prloom/shop",
      );
      // What is in review is looked for in base; at its gate the plan is approved first.
      await succeeds(project, "approve", "shop");
      await untilIdle(project);
      assert.equal(project.record("shop").outcome, "merged");
      assert.deepEqual(told(project).slice(7), ["pr approved"]);
      project.remove();
    },
  );
});

interface Told {
  readonly status: string | undefined;
  readonly phase: string | undefined;
  readonly listed: number;
  readonly merge: string;
}

/** What three commands say of the plan. */
async function says(project: Project): Promise<Told> {
  const { plans } = JSON.parse(await succeeds(project, "status", "--json")) as {
    plans: { status: string; phase?: string }[];
  };
  const { gates } = JSON.parse(await succeeds(project, "gates", "--json")) as { gates: object[] };
  const { code, stderr } = await project.cli(["merge", "shop"]);
  const merge = code === 0 ? "merged" : (/waits for an answer|not in review/.exec(stderr)?.[0] ?? stderr);
  return { status: plans[0]?.status, phase: plans[0]?.phase, listed: gates.length, merge };
}

const FREE = { status: "review", phase: undefined, listed: 0, merge: "merged" };
const HELD = { status: "active", phase: "pr_gate", listed: 1, merge: "waits for an answer" };

/** A gate, whether it was approved before it was switched off and on again, and what is said of the plan then. */
const TABLE = [
  // What is implemented by then is not asked about any more.
  ["plan", false, FREE, ["revised"]],
  ["plan", true, FREE, ["approved"]],
  ["pr", false, HELD, ["revised", "open"]],
  ["pr", true, FREE, ["approved"]],
] as const;

describe("gates that are switched off and on again", { concurrency: 2 }, () => {
  for (const [kind, isApproved, expected, states] of TABLE)
    it(`${kind}, ${isApproved ? "approved" : "open"}: status, gates and merge say the same`, thorough, async () => {
      const project = await waitingAtGate(["make one"], { gates: { plan: false, [kind]: true } });
      if (isApproved) await succeeds(project, "approve", "shop");
      switchTo(project, {});
      await untilIdle(project);
      assert.equal((await showPlan(project)).phase, undefined);
      assert.deepEqual(JSON.parse(await succeeds(project, "gates", "--json")).gates, []);
      switchTo(project, { [kind]: true });
      await untilIdle(project);
      assert.deepEqual(await says(project), expected);
      assert.deepEqual(await gateStates(project), states);
      project.remove();
    });

  it("under a running dispatcher: a change that was open is shown again, and says why", thorough, async () => {
    const project = await waitingAtGate(["make one"], { gates: { plan: false, pr: true } });
    const daemon = await startDaemon(project);
    switchTo(project, {});
    await succeeds(project, "reload", "--yes");
    await daemon.said("shop", /does not wait for an answer any more: gates\.pr was switched off/);
    await daemon.said("shop", /review/);
    switchTo(project, { pr: true });
    await succeeds(project, "reload");
    await daemon.said("shop", /^waits for your answer/);
    assert.deepEqual(await says(project), HELD);
    assert.match(
      (await showPlan(project)).thread.at(-1)?.body ?? "",
      /It is shown again: gates\.pr was switched off\./,
    );
    await daemon.end();
    project.remove();
  });

  it("a withdrawal holds nothing while they are off, and says what does", thorough, async () => {
    const project = await waitingAtGate();
    await succeeds(project, "approve", "shop");
    switchTo(project, {});
    await untilIdle(project);
    const { code, stderr } = await project.cli(["withdraw", "shop"]);
    assert.equal(code, 1);
    assert.match(stderr, /gates\.plan is off, so nothing waits for an answer; `prloom pause shop` holds the plan/);
    switchTo(project, { plan: true });
    await untilIdle(project);
    await succeeds(project, "withdraw", "shop");
    switchTo(project, {});
    // Neither stopped again and again, nor kept from being merged by an approval that is not asked for.
    await untilIdle(project);
    assert.equal((await says(project)).merge, "merged");
    project.remove();
  });
});
