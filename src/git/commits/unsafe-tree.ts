import { PrloomError } from "../../kernel/errors.ts";
import type { AskGit } from "../run.ts";
import { linksAstray, listCommit } from "../staging/links-astray.ts";
import { hasRepositoryParts, inWords, repositoryShapes } from "../staging/repository-shape.ts";

/*
 * What an agent made was looked at when it was staged. Git can put it together with what others made to a tree that nobody has seen.
 */

export interface PutTogether {
  /** What others made. */
  readonly base: string;
  /** The branch before, whose own files were looked at. */
  readonly tip: string;
  /** The commit that has both. */
  readonly head: string;
  /** Where agents write, below the top. */
  readonly places: readonly string[];
}

/** Why nobody is to have this tree. */
export interface UnsafeTree {
  readonly kind: "repository" | "link";
  readonly files: string[];
}

export async function unsafeTree(ask: AskGit, made: PutTogether): Promise<UnsafeTree | undefined> {
  const repository = await repositoriesMade(ask, made);
  if (repository.length > 0) return { kind: "repository", files: repository };
  const links = await linksMoved(ask, made);
  return links.length > 0 ? { kind: "link", files: links } : undefined;
}

/** What is wrong with it. */
export function unsafeWords({ kind, files }: UnsafeTree): string {
  const named = files.join(", ");
  return kind === "repository"
    ? `git would take a folder for a repository and run what its settings say: ${named}`
    : `links would lead out of the project, or to where agents write: ${named}`;
}

export function unsafeError(unsafe: UnsafeTree, where: string, otherwise: string): PrloomError {
  const code = unsafe.kind === "repository" ? "nested-repository" : "link-astray";
  const hint = `Rename them on the branch, or take them out; ${otherwise}`;
  return new PrloomError(code, `${where}, ${unsafeWords(unsafe)}`, hint);
}

/** What makes folders repositories in `head` that were none in `base`: two branches may have half of one each. */
async function repositoriesMade(ask: AskGit, { base, head }: PutTogether): Promise<string[]> {
  const list = async (...args: string[]) => (await ask([...args, "-z"], { encoding: "latin1" })).entries();
  const names = (commit: string) => list("ls-tree", "-r", "--name-only", "--full-tree", commit);
  const compare = ["diff-tree", "-r", "--name-only", "--no-renames", "--diff-filter=d", "--ignore-submodules=none"];
  const changed = await list(...compare, base, head);
  if (!(await hasRepositoryParts(changed))) return [];
  const shapes = await repositoryShapes({ before: await names(base), after: await names(head), changed });
  return shapes.map(inWords).flatMap(({ entries }) => entries);
}

/** Links that lie elsewhere than on either side, since git follows whoever renames their folder: they may lead elsewhere, too. */
async function linksMoved(ask: AskGit, { base, tip, head, places }: PutTogether): Promise<string[]> {
  const changedSince = async (commit: string) => {
    const compare = ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--diff-filter=d", "--ignore-submodules=none"];
    const fields = await (await ask([...compare, commit, head], {})).entries();
    return fields.filter((_, index) => fields[index - 1]?.split(" ")[1] === "120000");
  };
  const changed = await changedSince(base);
  if (changed.length === 0) return [];
  const moved = new Set(await changedSince(tip));
  const both = changed.filter((path) => moved.has(path));
  return both.length === 0 ? [] : linksAstray(ask, listCommit(head), { changed: both, places });
}
