import type { MergeMethod } from "../merge-method.ts";
import { gitAt, isAncestor, type Repository, STEP_TRAILER } from "../repository.ts";
import { commitMessage, withoutTrailer } from "./commit.ts";
import { type BranchCommit, HELPING, mergedTree, type OwnChange, pickOnto, readCommits, writeCommit } from "./pick.ts";

export interface MergeRequest {
  readonly branch: string;
  readonly base: string;
  readonly message: string;
  /** From `commitIdentity`. */
  readonly identity: Readonly<Record<string, string>>;
  /** Default: merge. */
  readonly method?: MergeMethod;
  /**
   * The commit of base that the branch stands on. Base must still have what that has; a branch that is on a newer one was brought there
   * by hand.
   */
  readonly began?: string | undefined;
  /** The tree that passed the checks last. */
  readonly checked?: string | undefined;
  /** Of an earlier attempt. */
  readonly made?: MadeMerge | undefined;
  /** The newest commit that was made for a TODO of the plan `uid`. */
  readonly own?: { readonly newest: string; readonly uid: string } | undefined;
  /** Looks at the commit that base is about to get, unless it has the tree that was checked; throws to refuse it. */
  readonly check?: (sha: string) => Promise<void>;
  /** Keeps what is about to be merged; base moves afterwards. */
  readonly keep?: (made: MadeMerge) => void;
  /** Where agents write, below the top. */
  readonly places: readonly string[];
  /** Whether a person wants the tree although it is unsafe. */
  readonly allowUnsafe?: boolean;
}

interface Tips {
  readonly old: string;
  readonly tip: string;
}

type WrittenMerge =
  | { readonly kind: "commit"; readonly sha: string }
  | { readonly kind: "conflict"; readonly files: string[] };

/** On the commit that brought a branch to base without being a descendant of it: the branch's tip. */
const MERGE_TRAILER = "Prloom-Merge";

/** A merge that we made, as the caller keeps it: an agent could write commits that say the same. */
export interface MadeMerge {
  /** The tip of the branch that was merged. */
  readonly tip: string;
  /** The commit that brought it to base. */
  readonly sha: string;
}

/** Whether the commit `base` has everything of `tip`: as an ancestor, by a merge of ours, or because it brings nothing new. */
export async function hasMerged(repo: Repository, tip: string, base: string, made?: MadeMerge): Promise<boolean> {
  if (await isAncestor(repo, tip, base)) return true;
  if (made?.tip === tip && (await isAncestor(repo, made.sha, base))) return true;
  return isContained(repo, tip, base);
}

/**
 * Whether a person took all of the plan's work off its branch: then base has the branch, but not the work. Commits that were made again by
 * hand are known by their trailers, a branch that was squashed by hand by what is in base.
 */
export async function isEmptied(
  repo: Repository,
  { own, began }: Pick<MergeRequest, "own" | "began">,
  { old, tip }: Tips,
): Promise<boolean> {
  if (own === undefined || began === undefined || own.newest === tip) return false;
  // Gone from the repository: it cannot be told.
  const kept = await gitAt(repo, ["merge-base", "--is-ancestor", own.newest, old], { allowExit: [1, 128] });
  if (kept.code !== 1) return false;
  const traced = ["log", "--format=%H", "-1", "--fixed-strings", `--grep=${STEP_TRAILER}: ${own.uid}/`];
  if ((await gitAt(repo, [...traced, `${began}..${tip}`, "--"])).stdout.trim() !== "") return false;
  return !(await isContained(repo, own.newest, old));
}

/** Whether the changes of `tip` are in `base`, however a person brought them there. A branch that changes nothing is not. */
async function isContained(repo: Repository, tip: string, base: string): Promise<boolean> {
  // Base may have been begun anew: git merges nothing that has no commit in common.
  if ((await gitAt(repo, ["merge-base", base, tip], { allowExit: [1] })).code === 1) return false;
  const merged = await mergedTree(repo, base, tip);
  if (merged.kind === "conflict") return false;
  const tree = (await gitAt(repo, ["rev-parse", "--verify", `${base}^{tree}`])).stdout.trim();
  if (merged.tree !== tree) return false;
  const compare = ["diff", "--quiet", "--no-ext-diff", "--ignore-submodules=none", `${base}...${tip}`, "--"];
  return (await gitAt(repo, compare, { allowExit: [1] })).code === 1;
}

