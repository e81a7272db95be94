import type { RunExit } from "../../agents/port.ts";
import type { RepositoryShape } from "../../git/staging/repository-shape.ts";
import { isTestFile } from "../../governance/graph/expected-output.ts";
import { matchesAny } from "../../governance/policy/paths.ts";
import { expandBraces } from "../../governance/shell/values/braces.ts";
import { fitsPath } from "../../governance/shell/values/glob.ts";
import { counted } from "../../kernel/text/words.ts";
import { takeTurns } from "../../kernel/turns.ts";
import type { Claims } from "../../plan/todos/claims.ts";

export type Changes =
  | { readonly kind: "diverged" }
  | {
      readonly kind: "staged";
      readonly files: readonly string[];
      readonly deleted: number;
      readonly trackedBefore: number;
      readonly onlyProtected: boolean;
      /** What was taken out because it would have made repositories of folders. */
      readonly refused: readonly RepositoryShape[];
      /** Links that were taken out because they lead out of the project, or to where agents write. */
      readonly astray: readonly string[];
    };

/** The outcome of one attempt at a TODO. */
export type RunVerdict =
  | { readonly kind: "accept" }
  | { readonly kind: "again"; readonly missing: string }
  | { readonly kind: "block-todo"; readonly reason: string }
  /** `rerun`: when it is unblocked the agent runs again; else only what it left is judged again. */
  | { readonly kind: "block"; readonly reason: string; readonly hint: string; readonly rerun: boolean };

export interface RunEvidence {
  readonly exit: RunExit | undefined;
  readonly outputTail: string;
  readonly claims: Claims;
  readonly changes: Changes;
  /** `expects:` of the TODO's context. */
  readonly expects: string | undefined;
  readonly evidence: boolean;
  /** Patterns that every changed file must fit, of the TODO and of its role. */
  readonly scope: readonly (readonly string[])[];
  readonly maxDeletions: { readonly files: number; readonly percent: number };
}

/** Pure: a TODO is done when it is ticked and there is a change or recorded evidence, unless `expects: none`. */
export async function judgeRun(run: RunEvidence): Promise<RunVerdict> {
  if (run.exit?.reason === "spawn-failed") {
    return {
      kind: "block",
      reason: `The agent could not be started: ${run.exit.error ?? "unknown error"}`,
      hint: "Install the program or fix `agents` in prloom/config.json and run `prloom reload` (`prloom doctor` checks it), then run `prloom unblock <plan>`.",
      rerun: true,
    };
  }
  if (run.changes.kind === "diverged") {
    return {
      kind: "block",
      reason: "The agent moved the branch to a commit that does not follow from where the TODO began.",
      hint: "Look at the branch. `prloom unblock <plan> --reset` puts it back and starts the TODO from scratch.",
      rerun: false,
    };
  }
  if (run.claims.tick === "blocked") {
    return { kind: "block-todo", reason: run.claims.reason ?? "it gave no reason" };
  }
  const tooMany = tooManyDeletions(run.changes, run.maxDeletions);
  if (tooMany !== undefined) return tooMany;
  if (run.exit?.reason === "policy") return { kind: "again", missing: endedByPolicy(run.exit) };
  if (run.claims.tick !== "done") return { kind: "again", missing: notTicked(run) };
  if (run.changes.refused.length > 0) return { kind: "again", missing: madeRepositories(run.changes.refused) };
  if (run.changes.astray.length > 0) return { kind: "again", missing: ledAstray(run.changes.astray) };
  const missing = (await outsideScope(run, run.changes)) ?? (await unmetExpectation(run, run.changes));
  return missing === undefined ? { kind: "accept" } : { kind: "again", missing };
}

/** What an agent left that insisted on what it must not do is not taken: the next attempt is told why. */
export function endedByPolicy({ error }: RunExit): string {
  return `The policy ended the run: ${error ?? "no reason is known"}`;
}

const MAX_NAMED = 20;

function named(entries: readonly string[]): string {
  const names = entries.slice(0, MAX_NAMED).map((entry) => `\`${entry}\``);
  const more = entries.length > names.length ? ` and ${entries.length - names.length} more` : "";
  return `${names.join(", ")}${more}`;
}

function madeRepositories(refused: readonly RepositoryShape[]): string {
  const entries = refused.flatMap((shape) => shape.entries);
  return `With ${named(entries)} git would take a folder for a repository (HEAD beside objects and refs, or beside commondir) and run what its settings say, so this was taken out of the tree. Use other names, pack it into an archive, or let a test make the repository (\`git init\`) in a temporary folder.`;
}

function ledAstray(links: readonly string[]): string {
  return `The links ${named(links)} lead out of the project, to its top, to \`prloom/\` or \`.git\`, or may do so later (\`..\` after a name), so they were taken out of the tree. Commit the files themselves, or link to what is in the project by relative paths with every \`..\` first.`;
}

