import { isDeepStrictEqual } from "node:util";
import type { Payload } from "../../bus/types.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { headingsLeft, planFromIssue } from "../../plan/checklists/as-plan.ts";
import { readChecklist } from "../../plan/checklists/checklist.ts";
import { withLabelsApart } from "../../plan/checklists/labels-apart.ts";
import { withoutTasklistFences } from "../../plan/checklists/tasklists.ts";
import { ensureTitle } from "../../plan/edit-plan.ts";
import { hasTodoSection, parsePlan } from "../../plan/markdown/markdown.ts";
import { MAX_TEXT_BYTES } from "../../plan/markdown/size-limits.ts";
import { visibleText } from "../../plan/markdown/visible.ts";
import { type InboxMeta, type PlanRecord, type PlanSource, planSourceSchema } from "../../plan/record.ts";
import { mergeUpsert, retitled } from "../../plan/upserts/merge-upsert.ts";

/** An upsert as it lies on the bus: its source is not checked yet. */
export type RawUpsert = Extract<Payload, { type: "upsert_plan" }>;

/** What the decision needs to know about the plan that the source has now. */
export interface UpsertView {
  /** Absent: no plan has this source, or the one that had it was deleted. */
  readonly record?: PlanRecord;
  /** Absent: the plan has no text yet. */
  readonly text?: string;
  /** What the source said at the last upsert that was applied; absent: not known. */
  readonly upserted?: string;
  /** An agent works on the plan at this moment. */
  readonly running: boolean;
}

/** What an upsert may change besides the text; absent is unchanged. */
export interface FieldChanges {
  readonly status?: "queued";
  readonly hidden?: boolean;
  readonly metadata?: Record<string, unknown>;
}

export type UpsertChange =
  | { readonly kind: "create"; readonly source: PlanSource; readonly meta: InboxMeta; readonly text?: string }
  | {
      readonly kind: "change";
      readonly planId: string;
      /** Whether the inbox files or the plan's home say what is true. */
      readonly where: "inbox" | "home";
      readonly fields: FieldChanges;
      readonly text?: string;
      /** Headings below which there are tasks that became no TODOs. */
      readonly headingsLeft?: readonly string[];
    }
  | { readonly kind: "unchanged" | "busy"; readonly planId: string }
  /** The source has no open plan, and gets none; or it has one, which is to stay as it is. */
  | { readonly kind: "none" }
  | { readonly kind: "refused"; readonly reason: string };

const MAX_META_BYTES = 64 * 1024;

/** What an upsert does to the plan in the state it is in, as a table. */
export function decideUpsert(view: UpsertView, payload: RawUpsert): UpsertChange {
  const problem = problemIn(payload);
  const source = sourceOf(payload);
  if (problem !== undefined || !source) return { kind: "refused", reason: problem ?? "its source is incomplete" };
  try {
    const { record } = view;
    if (!record || record.deleted || record.status === "done")
      return payload.create === false ? { kind: "none" } : create(source, payload);
    if (payload.change === false) return { kind: "none" };
    return isBeingWorkedOn(record, view.running) ? { kind: "busy", planId: record.id } : change(record, view, payload);
  } catch (error) {
    if (error instanceof PrloomError && error.code === "plan-invalid")
      return { kind: "refused", reason: error.message };
    throw error;
  }
}

/** The outside identity, when the payload has a whole one. */
export function sourceOf(payload: RawUpsert): PlanSource | undefined {
  const source = planSourceSchema.safeParse(payload.source);
  return source.success ? source.data : undefined;
}

