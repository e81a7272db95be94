import { lastWords } from "../../agents/run-log/run-log.ts";
import { readExit } from "../../agents/runner/run-exit.ts";
import type { PlanConfig } from "../../config/presets.ts";
import { stagedTree } from "../../git/commits/commit.ts";
import { leftMarks, madeUpNames } from "../../git/commits/conflict-marks.ts";
import { writeCommit } from "../../git/commits/pick.ts";
import { remakeCommit } from "../../git/commits/replay.ts";
import { splitNul } from "../../git/output.ts";
import { gitAt } from "../../git/repository.ts";
import { dissolveRepositories } from "../../git/staging/stage.ts";
import { clearLeftovers } from "../../git/worktree/settle-head.ts";
import { gitIn } from "../../git/worktree/worktrees.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { counted } from "../../kernel/text/words.ts";
import type { PlanRecord, Rebase } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import { tellPolicyEnd } from "../buses/notify-person.ts";
import type { Reporting } from "../capabilities.ts";
import type { CommandRunning } from "../enclosure/command-run.ts";
import { claimsOf, keptNothingToChange } from "../enclosure/run-copy.ts";
import { homeOf, type Located, worktreeOf } from "../paths.ts";
import { branchHead, nextRun } from "../perform/begin.ts";
import { endRebase, movedAway } from "../perform/rebase.ts";
import { conflictOf, withResolution } from "../perform/resolution.ts";
import { blockPlan, planText, type Records, updateRecord } from "../records.ts";
import type { Pooled } from "../runs/agent-pool.ts";
import { countRun, sessionsAfterTodo } from "../runs/count-run.ts";
import type { Configured } from "../settings/pinned.ts";
import { changesOf } from "./changes.ts";
import { judgeRun, type RunVerdict } from "./judge-run.ts";
import { runChecks } from "./run-checks.ts";
import { settleMissing } from "./settle-refusal.ts";
import { changeScope, countsAsNoAttempt, takeBackChecks, takeBackUngoverned } from "./verify.ts";

const SAYS_NOTHING =
  'The run did not say that the conflict is resolved: write {"outcome": "done"} to PRLOOM_OUTCOME_FILE.';

const NOTHING_LEFT =
  'Nothing of the commit is left. Bring in what it is for; if the base makes all of it needless, write {"outcome": "nothing-to-change", "reason": "why"} to PRLOOM_OUTCOME_FILE.';

/** What lies in the worktree after a run that was to resolve a conflict decides. */
export async function verifyResolution(
  loom: CommandRunning & Buses & Pooled,
  record: PlanRecord,
  config: PlanConfig,
): Promise<void> {
  const { current } = record;
  if (!current || !conflictOf(record)) return;
  const runDir = homeOf(loom.paths, record.id).run(current.run);
  const summary = countRun(loom, record.id, current.run);
  await takeBackUngoverned(loom, record, current.run);
  const first = await judge(loom, record, config);
  tellPolicyEnd(loom, record, current.run, readExit(runDir));
  crashPoint("resolve:judged");
  if (first.kind === "again" && (await countsAsNoAttempt(loom, record, config, summary))) return;
  const exit = readExit(runDir);
  if (exit?.reason === "spawn-failed" && settleMissing(loom, record, config, exit.error ?? "unknown error")) return;
  const failed = first.kind === "accept" ? await runChecks(loom, record, config) : first;
  // The conflict itself is not to come back.
  if (first.kind === "accept" && failed === undefined && keptNothingToChange(runDir) !== undefined)
    await takeBackChecks(loom, { ...record, kept: undefined }, current.run);
  // A check may run what the agent wrote: what it left is judged like the agent's own work.
  const verdict = failed ?? (config.checks.length === 0 ? first : await judge(loom, record, config));
  if (first.kind === "accept" && verdict.kind !== "accept")
    await dissolveRepositories(worktreeOf(loom, record), current.baseSha);
  if (verdict.kind !== "accept") return settleFailure(loom, record, { verdict, most: config.limits.attemptsPerTodo });
  const tree = await stagedTree(worktreeOf(loom, record));
  updateRecord(loom, record.id, (now) =>
    now.current
      ? {
          current: { ...now.current, stage: "verified", tree, reviewed: undefined },
          ...(config.checks.length === 0 ? {} : { checked: tree }),
        }
      : {},
  );
}

/** As the work of a TODO; beyond that no mark of the conflict may be left. That nothing is left of the commit needs a reason. */
async function judge(loom: CommandRunning, record: PlanRecord, config: PlanConfig): Promise<RunVerdict> {
  const runDir = homeOf(loom.paths, record.id).run(record.current?.run ?? 0);
  const claims = claimsOf(loom, record, runDir);
  const changes = await changesOf(loom, record);
  const text = planText(loom, record);
  const [todo] = text ? withResolution(record, text).doc.todos : [];
  const verdict = await judgeRun({
    exit: readExit(runDir),
    outputTail: claims.tick === "done" ? "" : lastWords(runDir, 2000),
    claims: { ...claims, unread: claims.unread ?? SAYS_NOTHING },
    changes,
    expects: "none",
    evidence: false,
    scope: todo ? changeScope(todo, record, loom.config.governance) : [],
    maxDeletions: config.limits.maxDeletions,
  });
  if (verdict.kind !== "accept" || changes.kind !== "staged") return verdict;
  const { merge, conflict } = record.rebase ?? {};
  if (changes.files.length === 0 && claims.nothingToChange === undefined && !merge)
    return { kind: "again", missing: NOTHING_LEFT };
  const marked = await markedFiles(loom, record);
  if (marked.length > 0)
    return { kind: "again", missing: `Marks of the conflict are left in ${marked.join(", ")}. Take them out.` };
  const conflicting = new Set(conflict?.files);
  const named = madeUpNames(changes.files).filter((name) => conflicting.has(name));
  if (named.length > 0) {
    const missing = `${named.join(", ")}: git named it so because two things of different kinds have the same name. Give it another name, or take it out.`;
    return { kind: "again", missing };
  }
  const isExplained = (claims.reason ?? claims.nothingToChange) !== undefined;
  const asGiven = isExplained ? [] : await leftAsGiven(loom, record);
  if (asGiven.length > 0) return { kind: "again", missing: notLookedAt(asGiven, conflict?.commit ?? "") };
  return verdict;
}

