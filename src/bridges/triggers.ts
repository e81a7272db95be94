import { hasWritePermission } from "../bus/author.ts";
import { CORE_TARGET } from "../bus/names.ts";
import type { BusEvent } from "../bus/types.ts";
import type { Trigger } from "../config/schema/trigger-schema.ts";
import type { NewAction, UpsertPayload } from "../hooks/contexts/event-types.ts";
import { type PlanSource, planSourceSchema } from "../plan/record.ts";
import { DRAFT_BECAUSE, OPENED_BY, openerSchema } from "./core/per-source.ts";

type Context = Readonly<Record<string, unknown>>;

function sourceIn({ source }: Context): PlanSource | undefined {
  if (typeof source !== "object" || source === null) return undefined;
  const { system, kind, id } = source as Context;
  return planSourceSchema.safeParse({ system, kind, id }).data;
}

/** Trackers do not tell case apart in these names, so a trigger that does would never fire for half of its users. */
const folded = (name: unknown) => (typeof name === "string" ? name.trim().toLowerCase() : undefined);

function names(wanted: string | undefined, values: readonly unknown[]): boolean {
  return wanted === undefined || values.some((value) => folded(value) === folded(wanted));
}

/** What the event is about; only when it is about no single one, all that there are. */
function oneOrAll(one: unknown, all: unknown): readonly unknown[] {
  if (one !== undefined) return [one];
  return Array.isArray(all) ? all : [];
}

function fits(trigger: Trigger, event: BusEvent, context: Context): boolean {
  return (
    trigger.on === event.type &&
    names(trigger.repo, [context.repo, ...oneOrAll(undefined, context.repos)]) &&
    names(trigger.project, [context.project]) &&
    names(trigger.column, [context.column]) &&
    names(trigger.label, oneOrAll(context.label, context.labels)) &&
    names(trigger.assignee, oneOrAll(context.assignee, context.assignees))
  );
}

/** An issue that has a plan says something else now. It makes none. */
export const ISSUE_EDITED = "issue.edited";

/** Whether a source has a plan: one to work on, or one that is done. */
export type PlanOf = (source: PlanSource) => "open" | "done" | undefined;

/** What the config's `triggers` make of an event: nothing, or one plan. The first that fits decides. */
export function triggered(triggers: readonly Trigger[], event: BusEvent, planOf: PlanOf): NewAction[] {
  const { context = {} } = event;
  const source = sourceIn(context);
  const trigger = triggers.find((one) => fits(one, event, context));
  if (source === undefined) return [];
  if (event.type === ISSUE_EDITED) return planOf(source) === "open" ? [upsertOf(event, source, {})] : [];
  if (trigger === undefined) return [];
  // There is one plan for a source: what happens to an issue after its plan is done makes no other.
  if (planOf(source) === "done") return [];
  // What a stranger wrote after the person looked, or may have caused, replaces nothing that a person agreed to.
  const doubt = context.rewritten === true ? REWRITTEN : context.unvouched === true ? UNVOUCHED : undefined;
  if (doubt !== undefined && planOf(source) === "open") return [];
  const metadata = {
    ...(trigger.preset === undefined ? {} : { preset: trigger.preset }),
    ...openedByStranger(context),
    // A person has to look at the text before it is worked on.
    ...(doubt === undefined ? {} : { [DRAFT_BECAUSE]: doubt }),
  };
  return [
    upsertOf(event, source, {
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      // Its plan may be there by the time that this is its turn.
      ...(doubt !== undefined ? { change: false } : trigger.do === "queue" ? { status: "queued" as const } : {}),
    }),
  ];
}

const REWRITTEN = "a person who may not write changed the text before it was read";
const UNVOUCHED = "it was moved on a board, which does not tell by whom";

/** Of those who may not write, not more than so many plans are under way: `limits.perSource`. */
function openedByStranger({ opener }: Context): Context {
  const { data } = openerSchema.safeParse(opener);
  return data && !hasWritePermission(data) ? { [OPENED_BY]: { id: data.id, login: data.login } } : {};
}

function upsertOf(event: BusEvent, source: PlanSource, more: Partial<UpsertPayload>): NewAction {
  const payload: UpsertPayload = {
    type: "upsert_plan",
    source,
    // What is empty is left out: an upsert that says nothing about a field changes nothing.
    ...(event.title.trim() === "" ? {} : { title: event.title }),
    ...(event.body.trim() === "" ? {} : { planMarkdown: event.body }),
    // Its plan may be done by the time that this is its turn.
    ...(event.type === ISSUE_EDITED ? { create: false } : {}),
    ...more,
  };
  return { target: { target: CORE_TARGET }, payload, relatedEventId: event.id };
}
