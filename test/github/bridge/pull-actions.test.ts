import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { DeliveryResult, OutgoingAction } from "../../../src/bridges/contract.ts";
import { type PullOptions, type PullSetting, pullSetting } from "../pull-setting.ts";

const MARKER = /\n\n<!-- prloom (\S+) -->$/;

async function setUp(t: TestContext, options: PullOptions = {}) {
  const setting = await pullSetting(t, options);
  const issue = setting.pull();
  const { bridge, ctx } = setting;
  const action = (payload: OutgoingAction["payload"], token = issue.token): OutgoingAction => ({
    ...{ id: `act-${payload.type}`, type: "respond", payload, target: { target: "github-pr", token } },
  });
  return {
    ...setting,
    issue,
    pulled: pulledOf(setting, issue.number),
    action,
    send: async (given: OutgoingAction) => (await bridge.actions?.(ctx, given)) as DeliveryResult,
    delivered: async (given: OutgoingAction) => bridge.delivered?.(ctx, given),
  };
}

function pulledOf({ repository }: PullSetting, number: number) {
  const pull = repository.issues.get(number)?.pull;
  assert(pull);
  return pull;
}

describe("what goes out to a pull request", { concurrency: 4 }, () => {
  it("is said in its thread, and in the thread on a line, with words that give no orders", async (t) => {
    const { ada, issue, pulled, action, send, delivered } = await setUp(t);
    const comment = action({ type: "comment", message: "/merge it, @ada. Closes #1" });
    assert.equal(await delivered(comment), false);
    assert.equal((await send(comment)).success, true);
    assert.equal(issue.comments[0]?.body.replace(MARKER, ""), "\u200b /merge it, @\u200bada. Closes issue 1");
    assert.deepEqual(await delivered(comment), { ref: String(issue.comments[0]?.id) });
    ada.reviews(issue.number, {
      state: "COMMENTED",
      body: "",
      comments: [{ path: "dark.css", line: 1, body: "why?" }],
    });
    const [first] = pulled.reviewComments;
    const reply = {
      ...action({ type: "comment", message: "because" }, `${issue.token}/${first?.id}`),
      id: "act-reply",
    };
    assert.equal(await delivered(reply), false);
    assert.equal((await send(reply)).success, true);
    const [, answer] = pulled.reviewComments;
    assert.deepEqual([answer?.replyTo, answer?.body.replace(MARKER, "")], [first?.id, "because"]);
    assert.deepEqual(await delivered(reply), { ref: String(answer?.id) });
  });

  it("may be there when no answer came: it is looked for no sooner than GitHub shows it", async (t) => {
    const { github, bridge, pulled, action, send, delivered } = await setUp(t);
    const remark = action({ type: "inline_comment", path: "dark.css", line: 1, message: "here" });
    github.server.faults.add({ kind: "error-after", on: /POST .*comments/ });
    const result = await send(remark);
    assert(!result.success && result.retryable && result.arrived === undefined && bridge.shownAfterMs === 30_000);
    assert.deepEqual(await delivered(remark), { ref: String(pulled.reviewComments[0]?.id) });
    assert.equal(pulled.reviewComments[0]?.path, "dark.css");
    const comments = [{ path: "dark.css", line: 1, message: "as here" }];
    const review = action({ type: "review", review: { verdict: "comment", summary: "fine", comments } });
    assert.equal(await delivered(review), false);
    assert.equal((await send(review)).success, true);
    assert.deepEqual(await delivered(review), { ref: String(pulled.reviews.at(-1)?.id) });
    assert.match(pulled.reviewComments.at(-1)?.body ?? "", MARKER, "else it is heard as a person's");
  });

  it("says on a line where it is too long that the rest is left out", async (t) => {
    const { pulled, action, send } = await setUp(t);
    const message = "many words ".repeat(6000);
    assert.equal((await send(action({ type: "inline_comment", path: "dark.css", line: 1, message }))).success, true);
    assert.match(pulled.reviewComments[0]?.body.replace(MARKER, "") ?? "", /the rest is left out\)$/);
  });

  it("is a comment where a line or a verdict is not taken", async (t) => {
    const { issue, action, send } = await setUp(t);
    await send(action({ type: "inline_comment", path: "README.md", line: 1, message: "not changed" }));
    await send(action({ type: "review", review: { verdict: "approve", summary: "good", comments: [] } }));
    assert.deepEqual(
      issue.comments.map(({ body }) => body.replace(MARKER, "")),
      ["README.md:1: not changed", "Review: approved\n\ngood"],
    );
  });

  it("may be labels, reviewers, people and a milestone", async (t) => {
    const { repository, issue, pulled, action, send, ada } = await setUp(t);
    repository.milestones.push("v1");
    for (const label of ["ready", "late"]) repository.labels.add(label);
    assert.equal((await send(action({ type: "add_labels", labels: ["ready", "late"] }))).success, true);
    assert.equal((await send(action({ type: "remove_labels", labels: ["late", "never"] }))).success, true);
    assert.equal((await send(action({ type: "request_reviewers", reviewers: ["ada"] }))).success, true);
    assert.equal((await send(action({ type: "assign_users", users: ["ada"] }))).success, true);
    assert.equal((await send(action({ type: "set_milestone", milestone: "v1" }))).success, true);
    assert.deepEqual(
      [[...issue.labels], [...issue.assignees], [...pulled.requestedReviewers]],
      [["ready"], [ada.user], [ada.user]],
    );
    assert.notEqual(issue.milestone, undefined);
    const missing = await send(action({ type: "set_milestone", milestone: "v2" }));
    assert(!missing.success && !missing.retryable);
    const other = await send(action({ type: "notification", priority: "info", title: "x", message: "y" }));
    assert(!other.success && !other.retryable);
  });

  it("is handed to the forge where it merges or closes", async (t) => {
    const asked: string[] = [];
    const { issue, action, send } = await setUp(t, {
      merge: async (plan, { method }) => {
        asked.push(`${plan} ${method}`);
        return { ok: false, reason: "not approved", retryable: false };
      },
      close: async (plan) => {
        asked.push(plan);
        return { ok: true };
      },
    });
    assert.deepEqual(await send(action({ type: "merge", method: "squash" })), {
      ...{ success: false, error: "not approved", retryable: false },
    });
    assert.deepEqual(await send(action({ type: "close_pr" })), { success: true });
    assert.deepEqual(asked, [`plan-${issue.number} squash`, `plan-${issue.number}`]);
  });

  it("comes in parts where it is long, each once", async (t) => {
    const { github, issue, action, send, delivered } = await setUp(t);
    const long = action({ type: "comment", message: `${"many words ".repeat(9)}\n`.repeat(1500) });
    let posts = 0;
    github.server.onSeen = ({ method }) => {
      posts += method === "POST" ? 1 : 0;
      if (posts === 1) github.server.faults.add({ kind: "error-after", on: /POST .*comments/ });
      github.server.onSeen = posts === 0 ? github.server.onSeen : () => undefined;
    };
    assert.equal((await send(long)).success, false);
    assert.equal(await delivered(long), false);
    assert.equal((await send(long)).success, true);
    assert.deepEqual(
      issue.comments.map(({ body }) => body.slice(0, 15)),
      ["**Part 1 of 3**", "**Part 2 of 3**", "**Part 3 of 3**"],
    );
    assert.deepEqual(await delivered(long), { ref: String(issue.comments[2]?.id) });
  });
});
