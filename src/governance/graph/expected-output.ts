import { matchesAny } from "../policy/paths.ts";
import { changesThings, type RoleSettings, roleNamed } from "../policy/roles.ts";
import type { TaskNode } from "./schema.ts";

/** What a node without words of its own must show. */
export const A_CHANGE = "a change";
/** The same in a plan that changes nothing. */
export const FINDINGS = "what was found, as a file in prloom/.local/evidence";

const PASSED = "a run of the tests that passed, with an exit code that says so (no `| tail`, no `|| true`)";

type Shown = Pick<TaskNode, "expectedOutput" | "assignedTo" | "checkpoints">;

/** Roles that the config adds. */
export type AddedRoles = Readonly<Record<string, RoleSettings>>;

/** What is missing before a node is done, in words; undefined when its checkpoints show what it expects. */
export function missingEvidence(
  { expectedOutput: expected, assignedTo, checkpoints }: Shown,
  roles: AddedRoles,
): string | undefined {
  if (expected === "none") return undefined;
  if (expected === "tests") return checkpoints.some(({ kind, ok }) => kind === "test" && ok) ? undefined : PASSED;
  const glob = /^files\s+(\S+)$/.exec(expected)?.[1];
  const files = checkpoints.flatMap(({ filesModified }) => filesModified);
  if (glob !== undefined)
    return files.some((file) => matchesAny(file, [glob])) ? undefined : `a change of a file that fits ${glob}`;
  // Who only looks brings back words, or a file where git does not look: whether that is it, is for people to judge.
  const role = roleNamed(assignedTo, roles);
  const onlyLooks = role !== undefined && !changesThings(role);
  const isFound = expected === FINDINGS || (onlyLooks && expected !== A_CHANGE);
  return isFound || files.length > 0 ? undefined : "a changed file";
}
