import type { PlanConfig } from "../../config/presets.ts";
import { stagedTree } from "../../git/commits/commit.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { counted } from "../../kernel/text/words.ts";
import { type Todo, todoTitle } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import type { CommandRunning } from "../enclosure/command-run.ts";
import { type Located, worktreeOf } from "../paths.ts";
import { discardWork, firstBase } from "../perform/begin.ts";
import { followPerson } from "../perform/follow-person.ts";
import { blockPlan, currentTodo, type Records, updateRecord } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { takeBackRun } from "../worktree/set-aside.ts";
import { changesOf } from "./changes.ts";
import { tryCommit } from "./commit-hooks.ts";
import { runChecks } from "./run-checks.ts";

/**
 * No agent goes on with the TODO that is under way: a person reworded, removed or ticked it, or has its plan designed again. One
 * that was ticked is done, and what lies in the worktree is its commit; else the work on it is put aside.
 */
export async function leaveTodo(
  loom: CommandRunning,
  planned: PlanRecord,
  { config, mayCommit }: { readonly config: PlanConfig; readonly mayCommit: boolean },
): Promise<void> {
  // A merge that the person is in the middle of is theirs to finish.
  if (planned.current?.stage === "running") await firstBase(loom, planned);
  const record = await followPerson(loom, planned);
  const todo = currentTodo(loom, record);
  if (todo?.state !== "done" || !mayCommit) return putAside(loom, record, "no agent goes on with its TODO as it was");
  // What a reviewer left is not part of it.
  if (record.side) await takeBackRun(loom, record, { run: record.side.run, name: "aside" });
  if (record.current?.stage === "verified") return acceptTicked(loom, record, record.current.tree);
  return takeTicked(loom, record, { todo, config });
}

/** Puts the work on the current TODO aside, and says where it is. */
export async function putAside(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
  why: string,
): Promise<void> {
  const patch = await discardWork(loom, record);
  if (patch !== undefined)
    loom.report({ planId: record.id, level: "warn", text: `${why}; the work is kept in ${patch}` });
}

/** What was ticked by hand passes the same checks and hooks as any other work; the reviewer was the person. */
async function takeTicked(
  loom: CommandRunning,
  record: PlanRecord,
  { todo, config }: { readonly todo: Todo; readonly config: PlanConfig },
): Promise<void> {
  const changes = await changesOf(loom, record);
  if (changes.kind === "diverged") return;
  // It was done elsewhere, or by commits of the person.
  if (changes.files.length === 0) return putAside(loom, record, "its TODO was ticked");
  const failed = await runChecks(loom, record, config);
  const trial = failed === undefined ? await tryCommit(loom, record, todo) : undefined;
  const missing = failed?.missing ?? (trial?.kind === "refused" ? trial.missing : undefined);
  if (missing !== undefined) {
    const place = `prloom open ${record.id} --shell`;
    blockPlan(loom, record.id, {
      reason: `TODO ${todo.index + 1} was ticked by hand, but what lies in its worktree was not accepted. ${missing}`,
      hint: `Fix it (\`${place}\`), or take the tick back for an agent to do it (\`prloom edit ${record.id}\`), then run \`prloom unblock ${record.id}\`; \`--reset\` goes on without it, and keeps a patch.`,
      cause: "step",
    });
    return;
  }
  // Formatters are among checks and hooks.
  const final = await changesOf(loom, record);
  if (final.kind === "diverged") return;
  const tree = await stagedTree(worktreeOf(loom, record));
  crashPoint("ticked:judged");
  acceptTicked(loom, record, tree);
  const text = `TODO ${todo.index + 1} was ticked by hand; committing ${counted(final.files.length, "changed file")}: ${todoTitle(todo)}`;
  loom.report({ planId: record.id, level: "info", text });
}

function acceptTicked(loom: Records, record: PlanRecord, tree: string | undefined): void {
  updateRecord(loom, record.id, ({ current }) => ({
    side: undefined,
    ...(current ? { current: { ...current, stage: "verified", tree, reviewed: true } } : {}),
  }));
}

/** A person ticked it while an agent worked on it: what that agent did is put aside, and what the person did before is not. */
export async function leaveTicked(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
  next: (now: PlanRecord) => Partial<PlanRecord>,
): Promise<void> {
  const run = record.current?.run ?? record.runs;
  const patch = await takeBackRun(loom, record, { run, name: "discarded" });
  updateRecord(loom, record.id, next);
  if (patch === undefined) return;
  const text = `its TODO was ticked while the agent worked; that agent's work is kept in ${patch}`;
  loom.report({ planId: record.id, level: "warn", text });
}
