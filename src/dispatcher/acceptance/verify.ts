import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { lastWords } from "../../agents/run-log/run-log.ts";
import type { RunLogSummary } from "../../agents/run-log/run-summary.ts";
import { readExit } from "../../agents/runner/run-exit.ts";
import type { Config } from "../../config/config.ts";
import type { PlanConfig } from "../../config/presets.ts";
import { stagedTree } from "../../git/commits/commit.ts";
import { dissolveRepositories } from "../../git/staging/stage.ts";
import { ANSWERS, roleNamed, usualRole } from "../../governance/policy/roles.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { counted } from "../../kernel/text/words.ts";
import { setTodoState } from "../../plan/edit-plan.ts";
import type { Todo } from "../../plan/markdown/markdown.ts";
import { categoryOf } from "../../plan/metadata.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { applyClaims, type Claims } from "../../plan/todos/claims.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import { tellPolicyEnd } from "../buses/notify-person.ts";
import type { Reporting } from "../capabilities.ts";
import type { CommandRunning } from "../enclosure/command-run.ts";
import { claimsOf } from "../enclosure/run-copy.ts";
import { homeOf, type Located, textPath, worktreeOf } from "../paths.ts";
import { nextRun } from "../perform/begin.ts";
import { hookDue } from "../perform/hook-due.ts";
import { blockPlan, currentTodo, planText, type Records, requireRecord, updateRecord } from "../records.ts";
import type { Pooled } from "../runs/agent-pool.ts";
import { overBudget } from "../runs/availability.ts";
import { countRun } from "../runs/count-run.ts";
import { wordsAboutRun } from "../runs/program-words.ts";
import type { Configured } from "../settings/pinned.ts";
import { takeBackRun } from "../worktree/set-aside.ts";
import { changesOf } from "./changes.ts";
import { tryCommit } from "./commit-hooks.ts";
import { hasEvidence, keepEvidence } from "./evidence.ts";
import { type Changes, judgeRun, type RunVerdict } from "./judge-run.ts";
import { leaveTicked, putAside } from "./leave-todo.ts";
import { runChecks } from "./run-checks.ts";
import { settleMissing, settleRefusal } from "./settle-refusal.ts";

/** What lies on disk after the run of a TODO decides; an exit code never does. */
export async function verify(
  loom: CommandRunning & Buses & Extended & Pooled,
  record: PlanRecord,
  config: PlanConfig,
): Promise<void> {
  const { current } = record;
  if (!current) return;
  const runDir = homeOf(loom.paths, record.id).run(current.run);
  const todo = currentTodo(loom, record);
  const summary = countRun(loom, record.id, current.run);
  const claims = claimsOf(loom, record, runDir);
  // Marked by the write below, before a kill kept the reason from being recorded: our own mark, so not a change.
  const markedByUs = todo?.state === "blocked" && claims.tick === "blocked";
  // A person removed, reworded or ticked it while the agent worked: the work is kept aside, not mixed into another TODO.
  if (!todo) return putAside(loom, record, "its TODO was changed while the agent worked");
  // Unless it was accepted before: then only what plugins did to it is judged here.
  if (todo.state === "done" && !current.seen) return leaveTicked(loom, record, (now) => nextRun(now, {}));
  if (todo.state === "blocked" && !markedByUs)
    return putAside(loom, record, "its TODO was marked as blocked while the agent worked");
  await takeBackUngoverned(loom, record, current.run);
  keepProposal(loom, record, claims, runDir);
  const changes = await changesOf(loom, record);
  await keepEvidence(worktreeOf(loom, record).path, runDir);
  const judge = (changed: Changes): Promise<RunVerdict> =>
    judgeRun({
      exit: readExit(runDir),
      outputTail: claims.tick === "done" ? "" : lastWords(runDir, 2000),
      claims,
      changes: changed,
      expects: todo.settings.expects,
      evidence: hasEvidence(runDir),
      scope: changeScope(todo, record, loom.config.governance),
      maxDeletions: config.limits.maxDeletions,
    });
  const first = await judge(changes);
  tellPolicyEnd(loom, record, current.run, readExit(runDir));
  crashPoint("verify:judged");
  if (first.kind === "again" && (await countsAsNoAttempt(loom, record, config, summary))) return;
  const exit = readExit(runDir);
  if (exit?.reason === "spawn-failed" && settleMissing(loom, record, config, exit.error ?? "unknown error")) return;
  const failed = first.kind === "accept" ? await runChecks(loom, record, config) : first;
  if (first.kind === "accept" && failed === undefined && claims.nothingToChange !== undefined)
    await takeBackChecks(loom, record, current.run);
  // A check may run what the agent wrote: what it left, in the tree and in git, is judged like the agent's own work.
  const checked = failed ?? (config.checks.length === 0 ? first : await judge(await changesOf(loom, record)));
  const hooked: Hooked =
    checked.kind === "accept" ? await judgeCommit(loom, record, { todo, checked, judge }) : { verdict: checked };
  const { verdict } = hooked;
  // A check or a hook ran what the agent wrote, and nothing of it is staged: what it left must not wait for a person's git.
  if (first.kind === "accept" && verdict.kind !== "accept")
    await dissolveRepositories(worktreeOf(loom, record), current.baseSha);
  const tree = verdict.kind === "accept" ? await stagedTree(worktreeOf(loom, record)) : undefined;
  const seen = config.checks.length === 0 ? undefined : (hooked.before ?? tree);
  await settleVerdict(loom, record, { verdict, todo, claims, config, tree, seen, summary });
}

