import type { PlanBefore } from "../../governance/graph/graph-of-plan.ts";
import type { WorkPlanStatus } from "../../governance/graph/schema.ts";
import type { PlanDoc } from "../../plan/markdown/markdown.ts";
import { dependenciesOf, stackProblem, wantsStack } from "../../plan/metadata.ts";
import { type PlanRecord, parseSourceKey } from "../../plan/record.ts";
import type { Gated } from "../gates/gate-store.ts";
import { gateOf } from "../gates/plan-gate.ts";
import type { PlanText } from "../intake/plan-texts.ts";
import type { Located } from "../paths.ts";
import { planText, type Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { canBearOther } from "../stacking/lower-plan.ts";
import type { Watched } from "../watchdog/stalls.ts";
import type { Dependencies } from "./step.ts";

/** Activation waits until everything a plan depends on is merged; of a plan that is stacked, until that is in review. */
export function dependencies(
  loom: Located & Configured & Records & Gated & Watched,
  record: PlanRecord,
  text: PlanText | undefined,
): Dependencies {
  const names = text ? dependenciesOf(record.metadata, text.doc) : [];
  const isStacked = text !== undefined && wantsStack(record.metadata);
  const problem = isStacked ? stackProblem(names, loom.config.forge) : undefined;
  if (problem !== undefined) return { kind: "failed", reason: problem };
  const waiting: string[] = [];
  // What does not lead back for one name does not for the next: each plan is asked once.
  const seen = new Set<string>();
  for (const name of names) {
    const other = findDependency(loom, name);
    const circle = other && circleTo(loom, other, record.id, seen);
    if (circle) return { kind: "failed", reason: `It depends on itself: ${[record.id, ...circle].join(" → ")}.` };
    if (!other) waiting.push(`${name} (no such plan yet)`);
    else if (other.deleted) return { kind: "failed", reason: `It depends on ${name}, which was deleted.` };
    else if (other.outcome === "closed") return { kind: "failed", reason: `It depends on ${name}, which was closed.` };
    else if (other.outcome !== "merged" && !(isStacked && bears(loom, other))) waiting.push(other.id);
  }
  if (waiting.length === 0) return { kind: "met" };
  return { kind: "waiting", for: waiting, until: isStacked ? "in review" : "merged" };
}

/** The way from a plan back to `target` over what waits for what; undefined when there is none. */
function circleTo(
  loom: Located & Records & Watched,
  from: PlanRecord,
  target: string,
  seen: Set<string>,
): string[] | undefined {
  if (from.id === target) return [target];
  if (seen.has(from.id) || from.outcome === "merged") return undefined;
  seen.add(from.id);
  const text = loom.stalls.isHeld(from.id) ? undefined : planText(loom, from);
  for (const name of text ? dependenciesOf(from.metadata, text.doc) : []) {
    const next = findDependency(loom, name);
    const way = next && circleTo(loom, next, target, seen);
    if (way) return [from.id, ...way];
  }
  return undefined;
}

/** One whose approval was taken back goes back to work as soon as it is looked at. */
const bears = (loom: Gated, lower: PlanRecord): boolean =>
  canBearOther(lower) && gateOf(loom, lower)?.state !== "withdrawn";

/** The plan whose branch a plan is to begin on; undefined for one that begins at the base branch. */
export function beginsOn(loom: Located & Records, record: PlanRecord): PlanRecord | undefined {
  const text = wantsStack(record.metadata) ? planText(loom, record) : undefined;
  const [name] = text ? dependenciesOf(record.metadata, text.doc) : [];
  const lower = name === undefined ? undefined : findDependency(loom, name);
  return lower && canBearOther(lower) ? lower : undefined;
}

/** A dependency is a plan id, or a source as `sourceKey` writes it. */
function findDependency(loom: Records, name: string): PlanRecord | undefined {
  const source = parseSourceKey(name);
  return source ? loom.store.bySource(source) : loom.store.byId(name);
}

/** The plans that a plan names as those before it, as far as they are there, with what each is in a graph of tasks. */
export function plansBefore(loom: Records, record: PlanRecord, doc: PlanDoc): readonly PlanBefore[] {
  const found = dependenciesOf(record.metadata, doc).flatMap((name) => findDependency(loom, name) ?? []);
  return found.map((other) => ({ id: other.id, status: workPlanStatus(other) }));
}

/** What a plan is in a graph of tasks. */
export function workPlanStatus({ status, outcome, deleted, worktreeReady }: PlanRecord): WorkPlanStatus {
  if (deleted || outcome === "closed") return "abandoned";
  if (status === "done") return worktreeReady ? "completed" : "archived";
  return status === "draft" || status === "queued" ? "draft" : "active";
}