/** Names the field, so that the author of the bridge finds it. */
function problemIn(payload: RawUpsert): string | undefined {
  const source = planSourceSchema.safeParse(payload.source);
  if (!source.success) {
    const [issue] = source.error.issues;
    const field = ["source", ...(issue?.path ?? [])].join(".");
    return `upsert_plan needs a whole source {system, kind, id}: ${field}: ${issue?.message}`;
  }
  const status: unknown = payload.status;
  if (status !== undefined && status !== "draft" && status !== "queued") {
    return `upsert_plan cannot set the status ${JSON.stringify(status)}: only "draft" and "queued" can be asked for`;
  }
  if (Buffer.byteLength(payload.planMarkdown ?? "") > MAX_TEXT_BYTES) {
    return `planMarkdown is larger than ${MAX_TEXT_BYTES / 1024} KB`;
  }
  if (Buffer.byteLength(payload.base ?? "") > MAX_TEXT_BYTES) return `base is larger than ${MAX_TEXT_BYTES / 1024} KB`;
  const [text, base] = [payload.planMarkdown, payload.base].map((part) => parsePlan(part ?? "").tooLarge);
  if (text !== undefined) return `planMarkdown cannot be a plan. ${text}`;
  return base === undefined ? undefined : `base cannot be a plan. ${base}`;
}

/** A run reads the text at its start and reports against it at its end; in between the text stays. */
export function isBeingWorkedOn({ current, side, blocked, paused, hidden }: PlanRecord, running: boolean): boolean {
  if (running) return true;
  if (blocked) return false;
  // Beyond the run a TODO goes on to its end, paused or not.
  if (current && current.stage !== "running") return true;
  return !paused && !hidden && (current ?? side) !== undefined;
}

function create(source: PlanSource, payload: RawUpsert): UpsertChange {
  if (isDoneAlready(bodyOf(payload.planMarkdown ?? "")))
    return { kind: "refused", reason: "every task in its text is ticked: there is nothing to do" };
  const text = textFor(undefined, payload) ?? "";
  const meta: InboxMeta = {
    status: payload.status ?? "draft",
    hidden: payload.hidden ?? false,
    source,
    ...(payload.metadata === undefined ? {} : { metadata: payload.metadata }),
  };
  return tooLarge(meta, text) ?? { kind: "create", source, meta, ...(isBlank(text) ? {} : { text }) };
}

/** What a source says, as it is read: nothing in it drives a terminal, and tasks are not code. */
function bodyOf(planMarkdown: string): string {
  return withLabelsApart(withoutTasklistFences(visibleText(planMarkdown)));
}

/** An issue, not a plan that says itself what its TODOs are. */
function isDoneAlready(text: string): boolean {
  return planFromIssue(text) !== text && parsePlan(planFromIssue(text)).todos.every(({ state }) => state === "done");
}

function change(record: PlanRecord, view: UpsertView, payload: RawUpsert): UpsertChange {
  const where = isInInbox(record) ? "inbox" : "home";
  const { text: current } = view;
  if (!isInInbox(record) && isNoLongerClear(view, payload)) {
    return { kind: "refused", reason: "it is no longer clear which checkboxes of its text are to be done" };
  }
  const text = changedText(record, view, payload);
  const fields = fieldChanges(record, payload);
  const isTextSame = text === undefined || text === current || isBlank(text);
  if (isTextSame && Object.keys(fields).length === 0) return { kind: "unchanged", planId: record.id };
  const { status, hidden, source, metadata } = record;
  const problem = tooLarge({ status, hidden, source, metadata, ...fields }, where === "inbox" ? (text ?? "") : "");
  const left = headingsLeft(bodyOf(payload.planMarkdown ?? ""), view.upserted ?? "");
  return (
    problem ?? {
      kind: "change",
      planId: record.id,
      where,
      fields,
      ...(isTextSame ? {} : { text }),
      ...(left.length === 0 ? {} : { headingsLeft: left }),
    }
  );
}

/** Its open TODOs would go, and a plan of which some are done would pass for done. */
function isNoLongerClear({ upserted = "" }: UpsertView, { planMarkdown }: RawUpsert): boolean {
  if (planMarkdown === undefined || parsePlan(upserted).todos.length === 0) return false;
  const text = bodyOf(planMarkdown);
  if (planFromIssue(text, upserted) !== text || hasTodoSection(parsePlan(text))) return false;
  return readChecklist(text).kind === "unclear";
}

