import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Tracker, TrackerAuthor } from "../../../src/bridges/tracker/port.ts";

/** A tracker with a person who writes to it. */
export interface TrackerBench {
  readonly tracker: Tracker;
  /** Two threads that are there. */
  readonly threads: readonly [string, string];
  say(thread: string, author: TrackerAuthor, body: string): void;
  dispose(): void | Promise<void>;
}

const ANNA: TrackerAuthor = { login: "anna", id: "7" };

/** What every tracker must do. In both of its threads `anna` may write, and `bob` may read. */
export function trackerContract(name: string, make: () => TrackerBench | Promise<TrackerBench>): void {
  const using = async (test: (bench: TrackerBench) => Promise<void>): Promise<void> => {
    const bench = await make();
    try {
      await test(bench);
    } finally {
      await bench.dispose();
    }
  };

  describe(`tracker contract: ${name}`, () => {
    it("shows what was posted, and finds it by the ids it was posted with", () =>
      using(async ({ tracker, threads: [thread, other] }) => {
        const body = "one\n\n```markdown\n<!-- hidden -->\n```\n\nlast  ";
        const first = await tracker.post(thread, { id: "gate-1-1", body });
        const second = await tracker.post(thread, { id: "gate-1-2", body: "two" });
        assert.ok(first.success && second.success && first.ref !== second.ref);
        const found = await tracker.own(thread, ["gate-1-1", "gate-1-2", "gate-1-3"]);
        assert.deepEqual(
          [...found].map(([id, post]) => [id, post.ref, post.body, post.edited, post.own]),
          [
            ["gate-1-1", first.ref, body, false, "gate-1-1"],
            ["gate-1-2", second.ref, "two", false, "gate-1-2"],
          ],
        );
        assert.ok(Number.isFinite(Date.parse(found.get("gate-1-1")?.at ?? "")));
        assert.equal((await tracker.own(other, ["gate-1-1"])).size, 0);
      }));

    it("takes a post as long as it says", () =>
      using(async ({ tracker, threads: [thread] }) => {
        const body = "x".repeat(Math.min(tracker.maxLength, 100_000));
        assert.equal((await tracker.post(thread, { id: "long", body })).success, true);
        assert.equal((await tracker.own(thread, ["long"])).get("long")?.body, body);
      }));

    it("edits a post in its place; one that is not there is gone", () =>
      using(async ({ tracker, threads: [thread] }) => {
        const posted = await tracker.post(thread, { id: "status-1", body: "planning" });
        await tracker.post(thread, { id: "between", body: "between" });
        assert.ok(posted.success);
        const edited = await tracker.edit(thread, posted.ref, { id: "status-2", body: "implementing" });
        assert.deepEqual(edited, { success: true, ref: posted.ref });
        const found = await tracker.own(thread, ["status-1", "status-2", "between"]);
        assert.deepEqual(
          [...found].map(([id, { body, edited: isEdited }]) => [id, body, isEdited]),
          [
            ["status-2", "implementing", true],
            ["between", "between", false],
          ],
        );
        assert.equal(await tracker.edit(thread, "999999", { id: "status-3", body: "never" }), "gone");
      }));

    it("brings what people wrote in the threads that are asked for, from now on, once and in order", () =>
      using(async ({ tracker, threads: [thread, other], say }) => {
        say(thread, ANNA, "before the first look");
        const { posts, next } = await tracker.since([thread], undefined);
        assert.deepEqual(posts, []);
        say(thread, ANNA, "approved");
        await tracker.post(thread, { id: "ours", body: "ours" });
        say(thread, { login: "bob" }, "/reject");
        const heard = await tracker.since([thread], next);
        const people = heard.posts.filter(({ own }) => own === undefined);
        assert.deepEqual(
          people.map(({ thread: where, author, body, edited }) => [where, author.login, body, edited]),
          [
            [thread, "anna", "approved", false],
            [thread, "bob", "/reject", false],
          ],
        );
        assert.deepEqual((await tracker.since([thread], heard.next)).posts, []);
        say(other, ANNA, "elsewhere");
        say(thread, ANNA, "again");
        const last = await tracker.since([thread], heard.next);
        assert.deepEqual(
          last.posts.map(({ body }) => body),
          ["again"],
        );
      }));

    it("knows what authors may do, and who posts for us", () =>
      using(async ({ tracker }) => {
        assert.equal(await tracker.permissionOf({ login: ANNA.login }), "write");
        assert.equal(await tracker.permissionOf({ login: "bob" }), "read");
        const self = await tracker.self();
        assert.notEqual(self.login, "");
        assert.notEqual(self.login, ANNA.login);
      }));
  });
}
