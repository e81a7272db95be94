import type { Refused, ServerChange, ServerForge } from "../../forge/port.ts";
import { readTip } from "../../git/refs.ts";
import { resolveCommit } from "../../git/repository.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { draftOf } from "../acceptance/commit-todo.ts";
import { settleClosed } from "../stacking/closed-there.ts";
import { wakeAbove } from "../stacking/plans-above.ts";
import { changeSeen } from "./change-seen.ts";
import { backToDraft, isHeldBack, isToBeTakenBack } from "./held-back.ts";
import { describedAs, isToBeReady, type Level, missingOf, saidNow } from "./level.ts";
import { blockAsRefused, noteHead, notePublished, type PublishingAtWork } from "./note-published.ts";
import { pushHint, whyNotPushed } from "./push-refusals.ts";
import { takeOver } from "./take-over.ts";

/** Brings the server one thing nearer to what it is to have of a plan; false when it has everything, or may not get it. */
export async function publishNext(loom: PublishingAtWork, planId: string): Promise<boolean> {
  const record = loom.store.byId(planId);
  if (loom.forge.name === "local" || !record || record.deleted) return false;
  if (record.status === "done") return deleteMerged(loom, record);
  if (record.published?.closed) return settleClosed(loom, await loom.forge.server(), record);
  if (isToBeTakenBack(loom, record)) {
    await backToDraft(loom, record);
    return true;
  }
  const level = await levelOf(loom, record);
  // First on record: one that is found ready after a kill was marked by us.
  if (level?.ready && record.changeRequest && !record.published?.ready) notePublished(loom, planId, { ready: "asked" });
  const missing = level && missingOf(record, level);
  if (!level || missing === undefined) return false;
  const forge = await loom.forge.server();
  switch (missing) {
    case "take-over":
      return takeOver(loom, forge, record);
    case "push":
      return push(loom, forge, { record, level });
    case "open":
      return tell(loom, { record, level, outcome: await forge.open({ ...level.draft, sha: level.head }) });
    case "describe": {
      // Its change request has the base that it is to have after that.
      if (isLowerMerged(loom, record)) return false;
      const { changeRequest, published = {} } = record;
      const isReady = isToBeReady(published, level);
      const outcome = await forge.describe(changeRequest?.ref ?? "", saidNow(published, level.draft), isReady);
      return tell(loom, { record, level, outcome });
    }
  }
}

/** The plan that it is stacked on is being merged at this moment. */
function isLowerMerged({ store, occupancy }: PublishingAtWork, { stack }: PlanRecord): boolean {
  const lower = stack && store.get(stack.on);
  return lower !== undefined && occupancy.whoIsIn(lower.id).has("merge");
}

/** Undefined where there is nothing to publish, or what there is might be an agent's alone. */
async function levelOf(loom: PublishingAtWork, record: PlanRecord): Promise<Level | undefined> {
  const { branch, baseSha, status, blocked, paused, hidden, rebase, opened } = record;
  if (!branch || (status !== "active" && status !== "review")) return undefined;
  if (blocked?.cause === "forge" || paused || hidden || rebase || opened) return undefined;
  // Another one is opened for its own commits alone.
  if (record.behind?.why === "stack" && !record.changeRequest) return undefined;
  const head = await verifiedHead(loom, record);
  if (head === undefined || head === baseSha) return undefined;
  return { head, draft: draftOf(loom, record), ready: status === "review" && !isHeldBack(loom, record) };
}

/** While an agent is in the worktree the branch may be anything; then it is the commit that its work began at. */
async function verifiedHead(loom: PublishingAtWork, record: PlanRecord): Promise<string | undefined> {
  const { current, side, branch = "", id } = record;
  if (current && ["running", "ended", "verified"].includes(current.stage)) return current.baseSha;
  if (side) return side.baseSha;
  if (loom.occupancy.runsIn(id).length > 0) return undefined;
  const tip = readTip(loom.paths.commonDir, branch);
  return tip === undefined ? resolveCommit(loom.repo, `refs/heads/${branch}`) : tip === "absent" ? undefined : tip;
}

interface PublishingStep {
  readonly record: PlanRecord;
  readonly level: Level;
}

/** Unblocking it says yes to nothing. */
const UNASKED = { asked: undefined };

