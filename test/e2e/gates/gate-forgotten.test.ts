import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gateStates, showPlan, succeeds, untilIdle } from "../../testing/at-gate.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { ANNA, addScripted, issue } from "../../testing/scripted-tracker.ts";
import { thorough } from "../../testing/thorough.ts";
import type { ScriptedTracker } from "../../testing/tracker/scripted.ts";

interface World {
  readonly project: Project;
  readonly tracker: ScriptedTracker;
  posts(): number;
}

/** A plan at its gate in a tracker that finds no post again. */
async function forgotten(): Promise<World> {
  const project = makeProject({ config: { gates: { plan: true, advisory: true } } });
  const tracker = addScripted(project);
  project.plan("shop", ["make one"], issue("1"));
  await untilIdle(project);
  tracker.forget();
  const posts = (): number => tracker.shown("1").filter(({ body }) => body.startsWith("**The plan waits")).length;
  return { project, tracker, posts };
}

/** Anna approves what is shown there, again and again. */
async function approvals({ project, tracker }: World, times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) {
    const gate = (await showPlan(project)).gates.at(-1);
    tracker.write("1", ANNA, `/approve ${gate?.gateId}`);
    await untilIdle(project);
  }
}

describe("a plan in a tracker that forgets what was posted", { concurrency: 2 }, () => {
  it("is shown a few times and then blocked; the command that this names approves it", thorough, async () => {
    const world = await forgotten();
    const { project, tracker, posts } = world;
    await approvals(world, 5);
    assert.deepEqual(await gateStates(project), ["revised", "revised", "revised", "open"]);
    assert.equal(posts(), 4);
    const { blocked } = project.record("shop");
    assert.match(
      blocked?.reason ?? "",
      /^What is posted for it \(scripted\) does not stay .*: the post of gate \w+ is gone\.$/,
    );
    assert.match(
      blocked?.hint ?? "",
      /`prloom approve shop` answers it from here; `prloom unblock shop` posts it once more/,
    );
    assert.match(tracker.shown("1").at(-1)?.body ?? "", /is gone\. `prloom approve shop` answers it\./);
    assert.match(await succeeds(project, "gates"), /shop +\w+ +plan/);
    // With a dispatcher the tracker would be asked.
    const daemon = await startDaemon(project);
    await succeeds(project, "approve", "shop");
    await daemon.said("shop", /review/);
    await daemon.end();
    assert.equal(project.record("shop").blocked, undefined);
    assert.deepEqual((await gateStates(project)).at(-1), "approved");
    project.remove();
  });

  it("stays blocked for what else a person has against it", thorough, async () => {
    const world = await forgotten();
    const { project } = world;
    await approvals(world, 3);
    await succeeds(project, "block", "shop", "wait for the lawyers");
    await approvals(world, 1);
    await succeeds(project, "approve", "shop");
    assert.deepEqual((await gateStates(project)).at(-1), "approved");
    assert.equal(project.record("shop").blocked?.reason, "wait for the lawyers");
    await succeeds(project, "unblock", "shop");
    await succeeds(project, "block", "shop", "the tests fail");
    await succeeds(project, "withdraw", "shop");
    assert.equal(project.record("shop").blocked?.reason, "the tests fail");
    project.remove();
  });

  it("goes on when plans need not be approved any more", thorough, async () => {
    const world = await forgotten();
    const { project } = world;
    await approvals(world, 4);
    assert.equal(project.record("shop").blocked?.cause, "gate");
    project.config({ gates: { plan: false } });
    await untilIdle(project);
    assert.equal(project.record("shop").blocked, undefined);
    assert.equal(project.record("shop").status, "review");
    project.remove();
  });

  it("is posted once more when it is unblocked, and no more", thorough, async () => {
    const world = await forgotten();
    const { project, posts } = world;
    await approvals(world, 4);
    for (const expected of [5, 6]) {
      await succeeds(project, "unblock", "shop");
      await untilIdle(project);
      assert.equal(project.record("shop").blocked, undefined);
      await approvals(world, 2);
      assert.equal(posts(), expected);
      assert.notEqual(project.record("shop").blocked, undefined);
    }
    await succeeds(project, "revise", "shop", "Smaller.");
    assert.equal(project.record("shop").blocked, undefined);
    project.remove();
  });

  it("that was changed meanwhile is not approved, and says what shows it again", thorough, async () => {
    const world = await forgotten();
    const { project } = world;
    const file = join(project.home, "plan.md");
    const edit = async (): Promise<void> => {
      writeFileSync(file, `${project.planText("shop")}\n## Notes\n\nMore.\n`);
      await succeeds(project, "edit", "shop", "--file", file);
    };
    const showsIt = async (command: string): Promise<void> => {
      const { code, stderr } = await project.cli(["approve", "shop"]);
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`it changed after gate \\w+, and \`prloom ${command} shop\` shows it again`));
      await succeeds(project, command, "shop");
    };
    await edit();
    await succeeds(project, "hide", "shop");
    await showsIt("unhide");
    await succeeds(project, "pause", "shop");
    await showsIt("resume");
    await untilIdle(project);
    await approvals(world, 4);
    await edit();
    await showsIt("unblock");
    await untilIdle(project);
    await succeeds(project, "approve", "shop");
    project.remove();
  });

  it("says to a person at the command line what to type, until that counts", thorough, async () => {
    const { project } = await forgotten();
    const daemon = await startDaemon(project);
    const told: string[] = [];
    for (let code: number | null = 1; code !== 0; ) {
      const gate = (await showPlan(project)).gates.at(-1);
      const answered = await project.cli(["approve", "shop", "--gate", gate?.gateId ?? ""]);
      code = answered.code;
      if (/is gone/.test(answered.stderr)) told.push(answered.stderr);
    }
    assert.equal(told.length, 4, told.join("\n"));
    assert.match(told[3] ?? "", /`prloom show shop` has the plan; answer that, and it counts\./);
    await daemon.said("shop", /review/);
    await daemon.end();
    project.remove();
  });
});
