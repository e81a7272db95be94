import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errnoOf, messageOf, PrloomError } from "../kernel/errors.ts";
import { diskFull } from "../kernel/files.ts";
import { usedUpError, usedUpWords } from "../kernel/used-up.ts";
import { gitProgram, passedVariables } from "./environment.ts";
import { bytesIn, type Encoding, GitResult } from "./output.ts";

export interface GitOptions {
  readonly cwd?: string;
  readonly gitDir?: string;
  readonly workTree?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Piece by piece where an agent decides how long it is. */
  readonly input?: string | Iterable<string>;
  /** Exit codes beside 0 that are answers and not failures. */
  readonly allowExit?: readonly number[];
  readonly timeoutMs?: number;
  /** Bytes; a git that says more is ended. */
  readonly maxOutput?: number;
  /** `latin1` carries file names byte for byte from one command's output into another's input. */
  readonly encoding?: Encoding;
}

const DEFAULT_TIMEOUT_MS = 120_000;

/** Most that one git may say: names of a million files. An agent can make more and longer ones than memory holds. */
const MAX_OUTPUT = 128 * 1024 * 1024;
/** Words for people; the rest of a flood is not read. */
const MAX_WORDS = 1024 * 1024;

/**
 * Configuration is the user's, but an agent may have written it too, so whatever makes git start another program is
 * switched off; filters and merge drivers are `drivers.ts`'. A submodule's own line in `.gitmodules` is stronger than
 * `diff.ignoreSubmodules`: a command that compares with the tree says `--ignore-submodules` itself.
 */
const SAFE_CONFIG = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.pager=cat",
  "core.editor=true",
  "sequence.editor=true",
  "core.askPass=",
  "credential.helper=",
  "core.quotePath=false",
  "core.safecrlf=false",
  "commit.gpgsign=false",
  "tag.gpgsign=false",
  "log.showSignature=false",
  "i18n.commitEncoding=UTF-8",
  "trailer.separators=:",
  "color.ui=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=false",
  "diff.ignoreSubmodules=dirty",
  "diff.submodule=short",
  "status.submoduleSummary=false",
  "advice.addEmbeddedRepo=false",
  // Files that look like a repository do not make their folder one: they may have been committed.
  "safe.bareRepository=explicit",
].flatMap((setting) => ["-c", setting]);

function environment(options: GitOptions): Record<string, string> {
  const env = passedVariables();
  env.GIT_TERMINAL_PROMPT = "0";
  env.GIT_OPTIONAL_LOCKS = "0";
  env.LC_ALL = "C";
  if (options.gitDir !== undefined) env.GIT_DIR = options.gitDir;
  if (options.workTree !== undefined) env.GIT_WORK_TREE = options.workTree;
  return { ...env, ...options.env };
}

/** `worktree add …` out of `-c a=b worktree add …`: what a person would have typed. */
function commandLine(args: readonly string[]): string {
  let start = 0;
  while (args[start] === "-c") start += 2;
  const line = args.slice(start).join(" ");
  return `git ${line.length > 200 ? `${line.slice(0, 200)}…` : line}`;
}

/** In the words of git and of the C library; `LC_ALL=C` keeps them English. */
const NO_SPACE = /No space left on device|Out of diskspace|Disk quota exceeded/;

/** What a failure means to code. `other`: only people can tell. */
type FailureKind = "timeout" | "not-a-repository" | "bare-repository" | "other";

const SAID: readonly (readonly [words: RegExp, kind: FailureKind])[] = [
  [/^fatal: not a git repository/m, "not-a-repository"],
  [/^fatal: cannot use bare repository/m, "bare-repository"],
];

/** A git that failed: the kind is for code, its words are for people. */
export class GitFailure extends PrloomError {
  readonly kind: FailureKind;
  /** What git printed. */
  readonly words: string;

  constructor(kind: FailureKind, words: string, told: { readonly message: string; readonly hint: string }) {
    super("git-failed", told.message, told.hint);
    this.kind = kind;
    this.words = words;
  }
}

function failure(
  args: readonly string[],
  what: string,
  options: GitOptions,
  kind = SAID.find(([words]) => words.test(what))?.[1] ?? "other",
): PrloomError {
  const doing = `running \`${commandLine(args)}\``;
  if (NO_SPACE.test(what)) return diskFull(doing, what);
  const isUsedUp = usedUpWords(what, doing);
  if (isUsedUp !== undefined) return isUsedUp;
  const where = options.workTree ?? options.cwd ?? ".";
  return new GitFailure(kind, what, {
    message: `\`${commandLine(args)}\` failed: ${what}`,
    hint: `Look at the repository with \`git -C ${where} status\`, then try again.`,
  });
}

