import type { Outcome } from "../client/outcome.ts";
import type { RepositoryCalls } from "../repository.ts";

/** Answers to calls about an issue after which it may be gone. */
export const isAbsent = (kind: Outcome["kind"]): boolean =>
  kind === "moved" || kind === "not-found" || kind === "deleted";

/**
 * What became of an issue, as the end of "its issue …"; undefined where it is there, or may be: GitHub answers like that, too, where a
 * token may read and not write, and where issues are switched off for a while.
 */
export async function goneIssue(repository: RepositoryCalls, path: string): Promise<string | undefined> {
  const found = await repository.get(path);
  if (found.kind === "moved") return `was moved to ${await repository.movedTo(found.to)}, where prloom does not write`;
  if (found.kind === "not-found") return "was deleted, or moved to where the token may not look";
  return found.kind === "deleted" && !/disabled/i.test(found.reason) ? "was deleted" : undefined;
}