/** Where the change may be: the same that a policy inside of an agent has, whatever agent it was. */
export function changeScope(
  { settings: { by, paths } }: Todo,
  { metadata }: PlanRecord,
  { roles }: Config["governance"],
): readonly (readonly string[])[] {
  const category = categoryOf(metadata);
  const least = category === "research" ? ANSWERS : undefined;
  return [paths, roleNamed(by ?? usualRole(category), roles)?.paths, least].flatMap((patterns) =>
    patterns ? [patterns] : [],
  );
}

/** Refused by its provider, or ended because nothing was left to spend: what follows is not about the work. */
export async function countsAsNoAttempt(
  loom: Located & Configured & Records & Pooled & Reporting,
  record: PlanRecord,
  config: PlanConfig,
  summary: RunLogSummary,
): Promise<boolean> {
  const { spent } = requireRecord(loom, record.id);
  if (spent === undefined || overBudget(spent, config.limits.budget) === undefined)
    return settleRefusal(loom, record, config, summary);
  // The next look finds the budget spent, and says so.
  updateRecord(loom, record.id, (now) => nextRun(now, {}));
  return true;
}

/** Nothing judged what it did: an attempt that is governed must not go on from there. */
export async function takeBackUngoverned(loom: Located & Configured & Reporting, record: PlanRecord, run: number) {
  if (!readExit(homeOf(loom.paths, record.id).run(run))?.isUngoverned) return;
  const patch = await takeBackRun(loom, record, { run, name: "aside" });
  if (patch === undefined) return;
  const text = `run ${run} changed files without prloom's rules; put aside in ${patch}`;
  loom.report({ planId: record.id, level: "warn", text });
}

/** Where nothing had to change, and nothing had, what lies there after the checks is theirs, and would be so after each attempt. */
export async function takeBackChecks(loom: Located & Configured & Reporting, record: PlanRecord, run: number) {
  const patch = await takeBackRun(loom, record, { run, name: "aside" });
  if (patch === undefined) return;
  const text = `the checks changed files, where nothing had to change; put aside in ${patch}`;
  loom.report({ planId: record.id, level: "info", text });
}

/** What an agent changed beyond its claims is kept for people, and never applied. */
function keepProposal(loom: Reporting, record: PlanRecord, claims: Claims, runDir: string): void {
  if (claims.proposal === undefined) return;
  writeFileSync(join(runDir, "proposal.md"), claims.proposal);
  loom.report({
    planId: record.id,
    level: "warn",
    text: `the agent changed more of the plan than it may; kept in ${join(runDir, "proposal.md")}`,
  });
}

interface Hooked {
  readonly verdict: RunVerdict;
  /** The tree that hooks were given. */
  readonly before?: string;
}

/** The user's own hooks have the last word; what they changed is judged as well. */
async function judgeCommit(
  loom: CommandRunning,
  record: PlanRecord,
  accepted: { todo: Todo; checked: RunVerdict; judge: (changes: Changes) => Promise<RunVerdict> },
): Promise<Hooked> {
  const trial = await tryCommit(loom, record, accepted.todo);
  if (trial.kind === "refused") return { verdict: { kind: "again", missing: trial.missing } };
  if (trial.kind === "no-hooks") return { verdict: accepted.checked };
  return { verdict: await accepted.judge(await changesOf(loom, record)), before: trial.before };
}

