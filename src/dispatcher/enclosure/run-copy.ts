import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  ensureDir,
  existsNoFollow,
  readTextIfExists,
  readTextNoFollow,
  remakeDirNoFollow,
  writeRunFile,
} from "../../kernel/files.ts";
import { ensureFolder, ensureLinkIn, placeFile } from "../../kernel/held/files.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { type Claims, readClaims } from "../../plan/todos/claims.ts";
import { MAX_OUTCOME_BYTES, nothingToChangeIn, withOutcome } from "../../plan/todos/outcome.ts";
import { EVIDENCE, homeOf, type Located, RUN_COPY, worktreeOf } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";

/** The text that the agent was given, beside the run's other files: claims are the difference to it. */
export const GIVEN = "given.md";
/** What an agent left of its copy, beside the run's other files; only where another run needs the place of the copy. */
const LEFT = { plan: "left.md", outcome: "left-outcome.json" } as const;

interface Left {
  /** Undefined when it is gone. */
  readonly plan: string | undefined;
  readonly outcome: string | undefined;
}

/** What the run left: beside its other files if it was kept there, else in the worktree. */
function readLeft(loom: Located & Configured, record: PlanRecord, runDir: string): Left {
  const plan = readTextIfExists(join(runDir, LEFT.plan));
  if (plan !== undefined) return { plan, outcome: readTextIfExists(join(runDir, LEFT.outcome)) };
  const worktree = worktreeOf(loom, record).path;
  const outcome = readTextNoFollow(worktree, RUN_COPY.outcome, MAX_OUTCOME_BYTES);
  // A link, a pipe or more than is read says something too: that the run meant to, and is to be told.
  const unread = outcome === undefined && existsNoFollow(join(worktree, RUN_COPY.outcome)) ? "" : undefined;
  return { plan: readTextNoFollow(worktree, RUN_COPY.plan), outcome: outcome ?? unread };
}

/** What the run of a TODO says by what it left. */
export function claimsOf(loom: Located & Configured, record: PlanRecord, runDir: string): Claims {
  const given = readFileSync(join(runDir, GIVEN), "utf8");
  const { plan: left, outcome } = readLeft(loom, record, runDir);
  return withOutcome(readClaims({ given, left, todoId: record.current?.todoId ?? "" }), outcome);
}

/** Why nothing had to change, of a run whose words were kept. */
export function keptNothingToChange(runDir: string): string | undefined {
  return nothingToChangeIn(readTextIfExists(join(runDir, LEFT.outcome)));
}

/** Keeps what the run left: the next one gets a copy in the same place. The plan last, so where it is, both are. */
export function keepLeft(loom: Located & Configured, record: PlanRecord, runDir: string): void {
  if (existsSync(join(runDir, LEFT.plan))) return;
  const { plan, outcome } = readLeft(loom, record, runDir);
  if (outcome !== undefined) writeRunFile(join(runDir, LEFT.outcome), outcome);
  if (plan !== undefined) writeRunFile(join(runDir, LEFT.plan), plan);
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
  const links = { bus: home.bus, "state.json": home.record, "plugin-state": home.pluginState };
  for (const [name, to] of Object.entries(links)) ensureLinkIn(worktree, join(RUN_COPY.dir, name), to);
}
