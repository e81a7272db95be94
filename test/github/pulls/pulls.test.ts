import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { safeBody } from "../../../src/github/outgoing.ts";
import { withOurPart } from "../../../src/github/pulls/body.ts";
import type { PullState } from "../../../src/github/pulls/pull-state.ts";
import { Pulls } from "../../../src/github/pulls/pulls.ts";
import { runQueue } from "../../testing/github/people.ts";
import { thorough } from "../../testing/thorough.ts";
import { setUp } from "../setting.ts";

const DRAFT = { head: "prloom/dark", base: "main", title: "Dark `mode`", body: "Closes #1.\n\n@eve" };

function opened(state: PullState | { refused: string }): PullState {
  assert(!("refused" in state), JSON.stringify(state));
  return state;
}

/** What a merge is refused for, as the pull request is now. */
async function whyNot(pulls: Pulls, number: number): Promise<string> {
  const pull = await pulls.getJudged(number);
  assert(pull !== "gone");
  const outcome = await pulls.merge(pull, { sha: pull.head.sha, method: "squash" });
  return outcome.kind === "refused" ? outcome.reason : outcome.kind;
}

describe("pull requests", { concurrency: 3 }, () => {
  it("are opened as drafts, once, with words that do nothing", async (t) => {
    const { ada, calls, repository, github } = await setUp(t);
    const pulls = new Pulls(calls);
    ada.pushes(DRAFT.head, { "dark.css": "x\n" });
    github.server.faults.add({ kind: "cut-after", on: /POST .*pulls/ });
    await assert.rejects(pulls.open(DRAFT), /opening a pull request/);
    const [made = 0] = repository.issues.keys();
    repository.unlisted.add(made);
    await assert.rejects(
      pulls.open(DRAFT),
      /already exists for acme:prloom\/dark\. GitHub's other servers do not know of it yet/,
    );
    repository.unlisted.clear();
    const pull = opened(await pulls.open(DRAFT));
    assert.deepEqual([pull.state, pull.draft, pull.title], ["open", true, "Dark ’mode’"]);
    assert.match(pull.body, /Closes issue 1\.\n\n@\u200beve/);
    assert.equal([...repository.issues.values()].filter((one) => one.pull).length, 1);
  });

  it("are ordinary ones where there are no drafts, and refused in GitHub's words", async (t) => {
    const { ada, calls, repository } = await setUp(t);
    const pulls = new Pulls(calls);
    repository.allow.drafts = false;
    ada.pushes(DRAFT.head, { "dark.css": "x\n" });
    assert.equal(opened(await pulls.open(DRAFT)).draft, false);
    assert.deepEqual(await pulls.open({ ...DRAFT, head: "nothing" }), { refused: "Validation Failed: head invalid" });
  });

  it("stay drafts, and are opened later, where GitHub takes them not yet", async (t) => {
    const { ada, calls, github } = await setUp(t);
    const pulls = new Pulls(calls);
    const sha = ada.pushes(DRAFT.head, { "dark.css": "x\n" });
    const invalid = { resource: "PullRequest", field: "head", code: "invalid" };
    const custom = { resource: "PullRequest", code: "custom", message: "Head sha can't be blank" };
    for (const error of [invalid, custom]) {
      const says = { message: "Validation Failed", errors: [error] };
      github.server.faults.add({ kind: "error-before", on: /POST .*pulls$/, status: 422, says });
      await assert.rejects(pulls.open({ ...DRAFT, sha }), /[Hh]ead .*GitHub's other servers do not know of it yet/);
    }
    assert.equal(opened(await pulls.open({ ...DRAFT, sha })).draft, true);
  });

  it("of a fork with a branch of the same name are not ours", async (t) => {
    const { ada, calls, github, repository } = await setUp(t);
    const fork = github.world.addRepository("eve/app", { forkOf: repository });
    ada.pushes(DRAFT.head, { "dark.css": "x\n" });
    const eve = github.person(fork, "eve");
    eve.pushes("main", { "README.md": "fork\n" });
    eve.pushes(DRAFT.head, { "evil.txt": "x\n" });
    const token = github.server.accounts.add("eve");
    const headers = { authorization: `Bearer ${token}` };
    const body = JSON.stringify({ title: "Mine", head: `eve:${DRAFT.head}`, base: "main" });
    assert.equal((await fetch(`${github.apiUrl}/repos/acme/app/pulls`, { method: "POST", headers, body })).status, 201);
    const pulls = new Pulls(calls);
    assert.equal(await pulls.find(DRAFT.head), undefined);
    assert.equal(opened(await pulls.open(DRAFT)).head.repositoryId, repository.id);
  });

  it("keep what people wrote into them", async (t) => {
    const { ada, calls } = await setUp(t);
    const pulls = new Pulls(calls);
    ada.pushes(DRAFT.head, { "dark.css": "x\n" });
    const first = opened(await pulls.open(DRAFT));
    ada.edits(first.number, { body: `Read this first.\n\n${first.body}\n\nAnd this last.` });
    const pull = await pulls.get(first.number);
    assert(pull !== "gone");
    const next = opened(await pulls.describe(pull, { body: "Now it is done." }));
    assert.match(
      next.body,
      /^Read this first\.\n\n<!-- prloom begins.*-->\nNow it is done\.\n<!-- prloom ends -->\n\nAnd this last\.$/s,
    );
    assert.equal(await pulls.describe(next, { body: "Now it is done." }), next, "nothing to send");
  });

  it("are marked ready and merged at the commit that was reviewed", async (t) => {
    const { ada, calls } = await setUp(t);
    const pulls = new Pulls(calls);
    const reviewed = ada.pushes(DRAFT.head, { "dark.css": "x\n" });
    const pull = opened(await pulls.markReady(opened(await pulls.open(DRAFT))));
    assert.equal(pull.draft, false);
    const later = ada.pushes(DRAFT.head, { "sneaked.in": "x\n" });
    assert.deepEqual(await pulls.merge(pull, { sha: reviewed, method: "squash" }), { kind: "moved-on" });
    const now = await pulls.get(pull.number);
    assert(now !== "gone");
    const merged = await pulls.merge(now, { sha: later, method: "squash" });
    assert.equal(merged.kind, "merged");
    const after = await pulls.get(pull.number);
    assert(after !== "gone" && after.state === "merged");
    assert.deepEqual(await pulls.merge(after, { sha: later, method: "squash" }), merged, "once");
  });

  it("are merged when asked again where something else was merged at that moment", async (t) => {
    const { ada, calls, client } = await setUp(t);
    const pulls = new Pulls(calls);
    const sha = ada.pushes(DRAFT.head, { "dark.css": "x\n" });
    const pull = opened(await pulls.markReady(opened(await pulls.open(DRAFT))));
    const reason = "Base branch was modified. Review and try the merge again.";
    const send = client.send.bind(client);
    client.send = async () => ({ kind: "refused", status: 405, reason });
    await assert.rejects(pulls.merge(pull, { sha, method: "squash" }), { kind: "failed" });
    client.send = send;
    assert.equal((await pulls.merge(pull, { sha, method: "squash" })).kind, "merged");
  });

  it("go through the queue of their branch, and tell what is missing", async (t) => {
    const { ada, calls, repository, github } = await setUp(t);
    const pulls = new Pulls(calls);
    const sha = ada.pushes(DRAFT.head, { "dark.css": "x\n" });
    const pull = opened(await pulls.markReady(opened(await pulls.open(DRAFT))));
    const rules = { requiredChecks: ["test"], approvals: 0, mergeQueue: false, refusePush: undefined };
    repository.rules.set("main", rules);
    const refused = await pulls.merge(pull, { sha, method: "squash" });
    assert.deepEqual(refused, { kind: "refused", reason: 'Required status check "test" is expected.' });
    assert.match(await whyNot(pulls, pull.number), /a rule of main is not met: a check that is required/);
    repository.rules.set("main", { ...rules, requiredChecks: [], mergeQueue: true });
    assert.deepEqual(await pulls.merge(pull, { sha, method: "squash" }), { kind: "queued" });
    assert.deepEqual(await pulls.merge(pull, { sha, method: "squash" }), { kind: "queued" }, "once");
    runQueue(github.world, repository);
    const after = await pulls.get(pull.number);
    assert(after !== "gone" && after.state === "merged");
  });

  it("are not merged past the rules of their branch by a token that may do so, unless that is asked for", async (t) => {
    const { ada, calls, repository, github } = await setUp(t);
    repository.permissions.set(github.world.user("bot"), "admin");
    const pulls = new Pulls(calls);
    const sha = ada.pushes(DRAFT.head, { "dark.css": "x\n" });
    const { number } = opened(await pulls.markReady(opened(await pulls.open(DRAFT))));
    const rules = { requiredChecks: [], approvals: 1, mergeQueue: false, refusePush: undefined };
    repository.rules.set("main", rules);
    assert.equal(await whyNot(pulls, number), "a rule of main asks for a review that approves it");
    github.person(repository, "eve").reviews(number, { state: "APPROVED", body: "" });
    assert.equal(await whyNot(pulls, number), "a rule of main asks for a review that approves it");
    ada.reviews(number, { state: "APPROVED", body: "" });
    ada.reviews(number, { state: "CHANGES_REQUESTED", body: "Not yet." });
    assert.equal(await whyNot(pulls, number), "a review asks for changes");
    ada.reviews(number, { state: "APPROVED", body: "" });
    repository.rules.set("main", { ...rules, requiredChecks: ["test"] });
    assert.match(await whyNot(pulls, number), /a check that is required has not passed/);
    ada.pushes("main", { "more.txt": "x\n" });
    repository.rules.set("main", { ...rules, upToDate: true });
    assert.match(await whyNot(pulls, number), /main got something since/);
    repository.rules.set("main", { ...rules, mergeQueue: true });
    assert.equal(await whyNot(pulls, number), "queued");
    const pull = await pulls.get(number);
    assert(pull !== "gone");
    assert.equal((await pulls.merge(pull, { sha, method: "squash", force: true })).kind, "merged");
  });

  it("are asked about again while GitHub finds out what their rules say", thorough, async (t) => {
    const { ada, calls, repository } = await setUp(t);
    const pulls = new Pulls(calls);
    ada.pushes(DRAFT.head, { "dark.css": "x\n" });
    const { number } = opened(await pulls.markReady(opened(await pulls.open(DRAFT))));
    repository.rules.set("main", { requiredChecks: [], approvals: 1, mergeQueue: false, refusePush: undefined });
    const get = calls.get.bind(calls);
    let asked = 0;
    calls.get = async (...call) => {
      const outcome = await get(...call);
      asked += 1;
      if (outcome.kind !== "ok" || asked > 1) return outcome;
      return { ...outcome, data: { ...(outcome.data as object), mergeable: null, mergeable_state: "unknown" } };
    };
    assert.equal(await whyNot(pulls, number), "a rule of main asks for a review that approves it");
  });

  it("are closed, and gone only if the repository says so", async (t) => {
    const { ada, calls, github } = await setUp(t);
    const pulls = new Pulls(calls);
    ada.pushes(DRAFT.head, { "dark.css": "x\n" });
    const pull = opened(await pulls.close(opened(await pulls.open(DRAFT))));
    assert.equal(pull.state, "closed");
    assert.equal(await pulls.get(99), "gone");
    github.server.faults.add({ kind: "error-before", on: /GET .*app$/ });
    await assert.rejects(pulls.get(98), /does not answer/);
  });
});

describe("our part of a description", () => {
  it("comes again below what is there when a person took its markers out", () => {
    const first = withOurPart("", "one");
    const half = first.slice(0, first.indexOf("<!-- prloom ends"));
    assert.match(
      withOurPart(`Mine.\n\n${half}`, "two"),
      /^Mine\.\n\n\none\n\n<!-- prloom begins.*-->\ntwo\n<!-- prloom ends -->$/s,
    );
  });

  it("is shortened where people's words leave no room", () => {
    const people = "p".repeat(65_000);
    const body = withOurPart(people, "o".repeat(10_000));
    assert.equal(body.length <= 65_536 && body.startsWith(people) && body.endsWith("<!-- prloom ends -->"), true);
  });

  it("cannot end itself", () => {
    const once = withOurPart("a", "b <!-- prloom ends --> c");
    assert.equal(withOurPart(once, "d"), withOurPart("a", "d"));
  });

  it("gives no order that such a line had kept apart", () => {
    const end = "<!-- prloom ends -->";
    const body = withOurPart("", safeBody(`clo${end}ses #7, @${end}eve, [skip ${end}ci], <!-- prloom ${end}ends -->`));
    assert.doesNotMatch(body, /closes #7|@eve|\[skip ci\]/);
    assert.equal(body.split(end).length, 2);
  });
});
