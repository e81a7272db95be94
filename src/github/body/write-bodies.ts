import { createHash } from "node:crypto";
import * as z from "zod";
import type { BridgeContext } from "../../bridges/contract.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { PlanSummary } from "../../plan/plan-types.ts";
import type { Outcome } from "../client/outcome.ts";
import type { RepositoryCalls } from "../repository.ts";
import { SYSTEM } from "../tracker/tracker.ts";
import { peoplesPart, planPart, withPlanPart } from "./issue-part.ts";
import type { OwnEdits } from "./own-edits.ts";

/** By the numbers of issues: which text of the plan was written there, and when the issue was. */
export type WrittenBodies = Readonly<Record<string, { readonly sha256: string; readonly at: readonly string[] }>>;

export interface Writing {
  readonly repository: RepositoryCalls;
  readonly ctx: Pick<BridgeContext, "listPlans" | "readPlan" | "log">;
  readonly ownEdits: OwnEdits;
}

/** More are not written at once: a poll has a deadline. */
const MAX_WRITES = 10;
/** GitHub does not tell of more edits than that. */
const MAX_TIMES = 100;

/**
 * Brings the texts of issues up to date with their plans. What an issue says is read right before it is written, and nothing is
 * written where it says that already: so whatever a kill left out or did not record is made up for by the next look.
 */
export async function writeBodies(writing: Writing, before: WrittenBodies): Promise<WrittenBodies> {
  const after: Record<string, WrittenBodies[string]> = {};
  let left = MAX_WRITES;
  for (const [number, { planId, status }] of await plansByIssue(writing, before)) {
    const known = before[number];
    if (known) after[number] = known;
    const text = (await writing.ctx.readPlan(planId))?.content;
    const sha256 = createHash("sha256")
      .update(text ?? "")
      .digest("hex");
    if (text === undefined || known?.sha256 === sha256) {
      // Nothing more comes of a plan that is done.
      if (status === "done") delete after[number];
      continue;
    }
    if (left === 0) continue;
    left -= 1;
    const written = await writing.repository.client.countFor(planId, () => write(writing, number, { planId, text }));
    if (written === "later") {
      // A GitHub that does not answer now is not asked for each of them.
      left = 0;
      continue;
    }
    const at = [...(known?.at ?? []), ...(written.at === undefined ? [] : [written.at])].slice(-MAX_TIMES);
    after[number] = { sha256, at };
    writing.ownEdits.know(Number(number), at);
  }
  return after;
}

const WORKED_ON = ["queued", "active", "triaging", "review", "done"] as const;

/** Drafts are not written: a person has still to ask for them. Of those that are done only what was written before is brought to its end. */
async function plansByIssue(
  { repository, ctx }: Writing,
  before: WrittenBodies,
): Promise<ReadonlyMap<string, PlanSummary>> {
  const plans = (await ctx.listPlans({ status: WORKED_ON })).flatMap((plan) => {
    const [id, number = ""] = plan.source?.system === SYSTEM ? plan.source.id.split("#") : [];
    const isWanted = !plan.hidden && (plan.status !== "done" || before[number] !== undefined);
    return id === String(repository.id) && isWanted ? [[number, plan] as const] : [];
  });
  // An issue may have an older plan that is done.
  return new Map(
    plans.toSorted(([, one], [, other]) => Number(one.status !== "done") - Number(other.status !== "done")),
  );
}

const issueSchema = z.object({ body: z.string().nullish(), updated_at: z.string() });

/** `later`: it is tried again with the next look. Without a time nothing was written, and it is not tried before the plan changes. */
async function write(
  { repository, ctx }: Writing,
  number: string,
  { planId, text }: { readonly planId: string; readonly text: string },
): Promise<"later" | { readonly at?: string }> {
  const path = `/issues/${number}`;
  const given = (why: string): { readonly at?: string } => {
    ctx.log.warn(`the plan ${planId} is not written to #${number}: ${why}`);
    return {};
  };
  const found = await repository.get(path);
  if (found.kind !== "ok") return isOver(found) ? given(reasonOf(found)) : "later";
  const { body, updated_at: seenAt } = issueSchema.parse(found.data);
  const seen = body ?? "";
  const next = withPlanPart(seen, planPart(planId, text, peoplesPart(seen)));
  if ("problem" in next) return given(next.problem);
  // As after a kill between the two: then it was ours.
  if (next.body === seen) return { at: seenAt };
  const sent = await repository.send("PATCH", path, { body: { body: next.body } });
  if (sent.kind !== "ok") return isOver(sent) ? given(reasonOf(sent)) : "later";
  crashPoint("server:body");
  return { at: issueSchema.parse(sent.data).updated_at };
}

/** Whether asking again would bring the same. */
const isOver = ({ kind }: Outcome): boolean =>
  kind === "not-found" || kind === "deleted" || kind === "moved" || kind === "refused";

const reasonOf = (outcome: Outcome): string =>
  "reason" in outcome ? `GitHub says ${outcome.reason}` : "the issue was moved to another repository";
