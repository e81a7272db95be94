import { splitNul } from "../output.ts";
import { gitAt, type Repository } from "../repository.ts";

export type MergedTree =
  | { readonly kind: "tree"; readonly tree: string }
  /** `tree` has the files with the marks of the conflict in them. */
  | { readonly kind: "conflict"; readonly tree: string; readonly files: string[] };

/** Merges two commits in the object store alone. */
export async function mergedTree(repo: Repository, ours: string, theirs: string): Promise<MergedTree> {
  const args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs];
  const merged = await gitAt(repo, args, { allowExit: [1] });
  const [tree = "", ...files] = splitNul(merged.stdout);
  if (merged.code === 0) return { kind: "tree", tree };
  return { kind: "conflict", tree, files: [...new Set(files.filter((file) => file !== ""))] };
}

interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly env: Readonly<Record<string, string>>;
}

export async function writeCommit(repo: Repository, { tree, parents, message, env }: NewCommit): Promise<string> {
  const args = ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"];
  return (await gitAt(repo, args, { input: message, env })).stdout.trim();
}

export interface BranchCommit {
  readonly sha: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** Author and dates: a commit that is made again with them is the same each time. */
  readonly env: Readonly<Record<string, string>>;
}

/** Commits as they can be made again, oldest first; `which` are arguments of `git log`. */
export async function readCommits(repo: Repository, which: readonly string[]): Promise<BranchCommit[]> {
  const fields = ["%H", "%P", "%an", "%ae", "%ad", "%cd", "%B"];
  const format = ["--date=raw", `--format=${fields.join("%x00")}`];
  const log = await gitAt(repo, ["log", "-z", "--reverse", ...format, ...which, "--"]);
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
export const HELPING = { GIT_AUTHOR_DATE: "@0 +0000", GIT_COMMITTER_DATE: "@0 +0000" };

/** What a commit itself changed: the difference from its parent to it. */
export interface OwnChange {
  readonly from: string | undefined;
  readonly to: string;
}

/** The tree with the change of another commit. */
export async function pickOnto(
  repo: Repository,
  { from, to }: OwnChange,
  { tree, identity }: { readonly tree: string; readonly identity: Readonly<Record<string, string>> },
): Promise<MergedTree> {
  // `merge-tree --merge-base` is younger than the git we ask for: a commit with our tree on top of `from` does the same.
  const parents = from === undefined ? [] : [from];
  const ours = await writeCommit(repo, { tree, parents, message: "for a merge\n", env: { ...identity, ...HELPING } });
  return mergedTree(repo, ours, to);
}
