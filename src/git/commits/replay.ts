import { createHash } from "node:crypto";
import { PrloomError } from "../../kernel/errors.ts";
import { gitAt, type Repository, treeOf } from "../repository.ts";
import { mergedTree, pickOnto, readCommits, writeCommit } from "./pick.ts";

/** The commits of a branch that are its own: behind `upstream`, up to `from`. */
export interface OwnCommits {
  readonly upstream: string;
  readonly from: string;
}

export interface ReplayRequest extends OwnCommits {
  /** How many of them are on `tip` already, and the commit that the next one comes on top of. */
  readonly done: number;
  readonly tip: string;
  /** From `commitIdentity`. */
  readonly identity: Readonly<Record<string, string>>;
}

export interface ReplayConflict {
  /** The commit that conflicts. */
  readonly commit: string;
  /** Its change on top of the tip, with the marks of the conflict in the files. */
  readonly tree: string;
  readonly files: string[];
}

export interface Replayed {
  readonly done: number;
  readonly tip: string;
  /** Absent when all of them are on the tip. */
  readonly conflict?: ReplayConflict;
}

const inOrder = ({ upstream, from }: OwnCommits) => ["--topo-order", "--no-merges", `${upstream}..${from}`];

/**
 * Makes the commits of a branch again on top of another one, until one conflicts: in the object store alone, and the same
 * ones each time. One that changes nothing any more stays: there is one for each TODO.
 */
export async function replay(repo: Repository, request: ReplayRequest): Promise<Replayed> {
  const { identity } = request;
  const commits = await readCommits(repo, inOrder(request));
  let { done, tip } = request;
  for (const { sha, parents, message, env } of commits.slice(done)) {
    const tree = await treeOf(repo, tip);
    const merged = await pickOnto(repo, { from: parents[0], to: sha }, { tree, identity });
    if (merged.kind === "conflict")
      return { done, tip, conflict: { commit: sha, tree: merged.tree, files: merged.files } };
    tip = await writeCommit(repo, { tree: merged.tree, parents: [tip], message, env: { ...identity, ...env } });
    done += 1;
  }
  return { done, tip };
}

/** A merge on the branch that has more than the two that it merged: a person's own change, which making the commits again would lose. */
export async function changingMerge(repo: Repository, { upstream, from }: OwnCommits): Promise<string | undefined> {
  for (const { sha, parents } of await readCommits(repo, ["--merges", `${upstream}..${from}`])) {
    const [ours = "", theirs = "", ...more] = parents;
    if (more.length > 0) return sha;
    const merged = await mergedTree(repo, ours, theirs);
    if (merged.kind === "conflict" || merged.tree !== (await treeOf(repo, sha))) return sha;
  }
  return undefined;
}

/** The commit again, with another tree and on another parent; the same each time. */
export async function remakeCommit(
  repo: Repository,
  commit: string,
  { tree, parent, identity }: { tree: string; parent: string; identity: Readonly<Record<string, string>> },
): Promise<string> {
  const { message, env } = await commitOf(repo, commit);
  return writeCommit(repo, { tree, parents: [parent], message, env: { ...identity, ...env } });
}

/** What a commit says. */
export async function messageOfCommit(repo: Repository, commit: string): Promise<string> {
  return (await commitOf(repo, commit)).message;
}

async function commitOf(repo: Repository, commit: string) {
  const [found] = await readCommits(repo, ["-1", commit]);
  if (!found) throw new Error(`${commit} is not there`);
  return found;
}

/** What says where a patch applies and to which objects, and not what it changes. */
const PLACE = /^(?:index [0-9a-f]+\.\.[0-9a-f]+|@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)/;

/** Whether the commits of two branches say and change the same. What is too large to be compared counts as changed. */
export async function haveSamePatches(repo: Repository, one: OwnCommits, other: OwnCommits): Promise<boolean> {
  try {
    return (await patchDigest(repo, one)) === (await patchDigest(repo, other));
  } catch (error) {
    if (error instanceof PrloomError) return false;
    throw error;
  }
}

/**
 * A digest of what the commits say and change, wherever in the files that is. Unlike git's own patch ids it counts white space,
 * which means something in many a language.
 */
async function patchDigest(repo: Repository, own: OwnCommits): Promise<string> {
  const whole = ["--binary", "--full-index", "--no-renames", "--unified=3", "--diff-algorithm=histogram"];
  const safe = ["--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none"];
  const args = ["log", "--reverse", "--patch", "--format=%B", ...whole, ...safe, ...inOrder(own), "--"];
  const { stdout } = await gitAt(repo, args, { encoding: "latin1" });
  const hash = createHash("sha256");
  for (const line of stdout.split("\n")) hash.update(PLACE.test(line) ? "\n" : `${line}\n`);
  return hash.digest("hex");
}