function isInInbox({ status }: PlanRecord): boolean {
  return status === "draft" || status === "queued";
}

/** In the inbox the text is replaced, unless a person changed it since the source last said something. */
function changedText(record: PlanRecord, view: UpsertView, payload: RawUpsert): string | undefined {
  const { text: current, upserted } = view;
  const given = payload.base === undefined ? upserted : planFromIssue(bodyOf(payload.base), upserted);
  const wanted = textFor(current, payload, given);
  if (current === undefined || wanted === undefined) return wanted;
  // A title alone is put into the text that is there: nothing is absent from it.
  const base = payload.planMarkdown === undefined || given === undefined ? undefined : planFromIssue(given);
  if (isInInbox(record) && (base === undefined || base === current)) return wanted;
  return mergeUpsert(current, wanted, base);
}

/**
 * What the source says with this upsert: the base of the next merge, to be kept when this one is applied. Absent: it
 * says no more than was known.
 */
export function saidBy(view: Omit<UpsertView, "running">, payload: RawUpsert): string | undefined {
  const { record, text, upserted } = view;
  const isNew = !record || record.deleted !== undefined || record.status === "done";
  const known = isNew ? undefined : upserted;
  let said = textFor(isNew ? undefined : text, payload, known);
  if (payload.planMarkdown === undefined && !isNew) {
    // The rest of that text is ours, and not what the source said.
    said = known === undefined || payload.title === undefined ? undefined : retitled(known, payload.title);
  }
  return said === undefined || isBlank(said) || said === known ? undefined : said;
}

/** The text as the payload wants it; undefined when it says nothing about it. A title that is not given stays. */
function textFor(current: string | undefined, payload: RawUpsert, before?: string): string | undefined {
  const { planMarkdown, title } = payload;
  const known = current === undefined ? undefined : parsePlan(current).title;
  if (planMarkdown !== undefined) return withTitle(planFromIssue(bodyOf(planMarkdown), before), title ?? known);
  if (title === undefined) return undefined;
  return known === undefined ? withTitle(current ?? "", title) : retitled(current ?? "", title);
}

function withTitle(text: string, title: string | undefined): string {
  return title === undefined ? text : ensureTitle(text, title);
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

/** The status only ever goes from draft to queued; metadata is merged key by key. */
function fieldChanges(record: PlanRecord, payload: RawUpsert): FieldChanges {
  const { metadata: before } = record;
  const metadata = { ...before, ...payload.metadata, ...keptGates(before.gates, payload.metadata?.gates) };
  return {
    ...(record.status === "draft" && payload.status === "queued" ? { status: "queued" as const } : {}),
    ...(payload.hidden === undefined || payload.hidden === record.hidden ? {} : { hidden: payload.hidden }),
    ...(isDeepStrictEqual(metadata, record.metadata) ? {} : { metadata }),
  };
}

/** Gates are only ever switched on: a source does not take back that a person is asked. */
function keptGates(before: unknown, wanted: unknown): { readonly gates?: unknown } {
  if (typeof before !== "object" || before === null) return {};
  return typeof (wanted ?? {}) === "object" ? { gates: { ...before, ...(wanted ?? {}) } } : {};
}

function tooLarge(meta: object, text: string): UpsertChange | undefined {
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES) {
    return { kind: "refused", reason: `the plan's text would be larger than ${MAX_TEXT_BYTES / 1024} KB` };
  }
  if (Buffer.byteLength(JSON.stringify(meta, null, 2)) >= MAX_META_BYTES) {
    return { kind: "refused", reason: `metadata would be larger than ${MAX_META_BYTES / 1024} KB` };
  }
  return undefined;
}
