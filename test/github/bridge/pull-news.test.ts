import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { BridgeEvent } from "../../../src/bridges/contract.ts";
import type { ServerChange } from "../../../src/forge/port.ts";
import { reportCheck } from "../../testing/github/people.ts";
import { thorough } from "../../testing/thorough.ts";
import { pullSetting } from "../pull-setting.ts";

const told = (events: readonly BridgeEvent[]): string[] =>
  events.map(({ type, plan, body }) => `${plan ?? ""} ${type} ${body}`.trim());

describe("what is said at a pull request", { concurrency: 4 }, () => {
  it("reaches its plan: comments, reviews, comments on lines and resolved threads", async (t) => {
    const { look, pull, ada, pass, repository } = await pullSetting(t);
    await look();
    const { number, token } = pull();
    await look();
    pass(5);
    ada.comments(number, "in general");
    const comments = [{ path: "dark.css", line: 1, body: "too dark" }];
    const review = ada.reviews(number, { state: "CHANGES_REQUESTED", body: "not yet", comments });
    const seen = repository.issues.get(number)?.pull?.head.sha;
    ada.pushes(repository.issues.get(number)?.pull?.head.branch ?? "", { "later.css": "x\n" });
    const events = await look();
    assert.deepEqual(told(events), [
      `plan-${number} comment in general`,
      `plan-${number} review not yet`,
      `plan-${number} review_comment too dark`,
    ]);
    const [comment, reviewed, onLine] = events;
    assert.deepEqual(comment?.replyTo, { target: "github-pr", token });
    assert.deepEqual(reviewed?.replyTo, { target: "github-pr", token });
    const author = { id: String(ada.user.id), login: "ada", permission: "write", bot: false };
    assert.deepEqual(reviewed?.context, {
      ...{ state: "changes_requested", at: review.submittedAt, edited: false, ref: String(review.id) },
      ...{ commit: seen, author },
    });
    assert.equal(onLine?.context?.commit, seen);
    const first = repository.issues.get(number)?.pull?.reviewComments[0];
    assert.deepEqual(onLine?.replyTo, { target: "github-pr", token: `${token}/${first?.id}` });
    assert.deepEqual([onLine?.context?.path, onLine?.context?.line, onLine?.context?.author], ["dark.css", 1, author]);
    assert(first);
    ada.resolves(first);
    pass(600);
    const [resolved, ...more] = await look();
    assert.deepEqual(
      [resolved?.type, resolved?.title, more],
      ["review_thread.resolved", "ada resolved the thread on dark.css:1", []],
    );
    assert.deepEqual(await look(), []);
  });

  it("is heard whole of a review that was begun long before it was handed in, as it was written", async (t) => {
    const { look, pull, ada, eve, pass, github } = await pullSetting(t);
    await look();
    const { number } = pull();
    await look();
    const begun = github.world.time();
    pass(1200);
    const other = { path: "dark.css", line: 1, body: "meanwhile, elsewhere" };
    eve.reviews(pull("other").number, { state: "COMMENTED", body: "", comments: [other] });
    await look();
    const comments = [
      { path: "dark.css", line: 1, body: "written first", at: begun },
      { path: "dark.css", line: 1, body: "written last" },
    ];
    ada.reviews(number, { state: "CHANGES_REQUESTED", body: "not yet", comments });
    const events = await look();
    assert.deepEqual(told(events), [
      `plan-${number} review not yet`,
      `plan-${number} review_comment written first`,
      `plan-${number} review_comment written last`,
    ]);
    assert.deepEqual(
      events.map(({ context }) => context?.edited),
      [false, false, false],
    );
    pass(60);
    assert.deepEqual(await look(), []);
  });

  it("is heard where more pull requests changed since the last look than are read at once", thorough, async (t) => {
    const { look, pull, ada, pass, repository } = await pullSetting(t);
    await look();
    const { number } = pull();
    await look();
    pass(60);
    await look();
    ada.reviews(number, { state: "COMMENTED", body: "before all the others" });
    pass(60);
    ada.pushes("other", { "other.css": "x" });
    for (let count = 0; count < 1001; count += 1) ada.opensPull({ head: "other", base: "main", title: "Other" });
    assert.deepEqual(told(await look()), [`plan-${number} review before all the others`]);
    assert.equal(repository.issues.size, 1002);
  });

  it("is told once, also where much of it is on many pages", async (t) => {
    const { look, pull, ada, pass } = await pullSetting(t);
    await look();
    const { number } = pull();
    await look();
    pass(5);
    for (let count = 1; count <= 120; count += 1)
      ada.reviews(number, {
        state: "COMMENTED",
        body: `review ${count}`,
        comments: [{ path: "dark.css", line: 1, body: `line ${count}` }],
      });
    const events = [...(await look()), ...(await look())];
    assert.equal(events.length, 240);
    assert.equal(new Set(events.map(({ id }) => id)).size, 240);
  });

  it("that it needs what its base got is told once it is in no merge queue", async (t) => {
    const needs: unknown[] = [];
    const { pull, look, pass, repository, ada } = await pullSetting(t, {
      onPull: (_, change) => needs.push(change.needs),
    });
    const issue = pull();
    const rules = { requiredChecks: [], approvals: 0, mergeQueue: true, refusePush: undefined, upToDate: true };
    repository.rules.set("main", rules);
    await look();
    ada.pushes("main", { "more.txt": "more\n" });
    needs.length = 0;
    assert.ok(issue.pull);
    for (const queued of [true, false]) {
      issue.pull.queued = queued;
      pass(601);
      await look();
      assert.deepEqual(needs, queued ? [] : ["behind"]);
    }
  });

  it("that it needs what its base got is told at a beat, once", async (t) => {
    const needs: string[] = [];
    const onPull = (plan: string, change: ServerChange): void => void needs.push(`${plan} ${change.needs}`);
    const { look, pull, ada, pass, repository } = await pullSetting(t, { onPull });
    await look();
    const { number } = pull();
    await look();
    needs.length = 0;
    const rules = { requiredChecks: [], approvals: 0, mergeQueue: false, refusePush: undefined, upToDate: true };
    repository.rules.set("main", rules);
    ada.pushes("main", { "more.css": "more" });
    pass(600);
    await look();
    pass(600);
    await look();
    assert.deepEqual(needs, [`plan-${number} behind`]);
    ada.pushes("main", { "dark.css": "another" });
    pass(600);
    await look();
    assert.deepEqual(needs, [`plan-${number} behind`, `plan-${number} conflict`]);
  });

  it("before the first look is not told", async (t) => {
    const { look, pull, ada, pass } = await pullSetting(t);
    const { number } = pull();
    ada.reviews(number, { state: "COMMENTED", body: "old", comments: [{ path: "dark.css", line: 1, body: "old" }] });
    ada.comments(number, "old");
    pass(5);
    assert.deepEqual(await look(), []);
    pass(5);
    ada.reviews(number, { state: "COMMENTED", body: "new" });
    assert.deepEqual(told(await look()), [`plan-${number} review new`]);
  });

  it("waits while it cannot be found out what its author may do, and no other's does", async (t) => {
    const { look, pull, ada, eve, github, pass } = await pullSetting(t);
    await look();
    const { number } = pull();
    await look();
    pass(5);
    ada.reviews(number, { state: "APPROVED", body: "mine" });
    eve.reviews(number, { state: "COMMENTED", body: "a stranger's" });
    github.server.faults.add({ kind: "error-before", on: /collaborators\/ada/, times: 1 });
    const first = await look();
    assert.deepEqual(told(first), [`plan-${number} review a stranger's`]);
    assert.equal(first[0]?.context?.author?.permission, "read");
    assert.deepEqual(told(await look()), [`plan-${number} review mine`]);
  });

  it("by a bot has no permission unless the config trusts it", async (t) => {
    const { look, pull, github, repository, pass } = await pullSetting(t, { settings: { trustedBots: ["Lint[bot]"] } });
    await look();
    const { number } = pull();
    await look();
    pass(5);
    for (const name of ["lint[bot]", "spam[bot]"]) {
      const user = github.world.user(name, "Bot");
      repository.permissions.set(user, "write");
      github.person(repository, name).comments(number, name);
      github.person(repository, name).reviews(number, { state: "APPROVED", body: name });
    }
    const authors = (await look()).map(({ context }) => [
      context?.author?.login,
      context?.author?.permission,
      context?.author?.bot,
    ]);
    assert.deepEqual(authors, [
      ["lint[bot]", "write", true],
      ["spam[bot]", "none", true],
      ["lint[bot]", "write", true],
      ["spam[bot]", "none", true],
    ]);
  });

  it("tells the state of the pull request: merged, closed, another head", async (t) => {
    const seen: [string, ServerChange][] = [];
    const { look, pull, ada, pass } = await pullSetting(t, { onPull: (plan, state) => void seen.push([plan, state]) });
    await look();
    const { number } = pull();
    await look();
    pass(5);
    const sha = ada.pushes("prloom/dark", { "more.css": "x\n" });
    await look();
    pass(5);
    ada.merges(number);
    await look();
    await look();
    assert.deepEqual(
      seen.map(([plan, { state, head }]) => [plan, state, head === sha]),
      [
        [`plan-${number}`, "open", false],
        [`plan-${number}`, "open", true],
        [`plan-${number}`, "merged", true],
      ],
    );
  });

  it("is information where it is a review that was dismissed before it was read", async (t) => {
    const { look, pull, ada, pass } = await pullSetting(t);
    await look();
    const { number } = pull();
    await look();
    pass(5);
    ada.dismisses(number, ada.reviews(number, { state: "CHANGES_REQUESTED", body: "make it light" }));
    const [event] = await look();
    assert.deepEqual([event?.context?.state, event?.context?.information], ["dismissed", true]);
  });

  it("hears a review of the second in which it looked", async (t) => {
    const { look, pull, ada, pass } = await pullSetting(t);
    await look();
    const { number } = pull();
    await look();
    const { id } = ada.reviews(number, { state: "APPROVED", body: "" });
    pass(5);
    const events = await look();
    assert.deepEqual(
      events.map((event) => event.id),
      [`github-review-${id}`],
    );
  });
});

