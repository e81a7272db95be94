import type { AskedServerMerge, Forge, ServerMerge } from "../../../forge/port.ts";
import type { MergeMethod } from "../../../git/merge-method.ts";
import { branchTip } from "../../../git/repository.ts";
import { crashPoint } from "../../../kernel/crash-point.ts";
import { messageOf, PrloomError } from "../../../kernel/errors.ts";
import type { PlanRecord } from "../../../plan/record.ts";
import type { Located } from "../../paths.ts";
import { unreachable } from "../../publishing/base.ts";
import type { Records } from "../../records.ts";
import { retargetAbove } from "../../stacking/plans-above.ts";

type ServerForgeName = Exclude<Forge, { name: "local" }>;

interface Asked {
  readonly record: PlanRecord;
  readonly wanted: Wanted;
  /** Called in the last moment; throws where it is not wanted any more. */
  confirm(): void;
}

interface Wanted {
  readonly force: boolean;
  readonly method?: MergeMethod | undefined;
  /** The commit that was reviewed; the newest that is published unless told. */
  readonly sha?: string | undefined;
}

/** Has the server merge exactly what was reviewed; nothing is merged here. */
export async function mergeAtServer(
  loom: Located & Records,
  forge: ServerForgeName,
  { record, wanted, confirm }: Asked,
): Promise<Extract<ServerMerge, { kind: "merged" | "queued" }>> {
  const { id, changeRequest, published } = record;
  const head = await branchTip(loom.repo, record.branch ?? "");
  // Of one that a person made a draft again, GitHub tells by itself.
  const isReady = changeRequest?.ready || published?.ready === "given";
  const isThere = isReady && published?.sha !== undefined && published.sha === head;
  if (!changeRequest || !isThere) {
    const why = published?.trouble === undefined ? "" : `: ${published.trouble}`;
    const hint = `\`prloom start --until-idle\` publishes it; then run \`prloom merge ${id}\` again.`;
    throw new PrloomError("plan-state", `${id} is not yet published${why}.`, hint);
  }
  const sha = wanted.sha ?? published.sha ?? "";
  const before = async () => retargetAbove(loom, await forge.server(), record);
  const base = record.baseBranch ?? "";
  const outcome = await asked(forge, { id, ref: changeRequest.ref }, { ...wanted, sha, base, confirm, before });
  if (outcome.kind === "refused") {
    const hint = `${changeRequest.url ?? "The pull request"} tells more; then run \`prloom merge ${id}\` again.`;
    throw new PrloomError("forge-refused", `GitHub does not merge ${id}: ${outcome.reason}`, hint);
  }
  if (outcome.kind === "moved-on") {
    const message = `${id} has other commits on GitHub than ${sha.slice(0, 8)}, which is what was to be merged.`;
    throw new PrloomError("forge-refused", message, "Review it again, then merge it.");
  }
  crashPoint("server:merged");
  return outcome;
}

/** By a person, before the newest was there: the plan is done, and what was not merged is told. */
export function mergedBefore(
  { id, branch }: PlanRecord,
  { merged, sha }: { readonly merged: string; readonly sha: string },
): PrloomError {
  const message = `The pull request of ${id} was merged at ${merged.slice(0, 8)} before: ${sha.slice(0, 8)}, which was to be merged, is not in it.`;
  const hint = `The plan is done. Its branch ${branch} stays, here and on GitHub: bring the rest in with another pull request, or delete it.`;
  return new PrloomError("forge-refused", message, hint);
}

async function asked(
  forge: ServerForgeName,
  { id, ref }: { readonly id: string; readonly ref: string },
  wanted: AskedServerMerge,
): Promise<ServerMerge> {
  try {
    return await (await forge.server()).merge(ref, wanted);
  } catch (error) {
    if (error instanceof PrloomError) throw error;
    throw unreachable(messageOf(error), `Run \`prloom merge ${id}\` again: it looks first whether it is merged.`);
  }
}
