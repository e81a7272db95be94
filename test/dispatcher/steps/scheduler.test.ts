import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import {
  addInboxPlans,
  inFolder,
  makeProject,
  type Project,
  type ProjectOptions,
} from "../../../bench/harness/project.ts";
import type { Progress } from "../../../src/dispatcher/capabilities.ts";
import type { OwnedLoom } from "../../../src/dispatcher/compose.ts";
import { takeWholeInbox } from "../../../src/dispatcher/intake/intake.ts";
import { inboxOf } from "../../../src/dispatcher/paths.ts";
import { updateRecord } from "../../../src/dispatcher/records.ts";
import { Scheduler, type SchedulerHooks } from "../../../src/dispatcher/steps/scheduler.ts";
import { withLoom } from "../buses/owned-loom.ts";

interface Scheduled {
  readonly project: Project;
  readonly loom: OwnedLoom;
  readonly scheduler: Scheduler;
  /** Plans in the order in which they were looked at. */
  readonly looks: string[];
  /** Plans in the order in which a step of them ended. */
  readonly steps: string[];
  readonly told: Progress[];
}

interface Setting extends ProjectOptions {
  readonly drafts?: readonly string[];
  readonly queued?: readonly string[];
  readonly hooks?: Partial<SchedulerHooks>;
}

/** A scheduler over a real repository whose inbox was taken; nothing was looked at yet. */
function scheduled(setting: Setting, use: (scheduled: Scheduled) => Promise<void>): Promise<void> {
  return inFolder(async (dir) => {
    const project = makeProject(dir, setting);
    addInboxPlans(project, setting.drafts ?? [], {});
    addInboxPlans(project, setting.queued ?? [], { status: "queued" });
    const [looks, steps, told]: [string[], string[], Progress[]] = [[], [], []];
    await withLoom(
      project.root,
      async (loom) => {
        takeWholeInbox(loom, loom.inbox.scan());
        const scheduler = new Scheduler(loom, {
          onLook: ({ id }) => looks.push(id) > 0,
          onStep: (id) => void steps.push(id),
          onQuiet: () => undefined,
          stillOwner: () => true,
          ...setting.hooks,
        });
        try {
          await use({ project, loom, scheduler, looks, steps, told });
        } finally {
          scheduler.stop();
        }
      },
      (progress) => told.push(progress),
    );
  });
}

/** As if it were worked on; it is not to be looked at. */
function makeActive(loom: OwnedLoom, id: string): void {
  updateRecord(loom, id, () => ({ status: "active", inInbox: false }));
}

test("wake-ups of one moment are one look, and one during a look is one more", () => {
  let wakeMore = (): void => undefined;
  const looks: string[] = [];
  const onLook: SchedulerHooks["onLook"] = ({ id }) => {
    looks.push(id);
    wakeMore();
    return true;
  };
  return scheduled({ drafts: ["a"], hooks: { onLook } }, async ({ scheduler }) => {
    for (let wake = 0; wake < 5; wake += 1) scheduler.wake("a");
    await scheduler.settled();
    assert.deepEqual(looks, ["a"]);
    wakeMore = () => {
      wakeMore = () => undefined;
      for (let wake = 0; wake < 5; wake += 1) scheduler.wake("a");
    };
    scheduler.wake("a");
    await scheduler.settled();
    assert.deepEqual(looks, ["a", "a", "a"]);
  });
});

test("a plan that has nothing to do comes to rest, is said to, and tells why", () => {
  const quiet = Promise.withResolvers<void>();
  const hooks = { onQuiet: () => quiet.resolve() };
  return scheduled({ drafts: ["a"], hooks }, async ({ scheduler, steps }) => {
    scheduler.wake("a");
    assert.equal(scheduler.idle(Infinity), false);
    await quiet.promise;
    assert.equal(scheduler.idle(Infinity), true);
    assert.match(scheduler.reasons().get("a") ?? "", /a draft/);
    assert.deepEqual(scheduler.waits(), {}, "a file tells that it is a draft");
    assert.deepEqual(steps, []);
  });
});

test("what has to happen first keeps a plan from being decided about", () =>
  scheduled({ queued: ["a"], hooks: { onLook: () => false } }, async ({ scheduler, loom, steps }) => {
    scheduler.wake("a");
    await scheduler.settled();
    assert.deepEqual(steps, []);
    assert.equal(loom.store.byId("a")?.status, "queued");
  }));

test("who owns the repository no longer makes no step", () =>
  scheduled({ queued: ["a"], hooks: { stillOwner: () => false } }, async ({ scheduler, loom, steps }) => {
    scheduler.wake("a");
    await scheduler.settled();
    assert.deepEqual(steps, []);
    assert.equal(loom.store.byId("a")?.branch, undefined);
  }));

test("an unknown plan is not worked on, and after the stop no plan is", () =>
  scheduled({ drafts: ["a"] }, async ({ scheduler, loom, looks }) => {
    scheduler.wake("nowhere");
    await scheduler.settled();
    loom.beginStop();
    scheduler.wake("a");
    await scheduler.settled();
    assert.deepEqual(looks, []);
  }));

