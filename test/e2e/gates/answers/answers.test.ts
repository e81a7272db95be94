import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { callDaemon, type DaemonInfo } from "../../../../src/dispatcher/commands/control.ts";
import { PrloomError } from "../../../../src/kernel/errors.ts";
import { ownUser } from "../../../../src/kernel/system/user.ts";
import { gateStates, showPlan, succeeds, untilIdle, waitingAtGate } from "../../../testing/at-gate.ts";
import { startDaemon } from "../../../testing/daemon.ts";
import { thorough } from "../../../testing/thorough.ts";

describe("an answer at a command line", { concurrency: 2 }, () => {
  it("is the machine's user's, whatever git calls that user and the approvers are called", async () => {
    const project = await waitingAtGate(["make one"], { gates: { approvers: ["clara"] } });
    project.git("config", "user.name", "clara");
    const { by } = JSON.parse(await succeeds(project, "approve", "shop", "--json")) as { by: string };
    const [gate] = (await showPlan(project)).gates;
    assert.deepEqual([by, gate?.decidedBy, gate?.via], [ownUser().name, ownUser().name, "cli"]);
    project.remove();
  });

  it("is explained as it would be heard at the gates of a plan", thorough, async () => {
    const project = await waitingAtGate();
    const explained = async () =>
      JSON.parse(await succeeds(project, "explain", "answer", "lgtm", "--plan", "shop", "--json")) as object;
    assert.partialDeepStrictEqual(await explained(), { answer: "approve" });
    await succeeds(project, "revise", "shop", "smaller");
    await untilIdle(project);
    assert.partialDeepStrictEqual(await explained(), { answer: "none", why: "the plan was shown more than once here" });
    project.remove();
  });

  it("that revises is not told as heard when the designer did nothing", thorough, async () => {
    const project = await waitingAtGate();
    project.config({
      agents: { test: { command: "sh", args: ["nowhere.sh"] } },
      gates: { plan: true, advisory: true },
    });
    await succeeds(project, "revise", "shop", "Name the newsletter.");
    await untilIdle(project);
    const { reason } = project.record("shop").blocked ?? assert.fail("it is not blocked");
    assert.match(reason, /^The designer gave no usable result in 3 attempts\. The designer left the plan as it was\./);
    const { gates, thread } = await showPlan(project);
    assert.deepEqual(
      gates.map(({ state }) => state),
      ["revised"],
    );
    assert.ok(!thread.some(({ body }) => body.startsWith("This went into the design")));
    project.remove();
  });

  it("that rejects says why, with the words after the plan or with --reason", async () => {
    const project = await waitingAtGate();
    for (const more of [[], ["--sign"], ["--reason", " "]]) {
      const { code, stderr } = await project.cli(["reject", "shop", ...more]);
      assert.equal(code, 2);
      assert.match(stderr, /Why is it rejected\?[\s\S]*prloom reject shop "why"/);
    }
    await succeeds(project, "reject", "shop", "Too", "much.");
    assert.match(project.record("shop").blocked?.reason ?? "", /^Rejected by .*: Too much\.$/);
    project.remove();
  });

  it(
    "that approves a change without a dispatcher: merge names what marks it ready, and then it merges",
    thorough,
    async () => {
      const project = await waitingAtGate(["make one"], { gates: { plan: false, pr: true } });
      await succeeds(project, "approve", "shop");
      const { code, stderr } = await project.cli(["merge", "shop"]);
      assert.equal(code, 1);
      assert.match(stderr, /is approved, and not marked ready yet[\s\S]*`prloom start --until-idle` marks it ready/);
      await untilIdle(project);
      await succeeds(project, "merge", "shop");
      assert.equal(project.record("shop").outcome, "merged");
      project.remove();
    },
  );

  it("may be for several plans, each with its own result", thorough, async () => {
    const project = await waitingAtGate();
    project.plan("shed", ["make one"]);
    await untilIdle(project);
    const { code, stdout, stderr } = await project.cli(["approve", "shop", "nowhere", "shed", "--json"]);
    assert.equal(code, 1);
    assert.match(stderr, /nowhere: There is no plan/);
    const { answers } = JSON.parse(stdout) as { answers: { plan: string; state?: string; error?: { code: string } }[] };
    assert.deepEqual(
      answers.map(({ plan, state, error }) => [plan, state ?? error?.code]),
      [
        ["shop", "approved"],
        ["nowhere", "plan-not-found"],
        ["shed", "approved"],
      ],
    );
    project.remove();
  });
});

const ANSWERS = [
  { decision: "approve", body: "approved" },
  { decision: "reject", body: "/reject no" },
] as const;
const MANY = 25;

describe("many answers at the same moment, by two ways", () => {
  it("one decides, and each of the others is told", async () => {
    const project = await waitingAtGate(["[hold] make one"]);
    const daemon = await startDaemon(project);
    const info = JSON.parse(readFileSync(join(project.authority, "daemon.json"), "utf8")) as DaemonInfo;
    const plan = "shop";
    const calls = Array.from({ length: MANY }, (_, at) => {
      const { decision, body } = ANSWERS[at % 2] ?? ANSWERS[0];
      const answer = { plan, decision, words: "", author: "anna", by: `user${at}` };
      const comment = { plan, body, author: `person${at}` };
      return [
        callDaemon(info, { command: "answer", args: answer }),
        callDaemon(info, { command: "comment", args: comment }),
      ] as const;
    });
    const answered = await Promise.allSettled(calls.map(([answer]) => answer));
    await Promise.all(calls.map(([, comment]) => comment));
    // The thread hears after what was there before.
    let thread: readonly { readonly author: string; readonly body: string }[] = [];
    const told = (): number => thread.filter(({ body }) => body.startsWith("Nothing was decided")).length;
    const byThread = async (): Promise<boolean> => (await showPlan(project)).gates[0]?.via === "thread";
    do ({ thread } = await showPlan(project));
    while (told() < MANY - ((await byThread()) ? 1 : 0));
    const { gates } = await showPlan(project);
    assert.equal(gates.length, 1);
    assert.ok(["approved", "rejected"].includes(gates[0]?.state ?? ""));
    const won = answered.filter(({ status }) => status === "fulfilled").length;
    const isThreads = gates[0]?.via === "thread";
    assert.deepEqual([won, told()], isThreads ? [0, MANY - 1] : [1, MANY]);
    for (const one of answered)
      if (one.status === "rejected") {
        assert.ok(one.reason instanceof PrloomError);
        assert.match(one.reason.message, /^Nothing was decided about shop: gate \w+ is (approved|rejected) by/);
      }
    await daemon.end();
    assert.equal((await gateStates(project)).length, 1);
    project.remove();
  });
});