/** By default a TODO is expected to change something; its context may ask for less, or for certain files. */
async function unmetExpectation(
  run: RunEvidence,
  changes: Extract<Changes, { kind: "staged" }>,
): Promise<string | undefined> {
  const expects = run.expects ?? "";
  if (run.claims.nothingToChange !== undefined && changes.files.length > 0)
    return `The outcome is "nothing-to-change", but ${named(changes.files)} changed. Say "done", or put that back as it was.`;
  if (expects === "none") return undefined;
  const glob = /^files\s+(\S.*)$/.exec(expects)?.[1];
  // Evidence stands for a change that nothing more is said about.
  const isExplained = run.evidence || run.claims.nothingToChange !== undefined;
  const isAnyFile = glob === undefined && expects !== "tests";
  if (changes.files.length === 0 && isAnyFile && isExplained) return undefined;
  // Where certain files are expected, an explanation would not do either: the agent is told of those.
  if (changes.files.length === 0 && (isAnyFile || changes.onlyProtected)) return nothingChanged(changes.onlyProtected);
  if (glob !== undefined && !(await hasFitting(changes.files, glob))) {
    return `The TODO is said to be done, but no changed file matches \`${glob}\`, which its context expects.`;
  }
  if (expects === "tests" && !changes.files.some(isTestFile)) {
    return "The TODO is said to be done, but no test changed, and its context says `expects: tests`.";
  }
  return undefined;
}

async function hasFitting(files: readonly string[], glob: string): Promise<boolean> {
  const fits = fitting([glob]);
  for (const file of files) if (await fits(file)) return true;
  return false;
}

/**
 * As patterns are written for shells, or as those of the config, where a folder stands for what is in it. While the others go
 * on: a plan may have long patterns, and its agent makes files with long names, and many of them.
 */
function fitting(globs: readonly string[]): (file: string) => Promise<boolean> {
  const written = globs.flatMap((glob) => expandBraces(glob) ?? []);
  return async (file) => {
    await takeTurns();
    if (matchesAny(file, globs)) return true;
    for (const glob of written) {
      await takeTurns();
      if (fitsPath(glob, file)) return true;
    }
    return false;
  };
}

/** What a script did counts as well: the policy inside of an agent sees only its calls. */
async function outsideScope(
  { scope }: RunEvidence,
  { files }: Extract<Changes, { kind: "staged" }>,
): Promise<string | undefined> {
  const all = scope.map(fitting);
  const outside: string[] = [];
  for (const file of files) {
    const fit = await Promise.all(all.map((fits) => fits(file)));
    if (fit.includes(false)) outside.push(file);
  }
  if (outside.length === 0) return undefined;
  return `The TODO is said to be done, but its paths or its role do not allow a change of ${named(outside)}. Put that back as it was.`;
}

function tooManyDeletions(
  changes: Extract<Changes, { kind: "staged" }>,
  limit: { files: number; percent: number },
): RunVerdict | undefined {
  const { deleted, trackedBefore } = changes;
  // One deleted file is an ordinary change even where it is half of a tiny repository.
  const share = deleted > 1 && deleted * 100 > trackedBefore * limit.percent;
  if (deleted <= limit.files && !share) return undefined;
  const part = limit.percent < 100 ? ` and ${limit.percent} %` : "";
  return {
    kind: "block",
    reason: `The TODO would delete ${deleted} of ${trackedBefore} files (limits.maxDeletions allows ${counted(limit.files, "file")}${part}).`,
    hint: "If that is right, raise `limits.maxDeletions`, run `prloom reload` and `prloom unblock <plan>`; if not, `prloom unblock <plan> --reset` starts the TODO from scratch.",
    rerun: false,
  };
}

function notTicked(run: RunEvidence): string {
  const tail = run.outputTail.trim();
  const output = tail === "" ? "It printed nothing." : `The end of its output:\n${tail}`;
  const why = run.claims.unread ?? "The TODO is not ticked in the plan copy";
  return `${why.replace(/\.$/, "")} (${howItEnded(run.exit)}).\n${output}`;
}

function howItEnded(exit: RunExit | undefined): string {
  if (!exit) return "the agent left no exit";
  if (exit.reason === "deadline") return "the agent was ended: it ran longer than limits.runTimeout";
  if (exit.reason === "silence") return "the agent was ended: it was silent for limits.silenceTimeout";
  if (exit.reason === "refused") return "the agent was ended: its provider refused it for a while";
  if (exit.signal !== null) return `the agent died of ${exit.signal}`;
  return `the agent ended with code ${exit.code}`;
}

function nothingChanged(onlyProtected: boolean): string {
  if (onlyProtected)
    return "The TODO is said to be done, but only files under prloom/ changed, settings of agent programs (.claude, .opencode, …) or what governance.protected names, and agents may not change those.";
  return "The TODO is said to be done, but no file changed. If none has to, say so and why: the outcome `nothing-to-change` in PRLOOM_OUTCOME_FILE (or `expects: none` in the TODO's context).";
}