/** What is about to be pushed is on record first: found there after a kill, it is ours. */
async function push(loom: PublishingAtWork, forge: ServerForge, { record, level }: PublishingStep): Promise<boolean> {
  const { id, branch = "" } = record;
  const { head: sha } = level;
  const { published = {} } = record;
  const refusal = await whyNotPushed(loom, record, sha);
  if (loom.stopping) return false;
  // Unblocking it says yes to this commit.
  if (refusal) return blockAsRefused(loom, id, { ...refusal, published: { asked: sha } });
  notePublished(loom, id, { pushing: sha });
  loom.store.sync();
  crashPoint("server:pushing");
  const outcome = await pushKnown(forge, { branch, sha, expected: published.sha }, published.pushing);
  crashPoint("server:pushed");
  if (loom.stopping) return false;
  switch (outcome.kind) {
    case "pushed":
      noteHead(loom, id, { sha, now: forge.now() });
      wakeAbove(loom, record);
      loom.report({ planId: id, level: "info", text: `pushed ${sha.slice(0, 8)}` });
      return true;
    case "diverged":
      if (outcome.tip === undefined) {
        const reason = `The branch ${branch} was deleted on the server.`;
        const hint = `\`prloom delete ${id}\` ends the plan; to push it again: \`prloom unblock ${id}\`.`;
        return blockAsRefused(loom, id, {
          reason,
          hint,
          published: { sha: undefined, pushing: undefined, ...UNASKED },
        });
      }
      notePublished(loom, id, { theirs: outcome.tip });
      return true;
    case "refused":
      return blockAsRefused(loom, id, {
        reason: `The push was refused: ${outcome.reason}`,
        hint: pushHint(id, outcome.mayNotWrite),
        published: UNASKED,
      });
    case "failed":
      throw new Error(outcome.reason);
  }
}

/** A push of ours whose outcome was lost may be what is there. */
async function pushKnown(
  forge: ServerForge,
  pushed: Parameters<ServerForge["push"]>[0],
  before: string | undefined,
): ReturnType<ServerForge["push"]> {
  const outcome = await forge.push(pushed);
  if (outcome.kind !== "diverged" || before === undefined || outcome.tip !== before) return outcome;
  return forge.push({ ...pushed, expected: before });
}

/** What the server says to the change request that it was given. */
function tell(
  loom: PublishingAtWork,
  { record, level, outcome }: PublishingStep & { readonly outcome: ServerChange | Refused },
): boolean {
  const { id } = record;
  crashPoint("server:told");
  if (loom.stopping) return false;
  if ("refused" in outcome) {
    const reason = `The change request was refused: ${outcome.refused}`;
    const hint = `Change that on the server, then run \`prloom unblock ${id}\`.`;
    return blockAsRefused(loom, id, { reason, hint, published: UNASKED });
  }
  if (!record.changeRequest) loom.report({ planId: id, level: "good", text: `change request: ${outcome.url}` });
  notePublished(loom, id, { ...describedAs(level.draft), ...(level.ready && outcome.ready ? { ready: "given" } : {}) });
  changeSeen(loom, id, outcome);
  wakeAbove(loom, record);
  // One that was marked ready and is not would be asked for without end.
  const isAsked = record.changeRequest && isToBeReady(record.published ?? {}, level);
  const isStillDraft = isAsked && !outcome.ready && outcome.state === "open";
  if (isStillDraft) throw new Error("it is not marked ready yet");
  return true;
}

/** After a merge: the branch was ours, and GitHub keeps what was on it with the pull request. */
async function deleteMerged(loom: PublishingAtWork, record: PlanRecord): Promise<boolean> {
  const { outcome, published = {}, branch = "" } = record;
  // A push after a person's merge is not in it, and one whose answer was lost may be.
  const sha = published.merged ?? published.sha;
  if (outcome !== "merged" || sha === undefined || published.deleted) return false;
  if (loom.forge.name === "local" || loom.config.github?.deleteBranch !== true) return false;
  await (await loom.forge.server()).deleteBranch(branch, { sha, instead: record.baseBranch ?? "" });
  crashPoint("server:deleted");
  notePublished(loom, record.id, { deleted: true });
  return false;
}
