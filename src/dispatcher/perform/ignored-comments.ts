import { hasWritePermission } from "../../bus/author.ts";
import type { BusEvent } from "../../bus/types.ts";
import { isoTime } from "../../kernel/clock.ts";
import { type IgnoredComment, type PlanRecord, RECORD_SCHEMA_VERSION } from "../../plan/record.ts";
import type { Naming, Reporting } from "../capabilities.ts";
import { type Records, requireRecord } from "../records.ts";

export type IgnoredWhy = Pick<IgnoredComment, "kind" | "reason">;

/** Why the words of an author have no effect; undefined when they may have one. */
export function whyIgnored(event: BusEvent): IgnoredWhy | undefined {
  const author = event.context?.author;
  if (!author) return undefined;
  if (author.self) return { kind: "self", reason: "prloom wrote it itself" };
  if (hasWritePermission(author)) return undefined;
  const { login, permission } = author;
  if (permission === "none") return { kind: "stranger", reason: `${login} has no rights in the repository` };
  return { kind: "reader", reason: `${login} may not write to the repository (${permission})` };
}

/** An agent typed a command that answers for a person: refused, and the person is to know. */
export function listTried(
  loom: Records & Naming & Reporting,
  planId: string,
  tried: { run: string; command: string },
): void {
  const id = `tried-${loom.ids.ulid(loom.clock.now())}`;
  const author = `run ${tried.run}`;
  const reason = `an agent (${author}) tried \`${tried.command}\` and was refused`;
  list(loom, planId, { id, author, kind: "agent", reason });
  loom.report({ planId, level: "bad", text: reason });
}

/** The newest are listed, all are counted. */
const MAX_LISTED = 20;

/**
 * Lists an event as ignored. Before it is settled: a kill in between makes the same event come again. Not by
 * `updateRecord`: nothing about the plan changed, and a stranger must not make it look as if.
 */
export function listIgnored(loom: Records, planId: string, event: BusEvent, refusal: IgnoredWhy): void {
  list(loom, planId, { id: event.id, author: event.context?.author?.login ?? event.source, ...refusal });
}

function list(loom: Records, planId: string, ignoredNow: Omit<IgnoredComment, "at">): void {
  const record = requireRecord(loom, planId);
  const { count, newest } = record.ignored ?? { count: 0, newest: [] };
  if (newest.some(({ id }) => id === ignoredNow.id)) return;
  const comment = { ...ignoredNow, author: ignoredNow.author.slice(0, 100), at: isoTime(loom.clock.now()) };
  const ignored: PlanRecord["ignored"] = { count: count + 1, newest: [comment, ...newest].slice(0, MAX_LISTED) };
  loom.store.put(record.uid, { ...record, schemaVersion: RECORD_SCHEMA_VERSION, ignored }, record.revision);
}
