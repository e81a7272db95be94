import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after } from "node:test";
import type { RawUpsert } from "../../../src/bridges/core/upsert.ts";
import { type Upserted, upsertPlans } from "../../../src/dispatcher/buses/upsert.ts";
import type { Loom } from "../../../src/dispatcher/loom.ts";
import { homeOf, inboxOf } from "../../../src/dispatcher/paths.ts";
import { planText, updateRecord } from "../../../src/dispatcher/records.ts";
import type { PlanRecord, PlanSource } from "../../../src/plan/record.ts";
import { makeProject, type Project } from "../../testing/project.ts";

export const SOURCE: PlanSource = { system: "github", kind: "issue", id: "7" };
export const BODY = "Some words.\n\n## TODO\n\n- [ ] one\n- [ ] two\n";
/** An upsert of the one source that most tests are about. */
export const upsert = (change: Partial<RawUpsert> = {}): RawUpsert => ({
  type: "upsert_plan",
  source: SOURCE,
  title: "Add login",
  planMarkdown: BODY,
  ...change,
});

/** A project that is gone when the tests are through. */
export function project(): Project {
  const made = makeProject();
  after(() => made.remove());
  return made;
}

/** One upsert by itself. */
export function upsertPlan(loom: Loom, payload: RawUpsert): Upserted {
  const [outcome] = upsertPlans(loom, [payload]).result;
  if (outcome && "upserted" in outcome) return outcome.upserted;
  throw outcome?.error;
}

export function idOf(upserted: Upserted): string {
  assert.ok("planId" in upserted, JSON.stringify(upserted));
  return upserted.planId;
}

export function all(loom: Loom): PlanRecord[] {
  return loom.store.list({}, { limit: 10_000 }).records;
}

/** An activated plan, without the git work that activation is. */
export function activate(loom: Loom, id: string, change: Partial<PlanRecord> = {}): void {
  const text = planText(loom, loom.store.byId(id) as PlanRecord)?.text ?? "";
  loom.texts.write(homeOf(loom.paths, id).plan, text);
  rmSync(inboxOf(loom.paths, id).text);
  rmSync(inboxOf(loom.paths, id).meta);
  updateRecord(loom, id, () => ({ status: "active", inInbox: false, branch: "b", worktreeReady: true, ...change }));
}
