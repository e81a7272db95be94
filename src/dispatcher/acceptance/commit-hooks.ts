import { rmSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import * as z from "zod";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import { stagedTree } from "../../git/commits/commit.ts";
import { readSettings, settingOf } from "../../git/shadow/git-settings.ts";
import { makeShadow, PERSONAL_CONFIG } from "../../git/shadow/shadow.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { ensureDir, readTextIfExists, readTextNoFollow, writeFileAtomic } from "../../kernel/files.ts";
import { placeFile } from "../../kernel/held/files.ts";
import { jsonIn } from "../../kernel/json-fields.ts";
import { isExecutable } from "../../kernel/system/find-program.ts";
import { type Todo, todoTitle } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { type CommandRunning, endOfOutput, howItEnded, runEnclosed } from "../enclosure/command-run.ts";
import { type Enclosure, SHADOW } from "../enclosure/enclose.ts";
import { keptNothingToChange } from "../enclosure/run-copy.ts";
import { homeOf, type Located, worktreeOf } from "../paths.ts";
import { StepInterrupted } from "../runs/refuse-start.ts";
import type { Configured } from "../settings/pinned.ts";

/** The hooks of the user that have a say in a commit, in the order in which git asks them. */
const HOOKS = ["pre-commit", "prepare-commit-msg", "commit-msg"] as const;

/** In the run's folder: the message that the user's hooks left. Absent when there are none. */
const MESSAGE = "commit-message.txt";

export type CommitTrial =
  | { readonly kind: "no-hooks" }
  /** The tree may have changed since `before`: formatters do that. */
  | { readonly kind: "passed"; readonly before: string }
  | { readonly kind: "refused"; readonly missing: string };

/** The line that says who answers for a commit; undefined where none is asked for. */
export function signoffOf({ config, signer }: Configured): string | undefined {
  if (!config.commit.signoff) return undefined;
  if (signer !== undefined) return `Signed-off-by: ${signer}`;
  const message = "Commits are to be signed off (commit.signoff), and git does not know your name.";
  throw new PrloomError(
    "git-failed",
    message,
    "Set user.name and user.email with `git config`, and start prloom again.",
  );
}

/** What a TODO's commit says before the hooks have a say. */
export function stepMessage(loom: Located, record: PlanRecord, todo: Todo | undefined): string {
  const nothing = keptNothingToChange(homeOf(loom.paths, record.id).run(record.current?.run ?? 0));
  const why = nothing === undefined ? "" : `Nothing had to change: ${nothing}\n\n`;
  return `${todo ? todoTitle(todo) : record.current?.todoId}\n\n${why}Plan: ${record.id}`;
}

/** The message that the user's hooks left for the commit of the current TODO; undefined when none were asked. */
export function hookedMessage(loom: Located, record: PlanRecord): string | undefined {
  return readTextIfExists(messageFile(loom, record));
}

function messageFile(loom: Located, record: PlanRecord): string {
  return join(homeOf(loom.paths, record.id).run(record.current?.run ?? 0), MESSAGE);
}

/**
 * Lets the user's hooks judge what is staged, by committing it in a shadow of the repository with the agent's rights: they run
 * what the agent wrote, so never with ours. What they made of the files is in the worktree then, and their message is
 * kept for the real commit. Doing it twice is harmless. To be called when everything is staged.
 */
export async function tryCommit(loom: CommandRunning, record: PlanRecord, todo: Todo): Promise<CommitTrial> {
  const file = messageFile(loom, record);
  // Of an earlier trial, which judged another tree.
  rmSync(file, { force: true });
  if (!(await hasHooks(loom, record))) return { kind: "no-hooks" };
  loom.report({ planId: record.id, level: "info", text: "check: the repository's commit hooks" });
  const runDir = join(homeOf(loom.paths, record.id).run(record.current?.run ?? 0), "checks", "commit");
  const agentDir = join(runDir, RUN_FILES.agentDir);
  const before = await stagedTree(worktreeOf(loom, record));
  const exit = await runEnclosed(loom, record, {
    runDir,
    invocation: { program: "sh", args: ["-c", SCRIPT, "sh", join(agentDir, "message"), join(agentDir, "left")] },
    env: (enclosure) =>
      prepareTrial(loom, record, {
        enclosure,
        runDir,
        message: [stepMessage(loom, record, todo), signoffOf(loom) ?? []].flat().join("\n\n"),
      }),
  });
  if (exit === "interrupted") throw new StepInterrupted("the commit hooks were interrupted");
  const left =
    exit.reason === "exited" && exit.code === 0 ? readTextNoFollow(agentDir, "left", MAX_MESSAGE) : undefined;
  if (left === undefined) {
    const hook = refusingHook(readTextNoFollow(agentDir, "trace") ?? "");
    const who = hook === undefined ? "The commit failed" : `The commit was refused by the ${hook} hook`;
    return { kind: "refused", missing: `${who} (\`git commit\` ${howItEnded(exit)}).${endOfOutput(runDir)}` };
  }
  writeFileAtomic(file, left);
  return { kind: "passed", before };
}

const MAX_MESSAGE = 64 * 1024;

/** The message is read back from the commit: a hook may have changed it in any way that git allows. */
const SCRIPT = `utf8="-c i18n.commitEncoding=UTF-8 -c i18n.logOutputEncoding=UTF-8"
git $utf8 commit --quiet --allow-empty --no-gpg-sign -F "$1" && git $utf8 -c log.showSignature=false log -1 --format=%B > "$2"`;

interface Trial {
  readonly enclosure: Enclosure;
  readonly runDir: string;
  readonly message: string;
}

async function prepareTrial(
  loom: Located & Configured,
  record: PlanRecord,
  trial: Trial,
): Promise<Record<string, string>> {
  const agentDir = join(trial.runDir, RUN_FILES.agentDir);
  ensureDir(trial.runDir);
  placeFile(trial.runDir, join(RUN_FILES.agentDir, "message"), `${trial.message}\n`);
  // Git itself tells which hook it asked and what that answered.
  const trace = { GIT_TRACE2_EVENT: join(agentDir, "trace") };
  return trial.enclosure.sandboxed ? trace : { ...trace, ...(await shadowVariables(loom, record, trial.runDir)) };
}

/** Without a sandbox nothing can be laid over the repository; then git is told where the shadow is. */
async function shadowVariables(
  loom: Located & Configured,
  record: PlanRecord,
  runDir: string,
): Promise<Record<string, string>> {
  const worktree = worktreeOf(loom, record);
  const dir = join(runDir, SHADOW);
  const settings = await readSettings(worktree.commonDir, loom.environment);
  await makeShadow({ worktree, dir, objectsAt: join(worktree.commonDir, "objects"), settings });
  return {
    ...loom.identity,
    GIT_DIR: join(dir, "worktrees", worktree.name),
    GIT_COMMON_DIR: dir,
    GIT_WORK_TREE: worktree.path,
    GIT_CONFIG_GLOBAL: join(dir, PERSONAL_CONFIG),
  };
}

async function hasHooks(loom: Located & Configured, record: PlanRecord): Promise<boolean> {
  const { path, commonDir } = worktreeOf(loom, record);
  const settings = await readSettings(commonDir, loom.environment);
  const set = settingOf(settings, "core.hookspath");
  const dir =
    set === undefined || set === "" ? join(commonDir, "hooks") : hooksFolder(set, path, loom.environment.HOME);
  return HOOKS.some((hook) => isExecutable(join(dir, hook)));
}

/** As git reads it: from the home with a tilde, else from the top of the working tree. */
function hooksFolder(set: string, worktree: string, home = ""): string {
  if (set.startsWith("~/")) return join(home, set.slice(2));
  return isAbsolute(set) ? set : resolve(worktree, set);
}

const traceSchema = z.object({
  event: z.string(),
  sid: z.string(),
  child_id: z.number(),
  hook_name: z.string().optional(),
  code: z.number().optional(),
});

/** As git begins a line about a child. */
const OF_A_CHILD = '{"event":"child_';
/** So many such lines are read: a hook can write whatever it likes there, and each that is not JSON takes its time. */
const MAX_EVENTS = 10_000;

/** The hook that said no, or that never ended; undefined when none of them did. Other gits that hooks start write there too. */
export function refusingHook(trace: string): string | undefined {
  const running = new Map<number, string>();
  const lines = trace.split("\n").filter((line) => line.startsWith(OF_A_CHILD));
  for (const line of lines.slice(0, MAX_EVENTS)) {
    const event = parseEvent(line);
    if (event === undefined || event.sid.includes("/")) continue;
    if (event.event === "child_start" && event.hook_name) running.set(event.child_id, event.hook_name);
    if (event.event === "child_exit" && event.code === 0) running.delete(event.child_id);
  }
  return [...running.values()].at(-1);
}

/** Undefined for half a line, and for what is not an event of a child: any process of the run can write the file. */
function parseEvent(line: string): z.infer<typeof traceSchema> | undefined {
  return traceSchema.safeParse(jsonIn(line)).data;
}
