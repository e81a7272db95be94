import { join } from "node:path";
import * as z from "zod";
import {
  ensureDir,
  existsNoFollow,
  readTextIfExists,
  readTextNoFollow,
  remakeDirNoFollow,
  writeRunFile,
} from "../../kernel/files.ts";
import { ensureFolder, ensureLinkIn, placeFile } from "../../kernel/held/files.ts";
import { ifThere } from "../../kernel/held/folder.ts";
import { jsonIn } from "../../kernel/json-fields.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { type Claims, readClaims } from "../../plan/todos/claims.ts";
import { MAX_OUTCOME_BYTES, nothingToChangeIn, withOutcome } from "../../plan/todos/outcome.ts";
import { EVIDENCE, type Home, homeOf, type Located, RUN_COPY, worktreeOf } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";

/** The text that the agent was given, beside the run's other files: claims are the difference to it. */
export const GIVEN = "given.md";
/** What an agent left of its copy, beside the run's other files. */
const LEFT = "left.json";

const leftSchema = z.object({
  /** Absent when it is gone. */
  plan: z.string().optional(),
  outcome: z.string().optional(),
});
type Left = z.infer<typeof leftSchema>;

/**
 * What the run left. It is kept when it is first asked for, whether it is there or not: a reviewer, a check or a commit hook
 * without a sandbox, or the next run, has the place of the copy after that, and must not speak for the run.
 */
function takeLeft(worktree: string, runDir: string): Left {
  const kept = keptLeft(runDir);
  if (kept !== undefined) return kept;
  const outcome = readTextNoFollow(worktree, RUN_COPY.outcome, MAX_OUTCOME_BYTES);
  // A link, a pipe or more than is read says something too: that the run meant to, and is to be told.
  const isUnread = outcome === undefined && ifThere(() => existsNoFollow(join(worktree, RUN_COPY.outcome)));
  const left = { plan: readTextNoFollow(worktree, RUN_COPY.plan), outcome: isUnread ? "" : outcome };
  writeRunFile(join(runDir, LEFT), JSON.stringify(left));
  return left;
}

/** One that cannot be read, after a loss of power say, tells that nothing was left: the worktree may have others' words by now. */
function keptLeft(runDir: string): Left | undefined {
  const kept = readTextIfExists(join(runDir, LEFT));
  return kept === undefined ? undefined : (leftSchema.safeParse(jsonIn(kept)).data ?? {});
}

/** What the run of a TODO says by what it left. To be asked when it has ended. */
export function claimsOf(loom: Located & Configured, record: PlanRecord, runDir: string): Claims {
  const given = readTextIfExists(join(runDir, GIVEN));
  if (given === undefined) throw new Error(`${join(runDir, GIVEN)} is gone`);
  const { plan: left, outcome } = takeLeft(worktreeOf(loom, record).path, runDir);
  return withOutcome(readClaims({ given, left, todoId: record.current?.todoId ?? "" }), outcome);
}

/** Why nothing had to change, of a run whose words were kept. */
export function keptNothingToChange(runDir: string): string | undefined {
  return nothingToChangeIn(keptLeft(runDir)?.outcome);
}

/**
 * The agent's own copy of the plan, made afresh before each run: what an earlier run left there, links included, is gone.
 * Only the difference that this run leaves behind is read afterwards, as claims.
 */
export function makeRunCopy(
  loom: Located & Configured,
  record: PlanRecord,
  text: string,
  worktree = worktreeOf(loom, record).path,
): void {
  const home = homeOf(loom.paths, record.id);
  remakeDirNoFollow(worktree, RUN_COPY.dir);
  placeFile(worktree, RUN_COPY.plan, text, 0o644);
  ensureFolder(worktree, EVIDENCE);
  ensureDir(home.bus);
  ensureDir(home.pluginState);
  for (const [name, to] of Object.entries(linksOf(home))) ensureLinkIn(worktree, join(RUN_COPY.dir, name), to);
}

/** What is linked to beside the copy, for people and tools that look for a plan's records there. */
export function linksOf(home: Home): Readonly<Record<string, string>> {
  return { bus: home.bus, "state.json": home.record, "plugin-state": home.pluginState };
}
