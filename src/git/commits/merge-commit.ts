import { splitNul } from "../output.ts";
import { gitAt, isAncestor, type Repository, STEP_TRAILER } from "../repository.ts";
import { commitMessage, withoutTrailer } from "./commit.ts";

type MergeMethod = "merge" | "squash" | "rebase";

export interface MergeRequest {
  readonly branch: string;
  readonly base: string;
  readonly message: string;
  /** From `commitIdentity`. */
  readonly identity: Readonly<Record<string, string>>;
  /** Default: merge. */
  readonly method?: MergeMethod;
  /** Of an earlier attempt. */
  readonly made?: MadeMerge | undefined;
  /** Keeps what is about to be merged; base moves afterwards. */
  readonly keep?: (made: MadeMerge) => void;
  /** Whether folders of base may become repositories by it. */
  readonly allowRepositories?: boolean;
}

interface Tips {
  readonly old: string;
  readonly tip: string;
}

type Conflict = { readonly kind: "conflict"; readonly files: string[] };
type WrittenMerge = { readonly kind: "commit"; readonly sha: string } | Conflict;

/** On the commit that brought a branch to base without being a descendant of it: the branch's tip. */
const MERGE_TRAILER = "Prloom-Merge";

/** A merge that we made, as whoever ordered it keeps it: what its commits say could be anybody's words. */
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

/** Whether the changes of `tip` are in `base`, however a person brought them there. A branch that changes nothing is not. */
async function isContained(repo: Repository, tip: string, base: string): Promise<boolean> {
  const merged = await mergedTree(repo, base, tip);
  if (merged.kind === "conflict") return false;
  const tree = (await gitAt(repo, ["rev-parse", "--verify", `${base}^{tree}`])).stdout.trim();
  if (merged.tree !== tree) return false;
  const compare = ["diff", "--quiet", "--no-ext-diff", "--ignore-submodules=none", `${base}...${tip}`, "--"];
  return (await gitAt(repo, compare, { allowExit: [1] })).code === 1;
}

function withTrailer(message: string, tip: string): string {
  const text = message.trimEnd();
  const inTrailers = [STEP_TRAILER, MERGE_TRAILER].some((key) => text.split("\n").at(-1)?.startsWith(`${key}: `));
  return `${text}${inTrailers ? "\n" : "\n\n"}${MERGE_TRAILER}: ${tip}\n`;
}

async function mergedTree(
  repo: Repository,
  ours: string,
  theirs: string,
): Promise<{ kind: "tree"; tree: string } | Conflict> {
  const args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs];
  const merged = await gitAt(repo, args, { allowExit: [1] });
  const [tree = "", ...files] = splitNul(merged.stdout);
  if (merged.code === 0) return { kind: "tree", tree };
  return { kind: "conflict", files: [...new Set(files.filter((file) => file !== ""))] };
}

interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly env: Readonly<Record<string, string>>;
}

async function writeCommit(repo: Repository, { tree, parents, message, env }: NewCommit): Promise<string> {
  const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"];
  return (await gitAt(repo, args, { input: message, env })).stdout.trim();
}

interface BranchCommit {
  readonly sha: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The commits of the branch itself, oldest first; what was merged into it is one commit. */
async function branchCommits(repo: Repository, { old, tip }: Tips): Promise<BranchCommit[]> {
  const fields = ["%H", "%P", "%an", "%ae", "%ad", "%cd", "%B"];
  const format = ["--date=raw", `--format=${fields.join("%x00")}`];
  const log = await gitAt(repo, ["log", "-z", "--first-parent", "--reverse", ...format, `${old}..${tip}`, "--"]);
  const values = splitNul(log.stdout);
  return Array.from({ length: values.length / fields.length }, (_unused, index) => {
    const [sha = "", parents = "", name = "", email = "", written = "", committed = "", message = ""] = values.slice(
      index * fields.length,
      (index + 1) * fields.length,
    );
    const env = {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_AUTHOR_DATE: `@${written}`,
      GIT_COMMITTER_DATE: `@${committed}`,
    };
    return { sha, parents: parents.split(" ").filter((parent) => parent !== ""), message, env };
  });
}

/** Commits that only serve a merge: the same each time, so that repeating leaves no more of them behind. */
const HELPING = { GIT_AUTHOR_DATE: "@0 +0000", GIT_COMMITTER_DATE: "@0 +0000" };

/** Two commits, the first the parent of the second, whose difference is what the commit itself changed. */
async function ownChange(
  repo: Repository,
  { sha, parents }: BranchCommit,
  { old, env }: { readonly old: string; readonly env: Readonly<Record<string, string>> },
): Promise<{ from: string | undefined; to: string }> {
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
  const commits = await branchCommits(repo, { old, tip });
  const linear = commits.every(({ parents }) => parents.length === 1);
  if (linear && commits[0]?.parents[0] === old) return { kind: "commit", sha: tip };
  const helping = { message: "for a merge\n", env: { ...request.identity, ...HELPING } };
  let onto = old;
  let tree = (await gitAt(repo, ["rev-parse", "--verify", `${old}^{tree}`])).stdout.trim();
  for (const commit of commits) {
    const { from, to } = await ownChange(repo, commit, { old, env: helping.env });
    // `merge-tree --merge-base` is younger than the git we ask for: a commit with our tree on top of `from` does the same.
    const ours = await writeCommit(repo, { ...helping, tree, parents: from === undefined ? [] : [from] });
    const merged = await mergedTree(repo, ours, to);
    if (merged.kind === "conflict") return merged;
    const isLast = commit.sha === tip;
    // The last one bears the trailer, whatever is left of it.
    if (merged.tree === tree && !isLast && !(await wasEmpty(repo, commit))) continue;
    tree = merged.tree;
    const said = withoutTrailer(commit.message, MERGE_TRAILER);
    const words = said.trim() === "" ? `Merge ${request.branch}` : said;
    const message = isLast ? withTrailer(words, tip) : words;
    onto = await writeCommit(repo, { tree, parents: [onto], message, env: { ...request.identity, ...commit.env } });
  }
  return { kind: "commit", sha: onto };
}

/** Makes the commit that base will stand at, by the wanted method. Moves nothing. */
export async function writeMerge(repo: Repository, request: MergeRequest, tips: Tips): Promise<WrittenMerge> {
  if (request.method === "rebase") return replay(repo, request, tips);
  const merged = await mergedTree(repo, tips.old, tips.tip);
  if (merged.kind === "conflict") return merged;
  const { tree } = merged;
  const words = commitMessage(request.message, `Merge ${request.branch}`);
  const commit =
    request.method === "squash"
      ? { tree, parents: [tips.old], message: withTrailer(words, tips.tip), env: request.identity }
      : { tree, parents: [tips.old, tips.tip], message: `${words}\n`, env: request.identity };
  return { kind: "commit", sha: await writeCommit(repo, commit) };
}