const notInstalled = () =>
  new PrloomError(
    "git-failed",
    "git is not installed, or not in PATH (only absolute folders of PATH count).",
    "Install git, then run `prloom doctor`.",
  );

function startFailure(error: unknown, args: readonly string[], options: GitOptions): PrloomError {
  const known = usedUpError(error, `running \`${commandLine(args)}\``);
  if (known instanceof PrloomError) return known;
  if (errnoOf(error) !== "ENOENT") return failure(args, messageOf(error), options);
  // Node reports a missing program and a missing working directory with the same errno.
  if (options.cwd !== undefined && !existsSync(options.cwd)) {
    return failure(args, `the folder ${options.cwd} does not exist`, { cwd: "." });
  }
  return notInstalled();
}

function tooLarge(args: readonly string[], most: number): PrloomError {
  return new PrloomError(
    "tree-too-large",
    `\`${commandLine(args)}\` printed more than ${Math.round(most / 1024 / 1024)} MB and was ended: there are too many files with too long names.`,
    "`prloom unblock <plan> --reset` takes back what the agent made.",
  );
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (errnoOf(error) !== "ESRCH") throw error;
  }
}

/** Collects what a pipe says until it is too much; then it says so once. */
function collect(pipe: Readable, most: number, onTooMuch: () => void): readonly Buffer[] {
  const chunks: Buffer[] = [];
  let size = 0;
  pipe.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= most) chunks.push(chunk);
    else if (size - chunk.length <= most) onTooMuch();
  });
  return chunks;
}

/** Its own process group: Ctrl-C in the terminal must not cut a commit in half, and a timeout must reach filters. */
function spawnGit(program: string, args: readonly string[], options: GitOptions): ChildProcessWithoutNullStreams {
  try {
    return spawn(program, [...SAFE_CONFIG, ...args], {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: environment(options),
      detached: true,
      stdio: "pipe",
    });
  } catch (error) {
    throw startFailure(error, args, options);
  }
}

/** Runs git without a shell, without hooks, prompts or the caller's own variables, and within limits. */
export function git(args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  const { encoding = "utf8", timeoutMs = DEFAULT_TIMEOUT_MS, maxOutput = MAX_OUTPUT } = options;
  const program = gitProgram();
  if (program === undefined) return Promise.reject(notInstalled());
  return new Promise((resolve, reject) => {
    let ended: PrloomError | undefined;
    let timer: NodeJS.Timeout | undefined;
    const child = spawnGit(program, args, options);
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(startFailure(error, args, options));
    });
    // Without any files left there are no pipes either; the error comes in a moment.
    if (child.stdout === undefined) return;
    const end = (why: PrloomError): void => {
      ended ??= why;
      killGroup(child.pid);
      // Something that left the group may still hold the pipes; we do not wait for it.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const late = `no answer within ${timeoutMs / 1000} s`;
    timer = setTimeout(() => end(failure(args, late, options, "timeout")), timeoutMs);
    const stdout = collect(child.stdout, maxOutput, () => end(tooLarge(args, maxOutput)));
    const stderr = collect(child.stderr, MAX_WORDS, () => undefined);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (ended !== undefined) return reject(ended);
      try {
        const words = Buffer.concat(stderr).toString("utf8");
        // With nothing left to work with it ends as if something were wrong with the repository.
        const isAnswer = code !== null && options.allowExit?.includes(code) && usedUpWords(words, "") === undefined;
        const allowed = code === 0 || isAnswer;
        if (allowed && code !== null) resolve(new GitResult({ stderr: words, code }, stdout, encoding));
        else reject(failure(args, words.trim() || `exit ${code ?? signal}`, options));
      } catch (error) {
        // What is thrown in here is not caught: it would end the dispatcher.
        reject(error);
      }
    });
    // A git that ends before it has read its input closes the pipe; its exit code tells the story.
    pipeline(bytesIn(options.input ?? "", encoding), child.stdin).catch(() => undefined);
  });
}

/** Refuses a git that is older than `major.minor`. */
export async function requireGitVersion(major: number, minor: number): Promise<void> {
  const { stdout } = await git(["version"]);
  const found = /(\d+)\.(\d+)/.exec(stdout);
  const have = [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)] as const;
  if (have[0] > major || (have[0] === major && have[1] >= minor)) return;
  throw new PrloomError(
    "git-too-old",
    `prloom needs git ${major}.${minor} or newer; this is ${stdout.trim()}.`,
    "Update git, then run `prloom doctor`.",
  );
}
