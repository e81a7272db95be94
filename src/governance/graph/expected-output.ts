import { matchesAny } from "../policy/paths.ts";
import { changesThings, type RoleSettings, roleNamed } from "../policy/roles.ts";
import { expandBraces } from "../shell/values/braces.ts";
import { fitsPath } from "../shell/values/glob.ts";
import type { TaskNode } from "./schema.ts";

/** What a node without words of its own must show. */
export const A_CHANGE = "a change";
/** The same in a plan that changes nothing. */
export const FINDINGS = "what was found, as a file in prloom/.local/evidence";

const PASSED = "a run of the tests that passed, with an exit code that says so (no `| tail`, no `|| true`)";

interface Looked {
  readonly isTodo: boolean;
  /** The node, and the parts that it was split into: what was done for those was done for it, too. */
  readonly whole: readonly Pick<TaskNode, "checkpoints" | "artifacts">[];
}

/** Roles that the config adds. */
export type AddedRoles = Readonly<Record<string, RoleSettings>>;

/** By the folders and names that tests have in most languages; with words that are joined, these begin with capitals. */
const TEST_FILES = [
  /(?:^|[/._-])(?:tests?|specs?|__tests__|e2e)\//i,
  /(?:^|\/)test_[^/]+$/i,
  /(?:(?:^|\/)tests?|[._-](?:tests?|specs?|cy))\.[^/]+$/i,
  /[A-Za-z0-9](?:Tests?|Specs?)(?:\/|\.\w+$)/,
  // What Bats, Cucumber and Perl call them.
  /\.(?:bats|feature|t)$/i,
];

export const isTestFile = (path: string): boolean => TEST_FILES.some((pattern) => pattern.test(path));

/** What a node expects, as its agent is told. Of a TODO's tests the dispatcher sees whether one was changed. */
export const expectedInWords = ({ expectedOutput: expected, parent }: Pick<TaskNode, "expectedOutput" | "parent">) =>
  expected === "tests" && parent === undefined
    ? "tests (a changed test file, and a run of them that passed)"
    : expected;

/** What is missing before a node is done, in words; undefined when its checkpoints show what it expects. */
export function missingEvidence(
  { expectedOutput: expected, assignedTo }: Pick<TaskNode, "expectedOutput" | "assignedTo">,
  roles: AddedRoles,
  { isTodo, whole }: Looked,
): string | undefined {
  if (expected === "none") return undefined;
  const changed = (fits: (file: string) => boolean) => whole.some(({ artifacts }) => artifacts.some(fits));
  if (expected === "tests") {
    if (isTodo && !changed(isTestFile)) return "a changed test file";
    const passed = whole.some(({ checkpoints }) => checkpoints.some(({ kind, ok }) => kind === "test" && ok));
    return passed ? undefined : PASSED;
  }
  const glob = /^files\s+(\S.*)$/.exec(expected)?.[1];
  if (glob !== undefined) {
    const [given, written] = [[glob], isTodo ? (expandBraces(glob) ?? []) : []];
    const isThere = changed((file) => matchesAny(file, given) || written.some((one) => fitsPath(one, file)));
    return isThere ? undefined : `a change of a file that fits ${glob}`;
  }
  // Who only looks brings back words, or a file where git does not look: whether that is it, is for people to judge.
  const role = roleNamed(assignedTo, roles);
  const onlyLooks = role !== undefined && !changesThings(role);
  const isFound = expected === FINDINGS || (onlyLooks && expected !== A_CHANGE);
  return isFound || changed(() => true) ? undefined : "a changed file";
}