interface JudgedTodo {
  readonly verdict: RunVerdict;
  readonly todo: Todo;
  readonly claims: Claims;
  readonly config: PlanConfig;
  readonly tree: string | undefined;
  /** The tree that the checks passed on. */
  readonly seen: string | undefined;
  readonly summary: RunLogSummary;
}

async function settleVerdict(
  loom: Located & Configured & Records & Extended & Reporting,
  record: PlanRecord,
  result: JudgedTodo,
): Promise<void> {
  const { verdict, todo, claims, config } = result;
  const now = planText(loom, record)?.doc.todos.find(({ id }) => id === todo.id);
  // Checks take their time, in which a person may have changed the TODO: then nothing is missing from it any more.
  if (verdict.kind !== "accept" && (now === undefined || now.state === "done")) {
    updateRecord(loom, record.id, (latest) => nextRun(latest, {}));
    return;
  }
  switch (verdict.kind) {
    case "accept":
      updateRecord(loom, record.id, (now) =>
        now.current
          ? {
              current: { ...now.current, stage: "verified", tree: result.tree, reviewed: undefined },
              ...(result.seen === undefined ? {} : { checked: result.seen }),
              ...(now.current.seen ? {} : hookDue(loom, now, "afterTodo", todo)),
            }
          : {},
      );
      return;
    case "block-todo":
      writeBlockedTodo(loom, record, todo, claims);
      blockPlan(
        loom,
        record.id,
        {
          reason: `The agent says that TODO ${todo.index + 1} cannot be done: ${verdict.reason}`,
          hint: `Answer with \`prloom comment ${record.id} --todo ${todo.index + 1} "…"\` or \`prloom edit ${record.id}\`, then run \`prloom unblock ${record.id}\`.`,
          cause: "step",
        },
        // Unblocked, the same TODO runs again on what the agent left; `unblock --reset` takes that back.
        (now) => nextRun(now, { attempt: 1 }),
      );
      return;
    case "block": {
      const words = verdict.rerun ? await wordsAboutRun(loom, record) : undefined;
      const hint = `${words?.advice ?? ""}${verdict.hint.replaceAll("<plan>", record.id)}`;
      blockPlan(loom, record.id, { reason: verdict.reason, hint, cause: "step" }, (now) =>
        verdict.rerun ? nextRun(now, {}) : {},
      );
      return;
    }
    case "again":
      await tryAgain(loom, record, {
        todo,
        missing: verdict.missing,
        most: config.limits.attemptsPerTodo,
        isStrange: result.summary.trouble?.kind === "format",
      });
  }
}

async function tryAgain(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
  failure: { todo: Todo; missing: string; most: number; isStrange: boolean },
): Promise<void> {
  const { todo, missing, most, isStrange } = failure;
  const attempt = record.current?.attempt ?? 1;
  const isLast = attempt >= most;
  const words = isLast || isStrange ? await wordsAboutRun(loom, record) : undefined;
  // A program that is too old to be understood is so the next time, too.
  if (!isLast && !words?.advice) {
    updateRecord(loom, record.id, (now) => nextRun(now, { attempt: attempt + 1, missing }));
    loom.report({
      planId: record.id,
      level: "warn",
      text: `attempt ${attempt} was not accepted: ${firstLine(missing)}`,
    });
    return;
  }
  const by = words === undefined ? "" : ` by ${words.name}`;
  const reason = `TODO ${todo.index + 1} failed after ${counted(attempt, "attempt")}${by}. ${missing}`;
  const hint = `${words?.advice ?? ""}Look with \`prloom logs ${record.id}\`, then \`prloom unblock ${record.id}\` tries again (\`--reset\` starts the TODO from scratch).`;
  // Unblocking it starts over with a full count of attempts, and with what was missing.
  blockPlan(loom, record.id, { reason, hint, cause: "step" }, (now) => nextRun(now, { attempt: 1, missing }));
}

/** Tick mark and log appends are one write, so a repetition finds the mark and adds nothing. */
function writeBlockedTodo(loom: Located & Records, record: PlanRecord, todo: Todo, claims: Claims): void {
  if (todo.state === "blocked") return;
  const text = planText(loom, record)?.text ?? "";
  loom.texts.write(textPath(loom, record), setTodoState(applyClaims(text, claims), todo.id, "blocked"));
  crashPoint("verify:todo-blocked");
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