describe("a quiet repository", { concurrency: 2 }, () => {
  for (const count of [1, 100]) {
    const options = count === 1 ? {} : thorough;
    it(`with ${count} pull requests costs what an hour may cost`, options, async (t) => {
      const { look, pull, github, pass, repository } = await pullSetting(t);
      await look();
      for (let number = 0; number < count; number += 1) {
        const sha = pull().pull?.head.sha ?? "";
        // As one that waits for a person.
        if (number === 0) reportCheck(github.world, repository, { sha, name: "deploy" });
      }
      // Checks may begin for a while, and may run for some time.
      await look();
      pass(7260);
      await look();
      await look();
      const before = github.server.seen.length;
      for (let minute = 0; minute < 60; minute += 1) {
        pass(60);
        assert.deepEqual(await look(), []);
      }
      const seen = github.server.seen.slice(before);
      const counting = (bucket: string): number =>
        seen.filter((one) => one.bucket === bucket).reduce((sum, { points }) => sum + points, 0);
      assert(seen.length <= 260, `${seen.length} requests`);
      assert(counting("core") <= 12, `${counting("core")} calls that count`);
      // A question about a hundred pull requests costs two points there.
      assert(counting("graphql") * 2 <= 30, `${counting("graphql")} questions`);
    });
  }
});
