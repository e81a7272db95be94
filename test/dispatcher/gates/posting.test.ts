import assert from "node:assert/strict";
import { test } from "node:test";
import type { TrackerPost } from "../../../src/bridges/tracker/port.ts";
import { comparePosts } from "../../../src/dispatcher/gates/posting.ts";
import type { GateRecord } from "../../../src/gate/gate-record.ts";

const gate: GateRecord = {
  ...{ schemaVersion: 1, gateId: "G", planUid: "U", planId: "p", kind: "plan", digest: "d", scope: "s", text: "" },
  ...{ shown: "one two", openedAt: "2026-01-01T00:00:00Z", reminders: 0, state: "open", amendments: [] },
};
const parts: GateRecord = { ...gate, parts: ["one", "two"] };

function found(...posts: readonly [id: string, body: string, more?: Partial<TrackerPost>][]): Map<string, TrackerPost> {
  const author = { login: "prloom-bot" };
  return new Map(
    posts.map(([id, body, more], index) => {
      const at = `2026-01-01T00:00:0${index}Z`;
      return [id, { ref: id, author, body, at, edited: false, own: id, ...more }];
    }),
  );
}

test("posts are intact when every part is there as it was shown", () => {
  const posts = found(["gate-G-1", "one"], ["gate-G-2", "two\r\n"]);
  assert.deepEqual(comparePosts(parts, posts), { kind: "intact", at: Date.parse("2026-01-01T00:00:01Z") });
  assert.equal(comparePosts(gate, found(["gate-G-1", "one two"])).kind, "intact");
});

test("a part that is gone, says something else or was edited and put back is told by its number", () => {
  const first = ["gate-G-1", "one"] as const;
  const what = (posts: Map<string, TrackerPost>, of = parts) => {
    const compared = comparePosts(of, posts);
    return compared.kind === "changed" ? compared.what : compared.kind;
  };
  assert.equal(what(found([...first])), "part 2 of the post of gate G is gone");
  assert.equal(what(found([...first], ["gate-G-2", "three"])), "part 2 of the post of gate G was edited");
  assert.equal(
    what(found([...first], ["gate-G-2", "two", { edited: true }])),
    "part 2 of the post of gate G was edited",
  );
  assert.equal(what(new Map(), gate), "the post of gate G is gone");
});

test("without a time that can be read it is not known what was written before", () => {
  const posts = found(["gate-G-1", "one", { at: "today" }], ["gate-G-2", "two"]);
  assert.deepEqual(comparePosts(parts, posts), { kind: "unreadable", why: 'its time is "today"' });
});
