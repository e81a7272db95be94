import { existsSync } from "node:fs";
import { PrloomError } from "../kernel/errors.ts";
import { diskFull } from "../kernel/files.ts";
import { usedUpError, usedUpWords } from "../kernel/system/used-up.ts";
import { runDelegated } from "./delegate/delegate.ts";
import type { GitCall, GitEnd } from "./delegate/process.ts";
import { gitProgram, passedVariables } from "./environment.ts";
import { type Encoding, GitResult } from "./output.ts";

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
  /** In no words that come of it, not even in those of others: a server or a proxy may say back what it was sent. */
  readonly secrets?: readonly string[];
}

/** A git of some repository or worktree. */
export type AskGit = (args: readonly string[], options: GitOptions) => Promise<GitResult>;

const DEFAULT_TIMEOUT_MS = 120_000;

/** Most that one git may say: names of a million files. An agent can make more and longer ones than memory holds. */
const MAX_OUTPUT = 128 * 1024 * 1024;

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
  "i18n.logOutputEncoding=UTF-8",
  "trailer.separators=:",
  "color.ui=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=false",
  "diff.ignoreSubmodules=dirty",
  "diff.submodule=short",
  // A patch without prefixes, applied as people apply one, puts files into other folders.
  "diff.noprefix=false",
  "diff.mnemonicPrefix=false",
  "status.submoduleSummary=false",
  "advice.addEmbeddedRepo=false",
  // Files that look like a repository do not make their folder one: they may have been committed.
  "safe.bareRepository=explicit",
].flatMap((setting) => ["-c", setting]);

function environment(options: GitOptions, passed: Readonly<Record<string, string>>): Record<string, string> {
  const env = { ...passed };
  env.GIT_TERMINAL_PROMPT = "0";
  env.GIT_OPTIONAL_LOCKS = "0";
  // Shown in the place of others, objects are not what is merged and pushed.
  env.GIT_NO_REPLACE_OBJECTS = "1";
  // Nothing can be there; of an empty file git says each time that it is deprecated.
  env.GIT_GRAFT_FILE = "/dev/null/grafts";
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
  return usedUpWords(what, doing) ?? ownFailure(args, what, options, kind);
}

/** One that passes only when something is changed in the repository. */
export function ownFailure(
  args: readonly string[],
  what: string,
  options: GitOptions,
  kind: FailureKind = "other",
): GitFailure {
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

function startFailure(end: GitEnd & { kind: "unstarted" }, args: readonly string[], options: GitOptions): PrloomError {
  const error = Object.assign(new Error(end.message), { code: end.errno });
  const known = usedUpError(error, `running \`${commandLine(args)}\``);
  if (known instanceof PrloomError) return known;
  if (end.errno !== "ENOENT") return failure(args, end.message, options);
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

/** Runs git without a shell, without hooks, prompts or the caller's own variables, and within limits. */
export async function git(args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  const { encoding = "utf8", timeoutMs = DEFAULT_TIMEOUT_MS, maxOutput = MAX_OUTPUT, cwd } = options;
  const passed = passedVariables();
  const program = gitProgram(passed.PATH);
  if (program === undefined) throw notInstalled();
  const call: GitCall = {
    program,
    args: [...SAFE_CONFIG, ...args],
    ...(cwd === undefined ? {} : { cwd }),
    env: environment(options, passed),
    timeoutMs,
    maxOutput,
  };
  const end = await runDelegated(call, options.input, encoding);
  if (end.kind === "unstarted") throw startFailure(end, args, options);
  if (end.kind === "too-large") throw tooLarge(args, maxOutput);
  if (end.kind === "timeout") throw failure(args, `no answer within ${timeoutMs / 1000} s`, options, "timeout");
  const { code, signal, stdout } = end;
  const words = (options.secrets ?? []).reduce((text, secret) => text.replaceAll(secret, "(token)"), end.stderr);
  // With nothing left to work with it ends as if something were wrong with the repository.
  const isAnswer = code !== null && options.allowExit?.includes(code) && usedUpWords(words, "") === undefined;
  if (code !== null && (code === 0 || isAnswer)) return new GitResult({ stderr: words, code }, stdout, encoding);
  throw failure(args, words.trim() || `exit ${code ?? signal}`, options);
}

/** Refuses a git that is older than `major.minor`. */
export async function requireGitVersion(major: number, minor: number): Promise<void> {
  const { stdout } = await git(["version"]);
  const found = /(\d{1,9})\.(\d{1,9})/.exec(stdout);
  const have = [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)] as const;
  if (have[0] > major || (have[0] === major && have[1] >= minor)) return;
  throw new PrloomError(
    "git-too-old",
    `prloom needs git ${major}.${minor} or newer; this is ${stdout.trim()}.`,
    "Update git, then run `prloom doctor`.",
  );
}