function withTrailer(message: string, tip: string): string {
  const text = message.trimEnd();
  const inTrailers = [STEP_TRAILER, MERGE_TRAILER, "Signed-off-by"].some((key) =>
    text.split("\n").at(-1)?.startsWith(`${key}: `),
  );
  return `${text}${inTrailers ? "\n" : "\n\n"}${MERGE_TRAILER}: ${tip}\n`;
}

/** Two commits, the first the parent of the second, whose difference is what the commit itself changed. */
async function ownChange(
  repo: Repository,
  { sha, parents }: BranchCommit,
  { old, env }: { readonly old: string; readonly env: Readonly<Record<string, string>> },
): Promise<OwnChange> {
  const [first, second, ...more] = parents;
  const plain = { from: first, to: sha };
  if (first === undefined || second === undefined || more.length > 0) return plain;
  if (!(await isAncestor(repo, second, old))) return plain;
  // Base was merged into the branch: what base brought is there already, what a person did on top of it is not.
  const brought = await mergedTree(repo, first, second);
  if (brought.kind === "conflict") return plain;
  const helping = { message: "for a merge\n", env };
  const from = await writeCommit(repo, { ...helping, tree: brought.tree, parents: [] });
  return { from, to: await writeCommit(repo, { ...helping, tree: `${sha}^{tree}`, parents: [from] }) };
}

/** A commit that never changed anything was made to say something; any other that changes nothing now is on base already. */
async function wasEmpty(repo: Repository, { sha, parents }: BranchCommit): Promise<boolean> {
  const [parent, ...others] = parents;
  if (parent === undefined || others.length > 0) return false;
  const trees = await gitAt(repo, ["rev-parse", `${sha}^{tree}`, `${parent}^{tree}`]);
  const [own, before] = trees.stdout.split("\n");
  return own === before;
}

/** The branch's commits on top of `old`, in the object store alone. */
async function replay(repo: Repository, request: MergeRequest, { old, tip }: Tips): Promise<WrittenMerge> {
  // What was merged into the branch is one commit.
  const commits = await readCommits(repo, ["--first-parent", `${old}..${tip}`]);
  const linear = commits.every(({ parents }) => parents.length === 1);
  if (linear && commits[0]?.parents[0] === old) return { kind: "commit", sha: tip };
  const { identity } = request;
  let onto = old;
  let tree = (await gitAt(repo, ["rev-parse", "--verify", `${old}^{tree}`])).stdout.trim();
  for (const commit of commits) {
    const change = await ownChange(repo, commit, { old, env: { ...identity, ...HELPING } });
    const merged = await pickOnto(repo, change, { tree, identity });
    if (merged.kind === "conflict") return { kind: "conflict", files: merged.files };
    const isLast = commit.sha === tip;
    // The last one bears the trailer, whatever is left of it.
    if (merged.tree === tree && !isLast && !(await wasEmpty(repo, commit))) continue;
    tree = merged.tree;
    const said = withoutTrailer(commit.message, MERGE_TRAILER);
    const words = said.trim() === "" ? `Merge ${request.branch}` : said;
    const message = isLast ? withTrailer(words, tip) : words;
    onto = await writeCommit(repo, { tree, parents: [onto], message, env: { ...identity, ...commit.env } });
  }
  return { kind: "commit", sha: onto };
}

/** Makes the commit that base will stand at, by the wanted method. Moves nothing. */
export async function writeMerge(repo: Repository, request: MergeRequest, tips: Tips): Promise<WrittenMerge> {
  if (request.method === "rebase") return replay(repo, request, tips);
  const merged = await mergedTree(repo, tips.old, tips.tip);
  if (merged.kind === "conflict") return { kind: "conflict", files: merged.files };
  const { tree } = merged;
  const words = commitMessage(request.message, `Merge ${request.branch}`);
  const commit =
    request.method === "squash"
      ? { tree, parents: [tips.old], message: withTrailer(words, tips.tip), env: request.identity }
      : { tree, parents: [tips.old, tips.tip], message: `${words}\n`, env: request.identity };
  return { kind: "commit", sha: await writeCommit(repo, commit) };
}
