import { execFile } from "node:child_process";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { quietly, withTimeLimit } from "./time-limit.ts";

const MAX_FILES = 2000;
const MAX_LISTED = 4 * 1024 ** 2;
const DEADLINE_MS = 10_000;
const BEGIN_MS = 1000;

/** What a git command prints in the worktree, as far as NUL characters end it. */
type Git = (args: readonly string[]) => Promise<readonly string[]>;

/**
 * Files of a worktree that are other than at the last look, whatever changed them. It only looks at what git calls changed or
 * new since the first one, and at times and sizes: it is evidence for people, and the dispatcher looks for itself.
 */
export class TouchedFiles {
  readonly #root: string;
  readonly #git: Git;
  /** The commit that the worktree was on at the first look. */
  #first: string | undefined;
  #known: ReadonlyMap<string, string> = new Map();
  #looking: Promise<readonly string[]> = Promise.resolve([]);

  constructor(root: string, git: Git = (args) => quietGit(root, args)) {
    this.#root = root;
    this.#git = git;
  }

  /** The first look. A change that comes before it is over would not be seen as one, so calls wait for it, but never for long. */
  begin(): Promise<void> {
    return quietly(() => withTimeLimit(this.look(), BEGIN_MS));
  }

  /** Since the last call; the first one only begins. One look at a time, in the order in which they were asked for. */
  look(): Promise<readonly string[]> {
    this.#looking = this.#looking.then(() => this.#compare());
    return this.#looking;
  }

  /** Leaves out files that we put back: the next call did not change them. */
  forget(paths: readonly string[]): void {
    const put = new Set(paths);
    this.#known = new Map([...this.#known].filter(([path]) => !put.has(path)));
  }

  async #compare(): Promise<readonly string[]> {
    // What cannot be listed, as a hundred thousand new files, must not keep the call itself from being recorded.
    const now = await this.#marks().catch(() => this.#known);
    const before = this.#known;
    this.#known = now;
    const gone = [...before.keys()].filter((path) => !now.has(path));
    return [...[...now].flatMap(([path, mark]) => (before.get(path) === mark ? [] : [path])), ...gone];
  }

  /** `git status` does not list what an agent has committed, so commits since the first look are compared as well. */
  async #listed(): Promise<readonly string[]> {
    const lines = await this.#git(STATUS_ARGS);
    const [commit] = lines.flatMap((line) => COMMIT.exec(line)?.groups?.id ?? []);
    this.#first ??= commit;
    if (commit === undefined || this.#first === undefined || commit === this.#first) return namesInStatus(lines);
    const committed = await this.#git(["diff-tree", "-r", "-z", "--name-only", "--no-renames", this.#first, commit]);
    return [...new Set([...namesInStatus(lines), ...committed])];
  }

  async #marks(): Promise<ReadonlyMap<string, string>> {
    const marks = new Map<string, string>();
    for (const path of (await this.#listed()).slice(0, MAX_FILES)) {
      const stat = await lstat(join(this.#root, path), { bigint: true }).catch(() => undefined);
      marks.set(path, stat ? `${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : "gone");
    }
    return marks;
  }
}

const STATUS_ARGS = [
  ...["status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind"],
  ...["--untracked-files=all", "--no-renames"],
];
const COMMIT = /^# branch\.oid (?<id>[0-9a-f]+)$/;
/** A file that is new, changed or in conflict. */
const FILE = /^(?:\? |1 (?:\S+ ){7}|u (?:\S+ ){9})(?<name>.+)$/s;

const namesInStatus = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => FILE.exec(line)?.groups?.name ?? []);

/** All files of a worktree that git does not ignore. */
export const filesIn = (root: string): Promise<string[]> =>
  quietGit(root, ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);

/** Without the user's settings: programs that they name would run at each look. */
async function quietGit(root: string, args: readonly string[]): Promise<string[]> {
  const quiet = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-optional-locks"];
  const options = { cwd: root, maxBuffer: MAX_LISTED, timeout: DEADLINE_MS };
  const { stdout } = await promisify(execFile)("git", [...quiet, ...args], options);
  return stdout.split("\0").filter((line) => line !== "");
}
