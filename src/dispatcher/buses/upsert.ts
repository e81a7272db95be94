import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isLimitedPerSource, limitedPerSource } from "../../bridges/core/per-source.ts";
import {
  decideUpsert,
  isBeingWorkedOn,
  type RawUpsert,
  saidBy,
  sourceOf,
  type UpsertChange,
} from "../../bridges/core/upsert.ts";
import type { Together } from "../../bus/file/plan-store.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { ensureDir, readTextIfExists, writeFileAtomic } from "../../kernel/files.ts";
import type { NewFile } from "../../kernel/write-together.ts";
import { freeId, isIdOf, planIdFor } from "../../plan/identity.ts";
import { commentName } from "../../plan/markdown/encoding.ts";
import { parsePlan } from "../../plan/markdown/markdown.ts";
import { visibleText } from "../../plan/markdown/visible.ts";
import type { PlanRecord, PlanSource } from "../../plan/record.ts";
import type { Naming, Reporting } from "../capabilities.ts";
import { changeInboxMeta } from "../commands/inbox-meta.ts";
import { type Intake, lookOf, takePlan } from "../intake/intake.ts";
import { homeOf, inboxOf, isInboxRecord, type Located } from "../paths.ts";
import { planText, type Records, updateRecord } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import type { Configured } from "../settings/pinned.ts";
import type { Watched } from "../watchdog/stalls.ts";

export type Upserted =
  | { readonly kind: "created" | "changed" | "unchanged"; readonly planId: string }
  /** The source has no open plan, and got none; or it has one, which was to stay as it is. */
  | { readonly kind: "none" }
  /** A run reads the text: ask again when it has ended. */
  | { readonly kind: "busy"; readonly planId: string }
  /** A branch that is checked out has the inbox lead elsewhere. */
  | { readonly kind: "brought"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: string };

export type UpsertOutcome = { readonly upserted: Upserted } | { readonly error: unknown };

export type Upserting = Located & Naming & Records & Configured & Intake & AtWork & Watched & Reporting;

/**
 * Makes or changes the plans of sources, each of another source, and writes all of them together. Safe to repeat after a
 * kill: the same upsert again ends in the same plan. One that fails keeps no other from being made.
 */
export function upsertPlans(loom: Upserting, payloads: readonly RawUpsert[]): Together<UpsertOutcome[]> {
  return loom.store.together((files) =>
    payloads.map((payload) => {
      try {
        return { upserted: upsertPlan(loom, payload, files) };
      } catch (error) {
        return { error };
      }
    }),
  );
}

function upsertPlan(loom: Upserting, payload: RawUpsert, files: NewFile[]): Upserted {
  const source = sourceOf(payload);
  const known = source && loom.store.bySource(source);
  if (known && loom.stalls.isHeld(known.id)) return { kind: "busy", planId: known.id };
  return loom.watch.about(known?.id, "an upsert", () => upsertNow(loom, payload, files));
}

function upsertNow(loom: Upserting, asked: RawUpsert, files: NewFile[]): Upserted {
  const source = sourceOf(asked);
  const record = source && planOfSource(loom, source);
  const payload = isLimitedPerSource(record, asked) ? limited(loom, asked) : asked;
  const problem = record && inboxProblem(loom, record);
  if (problem !== undefined) return { kind: "refused", reason: problem };
  const text = record && planText(loom, record)?.text;
  const upserted = record && readTextIfExists(upsertedFile(loom, record.id));
  const view = {
    ...(record === undefined ? {} : { record }),
    ...(text === undefined ? {} : { text }),
    ...(upserted === undefined ? {} : { upserted }),
  };
  const change = decideUpsert({ ...view, running: record !== undefined && isRunning(loom, record) }, payload);
  if (change.kind === "refused" || change.kind === "busy" || change.kind === "none") return change;
  const said = saidBy(view, payload);
  switch (change.kind) {
    case "create":
      return { kind: "created", planId: createPlan(loom, change, said, files) };
    case "change":
      changePlan(loom, change, said, files);
      tellLeft(loom, change);
      return { kind: "changed", planId: change.planId };
    case "unchanged":
      files.push(...upsertedNow(loom, change.planId, said));
      return { kind: "unchanged", planId: change.planId };
  }
}

function limited(loom: Records & Configured, payload: RawUpsert): RawUpsert {
  const { records } = loom.store.list({ status: ["queued", "active", "review"] });
  return limitedPerSource(
    payload,
    records.filter(({ deleted }) => !deleted),
    loom.config.limits.perSource,
  );
}

/** A person meant them, or did not; and only a person can say so. */
function tellLeft(loom: Reporting, { planId, headingsLeft = [] }: Extract<UpsertChange, { kind: "change" }>): void {
  if (headingsLeft.length === 0) return;
  const names = headingsLeft.map((heading) => (heading === "" ? "no heading" : `"${visibleText(heading)}"`)).join(", ");
  const text = `tasks of its source below ${names} became no TODOs: it is not clear that they are to be done. \`prloom edit ${planId}\` adds them`;
  loom.report({ planId, level: "warn", text });
}

