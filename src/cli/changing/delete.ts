import * as z from "zod";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import { type PlanDetail, readPlanDetail } from "../../dispatcher/report/read.ts";
import { branchExists, openRepository } from "../../git/repository.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { counted } from "../../kernel/text/words.ts";
import type { Call } from "../output.ts";
import { reading, refuseInsideRun, suggesting } from "../plans.ts";
import { visible } from "../render/safe-text.ts";
import { errorData, errorLines } from "../report-error.ts";

const resultSchema = z.object({ left: z.array(z.string()), kept: z.string().optional(), text: z.string().optional() });

export interface DeleteOptions {
  readonly yes?: boolean;
  readonly branch?: boolean;
}

/** Takes plans away; asks first in a terminal. One that cannot be deleted does not keep the others from it. */
export async function deleteCommand(call: Call, plans: readonly string[], options: DeleteOptions): Promise<number> {
  refuseInsideRun(call);
  const [only, ...others] = new Set(plans);
  if (only !== undefined && others.length === 0) {
    const deleted = await deletePlan(call, only, options);
    if (deleted) call.output.data(deleted);
    return 0;
  }
  const deleted: object[] = [];
  const failed: { plan: string; error: ReturnType<typeof errorData> }[] = [];
  for (const plan of new Set(plans)) {
    try {
      deleted.push((await deletePlan(call, plan, options)) ?? []);
    } catch (error) {
      failed.push({ plan, error: errorData(error) });
      call.output.note(errorLines(error, ["delete", ...plans]).join("\n"));
    }
  }
  call.output.data({ deleted: deleted.flat(), failed });
  return failed.length === 0 ? 0 : 1;
}

/** What was deleted and what is left; undefined when the person did not want it. */
async function deletePlan(call: Call, plan: string, options: DeleteOptions): Promise<object | undefined> {
  const { output } = call;
  const withBranch = options.branch === true;
  if (!options.yes && !(await agreed(call, await detailOf(call, plan), withBranch))) {
    output.line("Nothing was deleted.");
    return undefined;
  }
  // The record alone: a plan goes whatever is wrong with its other files.
  const branch = await reading(call, async (loom) => loom.store.byId(plan)?.branch);
  const ask = () => callOwner(call.cwd, "delete", { plan, branch: withBranch });
  const { left, kept: patch, text } = resultSchema.parse(await suggesting(call, plan, ask));
  // Looked up and not assumed: git keeps a branch that is checked out somewhere.
  const kept = branch !== undefined && (await branchExists(await openRepository(call.cwd), branch));
  output.line(
    `deleted ${plan}.${branch === undefined ? "" : ` Its branch ${branch} is ${kept ? "still there" : "gone, too"}.`}`,
  );
  if (kept && withBranch) output.line(`  hint: \`git branch -D ${branch}\` says why.`);
  if (patch !== undefined) output.line(`  kept: what it had in no commit, in ${visible(patch)} (for \`git apply\`)`);
  if (text !== undefined) output.line(`  kept: its text, in ${visible(text)}`);
  for (const problem of left) output.line(`  could not be removed: ${visible(problem)}`);
  if (left.length > 0) output.line("  hint: look at it, then run `prloom clean`.");
  return {
    plan,
    left,
    ...(patch === undefined ? {} : { kept: patch }),
    ...(text === undefined ? {} : { text }),
    ...(branch === undefined ? {} : { branch, branchDeleted: withBranch && !kept }),
  };
}

function detailOf(call: Call, plan: string): Promise<PlanDetail> {
  return suggesting(call, plan, () => reading(call, (loom) => readPlanDetail(loom, plan)));
}

/** What deleting takes away and what it leaves, for the user to decide. */
function consequences({ record, runs, commits }: PlanDetail, withBranch: boolean): string {
  if (record.inInbox) return "Its text is kept in its records; no work on it has begun.";
  const { branch } = record;
  const going = [
    ...(runs.some((run) => run.state === "working") ? ["the agent that works on it is ended"] : []),
    ...(record.worktreeReady ? ["its worktree goes, with everything in it that is not committed"] : []),
    ...(branch !== undefined && withBranch
      ? [`its branch ${branch} goes, with ${counted(commits.length, "commit")}`]
      : []),
  ];
  const staying = [
    ...(branch !== undefined && !withBranch ? [`its branch ${branch} with ${counted(commits.length, "commit")}`] : []),
    "its records under .git/prloom",
  ];
  const gone = going.length === 0 ? "" : `${going.join("; ")}. `;
  return `${gone}${staying.join(" and ")} stay.`.replace(/(^|\. )[a-z]/g, (start) => start.toUpperCase());
}

async function agreed(call: Call, detail: PlanDetail, withBranch: boolean): Promise<boolean> {
  const { id, inInbox } = detail.record;
  if (call.output.terminal && process.stdin.isTTY) {
    const { confirm, isCancel } = await import("../prompts.ts");
    const answer = await confirm({
      message: `Delete ${id}? ${consequences(detail, withBranch)}`,
      initialValue: false,
    });
    return !isCancel(answer) && answer;
  }
  if (inInbox) return true;
  throw new PrloomError(
    "usage",
    `Work on ${id} has begun, and there is no terminal to ask whether to delete it.`,
    `${consequences(detail, withBranch)} If you mean it: prloom delete ${id} --yes${withBranch ? " --branch" : ""}`,
  );
}
