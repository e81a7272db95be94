import * as z from "zod";
import { PERMISSIONS } from "../../bus/author.ts";
import type { Limits } from "../../config/config.ts";
import { counted } from "../../kernel/text/words.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { RawUpsert } from "./upsert.ts";

/** In a plan's metadata: who opened what it comes from, if that person may not write. */
export const OPENED_BY = "openedBy";
/** In a plan's metadata: why it was not queued, for people. It counts while the plan is a draft. */
export const DRAFT_BECAUSE = "draftBecause";

const personSchema = z.object({ id: z.string().min(1), login: z.string().min(1) });
/** `context.opener` of an event. */
export const openerSchema = personSchema.extend({ permission: z.enum(PERMISSIONS) });

/** What counts of a plan that is neither done nor a draft. */
export type PlanUnderWay = Pick<PlanRecord, "source" | "metadata" | "spent">;

/** Whether this upsert queues something that a person who may not write has opened: then `limitedPerSource` decides. */
export function isLimitedPerSource(record: PlanRecord | undefined, { status, metadata }: RawUpsert): boolean {
  const isQueuedNow = !record || record.deleted !== undefined || record.status === "done" || record.status === "draft";
  return status === "queued" && isQueuedNow && personSchema.safeParse(metadata?.[OPENED_BY]).success;
}

/** Pure: the upsert as it may be made beside the plans that are under way. What is too much stays a draft, and says why. */
export function limitedPerSource(
  payload: RawUpsert,
  underWay: readonly PlanUnderWay[],
  { plans, usd }: Limits["perSource"],
): RawUpsert {
  const { login, id } = personSchema.parse(payload.metadata?.[OPENED_BY]);
  const theirs = underWay.filter(
    ({ source, metadata }) =>
      source?.system === payload.source.system && personSchema.safeParse(metadata[OPENED_BY]).data?.id === id,
  );
  const spent = theirs.reduce((sum, plan) => sum + (plan.spent?.usd ?? 0), 0);
  const isOver = theirs.length >= plans || (usd !== undefined && spent >= usd);
  if (!isOver) return payload;
  const reason =
    theirs.length >= plans
      ? `${login} may not write and has ${counted(theirs.length, "plan")} under way (limits.perSource.plans is ${plans})`
      : `${login} may not write and has plans under way that spent $${spent.toFixed(2)} (limits.perSource.usd is ${usd})`;
  const { status: _, ...draft } = payload;
  return { ...draft, metadata: { ...payload.metadata, [DRAFT_BECAUSE]: reason } };
}

/** Why a plan is a draft, if its source was to be worked on. */
export function draftBecause({ status, metadata }: Pick<PlanRecord, "status" | "metadata">): string | undefined {
  const reason = metadata[DRAFT_BECAUSE];
  return status === "draft" && typeof reason === "string" ? reason : undefined;
}
