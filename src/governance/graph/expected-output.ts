import { matchesAny } from "../policy/paths.ts";
import type { Checkpoint } from "./schema.ts";

/** What a node without words of its own must show. */
export const A_CHANGE = "a change";
/** The same in a plan that changes nothing. */
export const FINDINGS = "what was found, as a file in prloom/.local/evidence";

/** What is missing before a node is done, in words; undefined when its checkpoints show what it expects. */
export function missingEvidence(expected: string, checkpoints: readonly Checkpoint[]): string | undefined {
  if (expected === "none") return undefined;
  if (expected === "tests")
    return checkpoints.some(({ kind, ok }) => kind === "test" && ok) ? undefined : "a run of the tests that passed";
  const glob = /^files\s+(\S+)$/.exec(expected)?.[1];
  const files = checkpoints.flatMap(({ filesModified }) => filesModified);
  if (glob !== undefined)
    return files.some((file) => matchesAny(file, [glob])) ? undefined : `a change of a file that fits ${glob}`;
  return files.length > 0 ? undefined : "a changed file";
}
