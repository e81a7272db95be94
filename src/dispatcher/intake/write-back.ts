import { LOCAL_TARGET } from "../../bridges/local/thread.ts";
import { DISPATCHER } from "../../bus/names.ts";
import type { Action } from "../../bus/types.ts";
import { isoTime } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { type Reached, reachedBy, reachedSince } from "../../plan/reached.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import type { Gated } from "../gates/gate-store.ts";
import { sourceThread } from "../gates/posting.ts";
import type { Located } from "../paths.ts";
import type { Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { phaseAt } from "./phases.ts";

/** The newest are listed; a plan that comes back from review again and again has more. */
const MAX_LISTED = 30;

/**
 * Tells the source of a plan how far it is, in one comment that is edited in place, and its end in another; returns whether
 * there was something to tell. Ids have the state in them: what a kill cut off is told again under the same id, or is followed by what is true by now.
 */
export function writeBack(loom: Located & Configured & Records & Gated & Buses & Extended, planId: string): boolean {
  const record = loom.store.byId(planId);
  if (!record?.source || record.deleted) return false;
  const now = reachedBy(record, phaseAt(loom, record).phase);
  const { seq = 0, reached: before = [] } = record.writtenBack ?? {};
  const fresh = now === undefined ? [] : reachedSince(before.at(-1)?.what, now);
  const address = fresh.length > 0 ? sourceThread(loom, record) : undefined;
  if (!address || address.target === LOCAL_TARGET) return false;
  const at = isoTime(loom.clock.now());
  const reached = [...before, ...fresh.map((what) => ({ what, at }))].slice(-MAX_LISTED);
  const isTold = fresh.some((what) => loom.config.writeback[what]);
  if (isTold) {
    const id = `status-${record.uid}-${seq + 1}-${now}`;
    const action: Action = { id, type: "respond", target: address, payload: payloadOf(loom, record, reached) };
    const marks = { closed: true, about: "event" } as const;
    loom.bus(planId).settle({ record: id, handler: DISPATCHER, outcome: "handled", actions: [action], marks });
    crashPoint("status:told");
  }
  // By itself and not by `updateRecord`: nothing about the plan changed.
  loom.store.put(record.uid, { ...record, writtenBack: { seq: seq + 1, reached } }, record.revision);
  return isTold;
}

/** Whether a plan ended and its source was not told: a kill came between, or no dispatcher was there when it was merged. */
export function isEndUntold(loom: Extended, record: PlanRecord): boolean {
  const last = record.writtenBack?.reached.at(-1)?.what;
  const isDue = record.status === "done" && reachedSince(last, "done").length > 0;
  return isDue && sourceThread(loom, record) !== undefined;
}

/** An edit notifies no one, and people want to hear of the end. */
function payloadOf(loom: Configured, record: PlanRecord, reached: Listed): Action["payload"] {
  if (record.status === "done") return { type: "comment", message: `**prloom**: ${WORDS.done(record)}` };
  return { type: "comment", key: "status", message: statusText(loom, record, reached) };
}

type Listed = NonNullable<PlanRecord["writtenBack"]>["reached"];

function statusText(loom: Configured, record: PlanRecord, reached: Listed): string {
  const told = reached.filter(({ what }) => loom.config.writeback[what]);
  const lines = told.map(({ what, at }) => `- ${at.slice(0, 16).replace("T", " ")} UTC: ${WORDS[what](record)}`);
  return `**prloom** works on this as the plan \`${record.id}\`.\n\n${lines.join("\n")}`;
}

const WORDS: Readonly<Record<Reached, (record: PlanRecord) => string>> = {
  investigating: () => "an agent looks into what is asked for",
  planning: () => "the plan is being written",
  plan: () => "the plan is complete",
  implementing: () => "the plan is being implemented",
  pr: ({ changeRequest }) => `all TODOs are done, and the change waits for review${linkTo(changeRequest)}`,
  done: ({ outcome, changeRequest }) =>
    `${outcome === "merged" ? "this is done, and merged" : "this was closed and not merged"}${linkTo(changeRequest)}`,
};

function linkTo(changeRequest: PlanRecord["changeRequest"]): string {
  return changeRequest?.url === undefined ? "" : `: ${changeRequest.url}`;
}