/** As text: attributes may say that a file, of locks say, is not to be compared. */
const PATCH = ["-p", "--text", "--unified=0", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"];

async function markedFiles(loom: Located & Configured, record: PlanRecord): Promise<string[]> {
  const { conflict, merge, upstream } = record.rebase ?? {};
  const commit = conflict?.commit ?? "";
  const worktree = worktreeOf(loom, record);
  const staged = await gitIn(worktree, ["diff-index", "--cached", ...PATCH, record.current?.baseSha ?? "", "--"]);
  const before = await gitIn(worktree, [
    "diff-tree",
    "-r",
    ...PATCH,
    merge ? (upstream ?? "") : `${commit}^`,
    commit,
    "--",
  ]);
  return leftMarks(staged.stdout, before.stdout);
}

/** A binary file, or one that one side deleted, has no marks: it looks resolved even if the agent never opened it. */
async function leftAsGiven(loom: Located & Configured, record: PlanRecord): Promise<string[]> {
  const { tree: given = "", files = [] } = record.rebase?.conflict ?? {};
  // Without names git would list the whole top of the tree.
  if (files.length === 0) return [];
  const entries = async (tree: string): Promise<string[]> => {
    const listed = await gitAt(loom.repo, ["ls-tree", "-z", "--full-tree", tree, "--", ...files]);
    return splitNul(listed.stdout).filter((entry) => entry !== "");
  };
  const left = new Set(await entries(await stagedTree(worktreeOf(loom, record))));
  return (await entries(given)).filter((entry) => left.has(entry)).map((entry) => entry.slice(entry.indexOf("\t") + 1));
}

function notLookedAt(files: readonly string[], commit: string): string {
  return `As git left it, with one side of the conflict and no marks: ${files.join(", ")}. Compare it with what the commit makes of it (\`git diff HEAD ${commit} -- <file>\`). If it is right as it is, write {"outcome": "done", "reason": "why"} to PRLOOM_OUTCOME_FILE.`;
}

type RefusedResolution = Exclude<RunVerdict, { kind: "accept" }>;

function settleFailure(
  loom: Records & Reporting,
  record: PlanRecord,
  { verdict, most }: { verdict: RefusedResolution; most: number },
): void {
  const { id } = record;
  const attempt = record.current?.attempt ?? 1;
  if (verdict.kind === "block" && verdict.rerun) {
    const hint = verdict.hint.replaceAll("<plan>", id);
    blockPlan(loom, id, { reason: verdict.reason, hint, cause: "step" }, (now) => nextRun(now, {}));
  } else if (verdict.kind === "again" && attempt < most) {
    updateRecord(loom, id, (now) => nextRun(now, { attempt: attempt + 1, missing: verdict.missing }));
    const text = `attempt ${attempt} was not accepted: ${verdict.missing.split("\n", 1)[0]}`;
    loom.report({ planId: id, level: "warn", text });
  } else endRebase(loom, id, whyGivenUp(record, verdict));
}

function whyGivenUp({ rebase, current }: PlanRecord, verdict: RefusedResolution): string {
  if (verdict.kind === "block") return verdict.reason;
  if (verdict.kind === "block-todo") return `The agent says that the conflict cannot be resolved: ${verdict.reason}`;
  const tried = counted(current?.attempt ?? 1, "attempt");
  return `The conflict in ${rebase?.conflict?.files.join(", ")} was not resolved in ${tried}. ${verdict.missing}`;
}

/** The commit again, with its own words and author; or the merge. */
function resolved(
  { repo, identity }: Located & Configured,
  { conflict, merge, from, onto }: Rebase,
  { tree, parent }: { readonly tree: string; readonly parent: string },
): Promise<string> {
  if (!merge) return remakeCommit(repo, conflict?.commit ?? "", { tree, parent, identity });
  const { message, date } = merge;
  const env = { ...identity, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  return writeCommit(repo, { tree, parents: [from, onto], message, env });
}

/** What was resolved, as a commit. Made twice it is the same. */
export async function commitResolution(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
): Promise<void> {
  const { current, rebase, branch = "" } = record;
  if (!current?.tree || !rebase?.conflict) return;
  await clearLeftovers(worktreeOf(loom, record), branch);
  const { tree, baseSha: parent } = current;
  const sha = await resolved(loom, rebase, { tree, parent });
  const head = await branchHead(loom, record);
  if (head !== parent && head !== sha) return endRebase(loom, record.id, movedAway(head));
  if (head === parent)
    await gitAt(loom.repo, ["update-ref", "-m", "prloom: rebase", `refs/heads/${branch}`, sha, parent]);
  crashPoint("rebase:committed");
  updateRecord(loom, record.id, (now) => ({
    ...sessionsAfterTodo(loom, now),
    current: undefined,
    kept: undefined,
    rebase: { ...rebase, tip: sha, stands: sha, done: rebase.done + 1, resolved: true, conflict: undefined },
  }));
  loom.report({ planId: record.id, level: "good", text: `conflict resolved: ${sha.slice(0, 8)}` });
}