test("a step that cannot succeed blocks its plan at once, with what to type; the others go on", () =>
  scheduled({ drafts: ["b"], queued: ["a"] }, async ({ project, scheduler, loom, steps, told }) => {
    execFileSync("git", ["branch", "prloom/a"], { cwd: project.root, env: project.env });
    scheduler.wake("a");
    scheduler.wake("b");
    await scheduler.settled();
    assert.deepEqual(steps, ["a"]);
    const { blocked } = loom.store.byId("a") ?? {};
    assert.equal(blocked?.cause, "step");
    assert.match(blocked?.hint ?? "", /prloom unblock a/);
    assert.ok(told.some(({ planId, level }) => planId === "a" && level === "bad"));
    assert.match(scheduler.reasons().get("b") ?? "", /a draft/);
    assert.equal(loom.occupancy.isAtWork("a"), false, "the step has left the worktree");
  }));

test("a step that may succeed later is tried again at its time, and says so meanwhile", () =>
  scheduled({ queued: ["a"] }, async ({ project, scheduler, loom, steps }) => {
    writeFileSync(project.paths.worktrees, "a file where a folder is to be");
    scheduler.wake("a");
    await scheduler.settled();
    assert.deepEqual(steps, ["a"]);
    assert.equal(loom.store.byId("a")?.blocked, undefined);
    assert.match(scheduler.waits().a ?? "", /trying again: E/);
    assert.equal(scheduler.idle(loom.clock.now()), true, "nothing is due yet");
    assert.equal(scheduler.idle(Infinity), false, "but it will be");
  }));

test("what the system refuses the user is told as that, and not as a fault of prloom", () => {
  const denied = Object.assign(new Error("EACCES: permission denied, mkdir"), { code: "EACCES", path: "/disk/trees" });
  const onLook = (): boolean => {
    throw denied;
  };
  return scheduled({ drafts: ["a"], hooks: { onLook } }, async ({ scheduler, told }) => {
    scheduler.wake("a");
    await scheduler.settled();
    assert.match(told.map(({ text }) => text).join("\n"), /prloom cannot use \/disk\/trees: permission denied/);
  });
});

test("places go to who waits longest, when they become free", () =>
  scheduled({ queued: ["a", "b", "c"], limits: { maxOpenPlans: 1 } }, async (world) => {
    const { project, scheduler, loom, looks, steps } = world;
    // Their activation ends at once: the branches are not prloom's.
    for (const id of ["b", "c"])
      execFileSync("git", ["branch", `prloom/${id}`], { cwd: project.root, env: project.env });
    makeActive(loom, "a");
    for (const id of ["c", "b"]) {
      scheduler.wake(id);
      await scheduler.planSettled(id);
    }
    assert.deepEqual(Object.keys(scheduler.waits()).sort(), ["b", "c"]);
    assert.deepEqual(steps, []);
    looks.length = 0;
    scheduler.placesChanged();
    await scheduler.settled();
    assert.deepEqual([looks, steps], [["c", "b"], []], "both have asked in their turn, and none is free");
    updateRecord(loom, "a", () => ({ paused: true }));
    scheduler.placesChanged();
    await scheduler.settled();
    assert.deepEqual(steps, ["c", "b"], "the second as soon as the first has given its place up");
  }));

test("a place that a step gives up makes plans look until it is taken, and not all that wait", () => {
  const queued = Array.from({ length: 30 }, (_, at) => `p${at}`);
  const taken = Promise.withResolvers<void>();
  const hooks = { onStep: (id: string) => (id === "p2" ? taken.resolve() : undefined) };
  return scheduled({ queued, limits: { maxOpenPlans: 1 }, hooks }, async ({ project, scheduler, loom, looks }) => {
    makeActive(loom, "p29");
    for (const id of queued.slice(1, -1)) scheduler.wake(id);
    await scheduler.settled();
    updateRecord(loom, "p29", () => ({ status: "review" }));
    updateRecord(loom, "p1", () => ({ paused: true }));
    looks.length = 0;
    // Its activation ends with a block: the branch is not prloom's.
    execFileSync("git", ["branch", "prloom/p0"], { cwd: project.root, env: project.env });
    scheduler.wake("p0");
    await taken.promise;
    loom.beginStop();
    await scheduler.settled();
    assert.deepEqual([...new Set(looks)], ["p0", "p1", "p2"], "p1 is paused and leaves the place to p2");
  });
});

test("a place that a run did not take after all is offered to the next plan", () =>
  scheduled({ queued: ["a", "b"], limits: { maxRunningAgents: 1 } }, async ({ project, scheduler, loom }) => {
    for (const id of ["a", "b"])
      writeFileSync(inboxOf(project.paths, id).text, "# Title\n\n## TODO\n\n- [ ] One\n  by: none-such\n");
    const runEnded = (id: string): void => scheduler.runEnded(id);
    const nothing = { wake: () => undefined, wakeBus: () => undefined, poll: async () => [] };
    loom.listen({ ...nothing, runEnded, settled: async () => undefined });
    const over = loom.pool.started("another");
    for (const id of ["a", "b"]) scheduler.wake(id);
    await scheduler.settled();
    assert.match(Object.values(scheduler.waits()).join(), /waits for an agent.*waits for an agent/);
    over();
    scheduler.runEnded("another");
    await scheduler.settled();
    assert.deepEqual(
      ["a", "b"].map((id) => loom.store.byId(id)?.blocked?.cause),
      ["step", "step"],
      "no run of the first could start, and the second had its turn",
    );
    assert.deepEqual(scheduler.waits(), {});
  }));