/** Whether an upsert onto this plan has to wait for the end of a run. */
export function isBusy(loom: AtWork, record: PlanRecord): boolean {
  return isBeingWorkedOn(record, isRunning(loom, record));
}

/**
 * What an author without the right to change this plan would like it to say: one file in its home, for a person to look
 * at. A later wish replaces the earlier one.
 */
export function keepProposal(
  loom: Located,
  record: PlanRecord,
  proposal: { readonly by: string; readonly text: string; readonly at: string },
): void {
  const { home, proposal: file } = homeOf(loom.paths, record.id);
  ensureDir(home);
  const from = `<!-- proposed by ${commentName(proposal.by)} at ${commentName(proposal.at)} -->`;
  writeFileAtomic(file, `${from}\n\n${visibleText(proposal.text)}`);
}

/** The record as the inbox says it now: a person may have changed or removed the files a moment ago. */
function planOfSource(
  loom: Located & Naming & Records & Intake & Reporting,
  source: PlanSource,
): PlanRecord | undefined {
  const record = loom.store.bySource(source);
  if (!record || !isInboxRecord(record)) return record;
  takePlan(loom, loom.inbox.look(record.id), record.id);
  return loom.store.bySource(source);
}

function inboxProblem(loom: Intake, record: PlanRecord): string | undefined {
  return isInboxRecord(record) ? loom.inbox.look(record.id).entries.get(record.id)?.problem?.reason : undefined;
}

/** Checks belong to a run too: they judge it against the text that it was given. */
function isRunning(loom: AtWork, record: PlanRecord): boolean {
  const { occupancy } = loom;
  if (isInboxRecord(record)) return occupancy.agentIn(record.id) !== undefined;
  return occupancy.runsIn(record.id).length > 0;
}

function upsertedFile(loom: Located, planId: string): string {
  return join(homeOf(loom.paths, planId).home, "upserted.md");
}

/**
 * What the source said, so that the next upsert can tell its changes from ours. Written after the text: were it there
 * first, a kill between the two would make the changes look as if the plan had them and a person took them back.
 */
function upsertedNow(loom: Located, planId: string, said: string | undefined): NewFile[] {
  if (said === undefined) return [];
  return [{ path: upsertedFile(loom, planId), data: said, onWritten: () => crashPoint("upsert:kept") }];
}

type Creation = Extract<UpsertChange, { kind: "create" }>;

/** First the json, then the text, then the record: whatever a kill leaves is found by its source and completed. */
function createPlan(
  loom: Upserting,
  { source, meta, text }: Creation,
  said: string | undefined,
  files: NewFile[],
): string {
  refuseUnreadable(loom, source);
  const title = text === undefined ? undefined : parsePlan(text).title;
  const fallback = `${source.system}-${source.kind}-${source.id}`;
  const wanted = planIdFor({ source, fallback, ...(title === undefined ? {} : { title }) });
  const id = freeId(wanted, (candidate) => isTaken(loom, candidate, source));
  const paths = inboxOf(loom.paths, id);
  const data = `${JSON.stringify(meta, null, 2)}\n`;
  files.push({ path: paths.meta, data, onWritten: () => crashPoint("upsert:meta") });
  if (text !== undefined) files.push({ path: paths.text, data: text, onWritten: () => crashPoint("upsert:text") });
  takePlan(loom, lookOf({ id, hasText: text !== undefined, hasMeta: true, meta }), id);
  files.push(...upsertedNow(loom, id, said));
  return id;
}

/** A plan whose record cannot be read may be that of the source: a second one would do its work again. */
function refuseUnreadable({ store }: Records, source: PlanSource): void {
  const problem = store.problems.find(({ id }) => isIdOf(id, source));
  if (!problem) return;
  const hint = "Repair it, or move its folder away if the plan is not wanted any more; then run `prloom retry --all`.";
  throw new PrloomError("state-unreadable", `${problem.message} It is the plan of this source.`, hint);
}

/** Files without a record that name this very source are what a kill left of the same upsert. */
function isTaken(loom: Records & Intake, id: string, source: PlanSource): boolean {
  if (loom.store.byId(id) || loom.store.problems.some((problem) => problem.id === id)) return true;
  const entry = loom.inbox.look(id).entries.get(id);
  return entry !== undefined && !isDeepStrictEqual(entry.meta.source, source);
}

/** The text first: a plan must not be queued, and start, with the text it had before. */
function changePlan(
  loom: Upserting,
  change: Extract<UpsertChange, { kind: "change" }>,
  said: string | undefined,
  files: NewFile[],
): void {
  const { planId, where, fields, text } = change;
  const path = where === "inbox" ? inboxOf(loom.paths, planId).text : homeOf(loom.paths, planId).plan;
  if (text !== undefined) files.push({ path, data: text, onWritten: () => crashPoint("upsert:changed-text") });
  files.push(...upsertedNow(loom, planId, said));
  if (Object.keys(fields).length === 0) return;
  if (where === "inbox") changeInboxMeta(loom, planId, fields, (path, data) => files.push({ path, data }));
  else updateRecord(loom, planId, () => fields);
}
