import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import type { LiveRun } from "../../../src/agents/port.ts";
import { Occupancy, type OccupantKind } from "../../../src/dispatcher/runs/occupancy.ts";
import { identityOf, type ProcessIdentity } from "../../../src/kernel/system/process-tree.ts";

/** A process that sleeps until it is killed. */
async function sleeper(): Promise<{ identity: ProcessIdentity; kill(): Promise<void> }> {
  const child = spawn("sleep", ["600"]);
  await once(child, "spawn");
  const identity = identityOf(child.pid ?? 0);
  assert.ok(identity);
  return {
    identity,
    async kill() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

function occupancy(options: { opened?: () => ProcessIdentity | undefined; stepsOver?: () => Promise<void> } = {}) {
  return new Occupancy({
    openedBy: (planId) => (planId === "p" ? options.opened?.() : undefined),
    stepsOver: async () => options.stepsOver?.(),
  });
}

/** A run that ends when it is stopped. */
function runOf(): LiveRun & { readonly stops: number } {
  const over = Promise.withResolvers<"interrupted">();
  const run = {
    runDir: "/nowhere",
    ended: over.promise,
    stops: 0,
    async stop() {
      run.stops += 1;
      over.resolve("interrupted");
    },
  };
  return run;
}

const never = new AbortController().signal;

const KINDS: readonly [OccupantKind, { free: boolean; atWork: boolean }][] = [
  ["step", { free: false, atWork: true }],
  ["agent", { free: false, atWork: true }],
  ["command", { free: false, atWork: true }],
  ["plugin-call", { free: true, atWork: true }],
  ["plugin-agent", { free: false, atWork: true }],
  ["gate", { free: false, atWork: true }],
  ["merge", { free: false, atWork: true }],
  ["person", { free: false, atWork: false }],
];

for (const [kind, expected] of KINDS) {
  test(`${kind}: ${expected.free ? "the tree stays free" : "the tree is taken"}`, () => {
    let opened: ProcessIdentity | undefined;
    const worktrees = occupancy({ opened: () => opened });
    let leave = (): void => undefined;
    if (kind === "person") opened = identityOf(process.pid);
    else leave = worktrees.enter("p", kind);
    assert.deepEqual([...worktrees.whoIsIn("p")], [kind]);
    assert.deepEqual({ free: worktrees.isFree("p"), atWork: worktrees.isAtWork("p") }, expected);
    assert.equal(worktrees.isFree("other"), true, "each plan has its own");
    leave();
    opened = undefined;
    assert.deepEqual([...worktrees.whoIsIn("p")], []);
    assert.equal(worktrees.isFree("p") && !worktrees.isAtWork("p"), true);
  });
}

test("two of a kind leave one by one, and leaving twice lets no other out", () => {
  const worktrees = occupancy();
  const first = worktrees.enter("p", "plugin-agent");
  const second = worktrees.enter("p", "plugin-agent");
  first();
  first();
  assert.deepEqual([...worktrees.whoIsIn("p")], ["plugin-agent"]);
  second();
  assert.equal(worktrees.isFree("p"), true);
});

test("of two that wait for a free tree one comes in, and the other after it", async () => {
  const worktrees = occupancy();
  const leave = worktrees.enter("p", "step");
  const order: string[] = [];
  const comesIn = async (name: string): Promise<() => void> => {
    const out = await worktrees.enterWhenFree("p", "plugin-agent", never);
    order.push(name);
    return out;
  };
  const waiting = [comesIn("a"), comesIn("b")];
  leave();
  const first = await Promise.race(waiting);
  // Whatever is ready by now has had its turn.
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(order, ["a"]);
  first();
  await Promise.all(waiting);
  assert.deepEqual(order, ["a", "b"]);
});

test("what waits for a free tree can be called off, before and after it began to wait", async () => {
  const worktrees = occupancy();
  worktrees.enter("p", "agent");
  const stop = new AbortController();
  const waits = worktrees.enterWhenFree("p", "plugin-agent", stop.signal);
  stop.abort();
  await assert.rejects(waits, { name: "AbortError" });
  await assert.rejects(worktrees.enterWhenFree("p", "plugin-agent", stop.signal), { name: "AbortError" });
  assert.deepEqual([...worktrees.whoIsIn("p")], ["agent"]);
});

test("a person is in there as long as the process lives that is on record", async () => {
  const shell = await sleeper();
  let opened: ProcessIdentity | undefined = shell.identity;
  const worktrees = occupancy({ opened: () => opened });
  assert.equal(worktrees.personIn("p")?.pid, shell.identity.pid);
  const waits = worktrees.enterWhenFree("p", "plugin-agent", never);
  await shell.kill();
  assert.equal(worktrees.personIn("p"), undefined);
  opened = undefined;
  worktrees.personLeft("p");
  await waits;
  assert.deepEqual([...worktrees.whoIsIn("p")], ["plugin-agent"]);
});

test("quiesce ends runs and calls of this plan alone, and waits for its step", async () => {
  const told: string[] = [];
  const worktrees = occupancy({ stepsOver: async () => void told.push("steps over") });
  const [agent, check, others] = [runOf(), runOf(), runOf()];
  worktrees.enter("p", "agent", { run: agent });
  worktrees.enter("p", "command", { run: check });
  worktrees.enter("p", "plugin-call", { stop: () => told.push("call ended") });
  worktrees.enter("q", "agent", { run: others });
  assert.deepEqual(worktrees.runsIn("p"), [agent, check]);
  assert.equal(worktrees.agentIn("p"), agent);
  await worktrees.quiesce("p");
  assert.deepEqual([agent.stops, check.stops, others.stops], [1, 1, 0]);
  assert.deepEqual(told, ["call ended", "steps over"]);
  await worktrees.stopAll();
  assert.equal(others.stops, 1);
});

test("evict also ends the agent that a step was about to start, and waits until it has left", async () => {
  const late = runOf();
  let isStarted = false;
  const worktrees = occupancy({
    async stepsOver() {
      if (isStarted) return;
      isStarted = true;
      const leave = worktrees.enter("p", "agent", { run: late });
      void late.ended.then(() => setImmediate(leave));
    },
  });
  assert.equal(await worktrees.evict("p", 60_000), true);
  assert.equal(late.stops > 0, true);
  assert.equal(worktrees.hasAgents(), false);
});

test("evict gives up on a plugin's agent that has nothing yet to be ended", async () => {
  const worktrees = occupancy();
  worktrees.enter("p", "plugin-agent");
  assert.equal(await worktrees.evict("p", 1), false);
});
