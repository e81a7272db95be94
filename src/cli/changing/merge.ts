import * as z from "zod";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import { MERGE_METHODS, type MergeMethod } from "../../git/merge-method.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Call } from "../output.ts";
import { refuseInsideRun, suggesting } from "../plans.ts";
import { visible } from "../render/safe-text.ts";

const resultSchema = z.object({
  sha: z.string().optional(),
  queued: z.literal(true).optional(),
  base: z.string(),
  method: z.enum(MERGE_METHODS),
  left: z.array(z.string()).default([]),
  kept: z.string().optional(),
  uncommitted: z.string().optional(),
  aside: z.string().optional(),
  unsafe: z.string().optional(),
  undelivered: z.array(z.object({ author: z.string(), text: z.string() })).default([]),
});

type Merged = z.infer<typeof resultSchema>;

export interface MergeFlags {
  readonly force?: boolean;
  readonly squash?: boolean;
  readonly merge?: boolean;
  readonly rebase?: boolean;
  readonly deleteBranch?: boolean;
}

/** What base gets, by method. */
const BECAME: Readonly<Record<MergeMethod, string>> = {
  squash: "as one commit (`--merge` and `--rebase` keep the commit of each TODO)",
  merge: "with a merge commit",
  rebase: "commit by commit",
};

const LONG_MS = 2000;

/** A person who waits for long should know what for. */
async function sayingWhy<T>({ output }: Call, merged: Promise<T>): Promise<T> {
  const why = "Merging: `checks` run first on what the base gets, unless they have passed on exactly that.";
  const timer = setTimeout(() => output.json || output.note(why), LONG_MS);
  try {
    return await merged;
  } finally {
    clearTimeout(timer);
  }
}

/** Merges a reviewed plan and says where its commits are now. */
export async function merge(call: Call, plan: string, options: MergeFlags): Promise<number> {
  refuseInsideRun(call);
  const { output } = call;
  const args = {
    plan,
    force: options.force === true,
    deleteBranch: options.deleteBranch === true,
    ...methodOf(options),
  };
  const { sha, queued, base, method, undelivered, left, ...rest } = resultSchema.parse(
    await suggesting(call, plan, () => sayingWhy(call, callOwner(call.cwd, "merge", args))),
  );
  if (queued) {
    output.line(`${plan} is in the merge queue of ${base}: GitHub merges it when its turn comes.`);
    output.data({ plan, base, queued, method });
    return 0;
  }
  output.line(
    sha === undefined
      ? `${plan} was in ${base} already; it is done now.`
      : `${output.paint("green", "merged")} ${plan} into ${base}: ${sha.slice(0, 12)}, ${BECAME[method]}`,
  );
  if (rest.unsafe !== undefined)
    output.line(
      `${output.paint("yellow", "careful")}: with what ${base} has now, ${visible(rest.unsafe)}. Rename one of these, unless you want that.`,
    );
  for (const { author, text } of undelivered)
    output.line(
      `${output.paint("yellow", "never delivered")}: ${visible(author)} sent its agent: ${visible(text.split("\n", 1)[0] ?? "")}`,
    );
  for (const words of notMerged(rest)) output.line(`${output.paint("yellow", "not merged")}: ${words}`);
  for (const problem of left) output.line(`${output.paint("yellow", "not removed")}: ${visible(problem)}`);
  const clean = options.deleteBranch ? "" : `, \`prloom clean ${plan} --branches\` removes its worktree and branch`;
  output.line(`next: \`git log ${sha?.slice(0, 12) ?? base}\` shows it${clean}.`);
  output.data({ plan, base, ...(sha === undefined ? {} : { sha }), method, undelivered, left, ...rest });
  return left.length === 0 ? 0 : 1;
}

function notMerged({ uncommitted, kept, aside }: Pick<Merged, "uncommitted" | "kept" | "aside">): string[] {
  return [
    ...(uncommitted === undefined ? [] : [`${visible(uncommitted)} has changes that are in no commit`]),
    ...(kept === undefined ? [] : [`its worktree had changes that are in no commit, now in ${visible(kept)}`]),
    ...(aside === undefined
      ? []
      : [`what was left in its worktree before a rebase, in ${visible(aside)} (for \`git apply\`)`]),
  ];
}

function methodOf({ squash, merge: isMerge, rebase }: MergeFlags): { method?: MergeMethod } {
  const chosen = MERGE_METHODS.filter((method) => ({ squash, merge: isMerge, rebase })[method]);
  if (chosen.length > 1) {
    const names = chosen.map((method) => `--${method}`).join(" and ");
    throw new PrloomError("usage", `${names} exclude each other.`, "Give one of them, or none for --squash.");
  }
  return chosen[0] === undefined ? {} : { method: chosen[0] };
}
