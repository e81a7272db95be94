import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PlanStore } from "../../../src/bus/ports.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";
import { planRecord } from "../plan-record.ts";
import { hasCode } from "./bus-contract.ts";

/** What every store of records must do. */
export function planStoreContract(name: string, make: () => { store: PlanStore; dispose(): void }): void {
  const using = (test: (store: PlanStore) => void): void => {
    const { store, dispose } = make();
    try {
      test(store);
    } finally {
      dispose();
    }
  };
  const source = { system: "github", kind: "issue", id: "github:o/r#1" };

  describe(`plan store contract: ${name}`, () => {
    it("creates, changes and finds by uid, id and source", () =>
      using((store) => {
        const created = store.put("A", planRecord("A", { source }), -1);
        assert.equal(created.revision, 0);
        const changed = store.put("A", { ...created, status: "active" }, 0);
        assert.equal(changed.revision, 1);
        assert.deepEqual(store.get("A"), changed);
        assert.deepEqual(store.byId("plan-a"), changed);
        assert.deepEqual(store.bySource({ ...source }), changed);
        assert.equal(store.get("B"), undefined);
        assert.equal(store.byId("nope"), undefined);
        assert.equal(store.bySource({ ...source, id: "github:o/r#2" }), undefined);
      }));

    it("refuses a change that was made for another revision", () =>
      using((store) => {
        const created = store.put("A", planRecord("A"), -1);
        store.put("A", created, 0);
        assert.throws(() => store.put("A", { ...created, paused: true }, 0), hasCode("revision-conflict"));
        assert.throws(() => store.put("A", created, -1), hasCode("revision-conflict"));
        assert.throws(() => store.put("B", planRecord("B"), 0), hasCode("revision-conflict"));
        assert.equal(store.get("A")?.paused, false);
        assert.equal(store.get("B"), undefined);
      }));

    it("has one plan for an id and one open plan for a source", () =>
      using((store) => {
        const first = store.put("A", planRecord("A", { id: "x", source }), -1);
        assert.throws(() => store.put("B", planRecord("B", { id: "x" }), -1), hasCode("id-taken"));
        assert.throws(() => store.put("B", planRecord("B", { source }), -1), hasCode("source-taken"));
        const done = store.put("A", { ...first, status: "done" }, 0);
        const second = store.put("B", planRecord("B", { source }), -1);
        assert.equal(store.bySource(source)?.uid, "B");
        assert.equal(store.put("A", { ...done, metadata: { seen: true } }, 1).revision, 2);
        assert.throws(() => store.put("A", { ...done, status: "review" }, 2), hasCode("source-taken"));
        store.put("B", { ...second, status: "done" }, 0);
        assert.equal(store.bySource(source)?.uid, "B");
      }));

    it("lets a draft that was deleted be made again, under a new uid", () =>
      using((store) => {
        const first = store.put("A", planRecord("A", { id: "x" }), -1);
        store.put("A", { ...first, deleted: { at: first.createdAt, reason: "file_removed" } }, 0);
        store.put("B", planRecord("B", { id: "x" }), -1);
        assert.equal(store.byId("x")?.uid, "B");
        assert.equal(store.get("A"), undefined);
        assert.equal(store.list({}, { limit: 9 }).records.length, 1);
      }));

    it("frees the source of a deleted plan, and not its id", () =>
      using((store) => {
        const first = store.put("A", planRecord("A", { id: "x", source, branch: "prloom/x" }), -1);
        store.put("A", { ...first, deleted: { at: first.createdAt, reason: "deleted" } }, 0);
        assert.equal(store.bySource(source), undefined);
        assert.throws(() => store.put("B", planRecord("B", { id: "x" }), -1), hasCode("id-taken"));
        store.put("B", planRecord("B", { source }), -1);
        assert.equal(store.bySource(source)?.uid, "B");
      }));

    it("follows a source that changes", () =>
      using((store) => {
        const first = store.put("A", planRecord("A", { source }), -1);
        const other = { ...source, id: "github:o/r#9" };
        store.put("A", { ...first, source: other }, 0);
        assert.equal(store.bySource(source), undefined);
        assert.equal(store.bySource(other)?.uid, "A");
      }));

    it("lists in the order of uids, in pages, filtered", () =>
      using((store) => {
        for (const uid of ["C", "A", "E", "B", "D"]) {
          store.put(uid, planRecord(uid, { hidden: uid === "B", status: uid === "D" ? "done" : "draft" }), -1);
        }
        const uids = (page: { records: PlanRecord[] }) => page.records.map(({ uid }) => uid).join("");
        const first = store.list({}, { limit: 2 });
        assert.equal(uids(first), "AB");
        const second = store.list({}, { limit: 2, after: first.next ?? "" });
        assert.equal(uids(second), "CD");
        const third = store.list({}, { limit: 2, after: second.next ?? "" });
        assert.equal(uids(third), "E");
        assert.equal(third.next, undefined);
        assert.equal(uids(store.list({ hidden: false, status: "draft" }, { limit: 9 })), "ACE");
        assert.equal(uids(store.list({ status: ["done", "review"] }, { limit: 9 })), "D");
        assert.equal(uids(store.list({ source: { system: "github" } }, { limit: 9 })), "");
      }));

    it("gives out values that cannot be changed", () =>
      using((store) => {
        const value = planRecord("A", { metadata: { list: [1] } });
        const stored = store.put("A", value, -1);
        (value.metadata.list as number[]).push(2);
        assert.throws(() => (stored.metadata.list as number[]).push(3), TypeError);
        assert.deepEqual(store.get("A")?.metadata, { list: [1] });
      }));
  });
}
