import { appendFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { PrloomError } from "../kernel/errors.ts";
import { ensureDir, existsNoFollow, readCheckedOut } from "../kernel/files.ts";
import { MAX_FILE_BYTES } from "../kernel/own-file.ts";
import { distrustPrograms } from "../kernel/system/find-program.ts";
import { refuseAmongFiles } from "./enclosing-repository.ts";
import type { GitResult } from "./output.ts";
import { readPlainRepository } from "./plain-repository.ts";
import { readHeadBranch, readTip } from "./refs.ts";
import { GitFailure, type GitOptions, git } from "./run.ts";

export interface Repository {
  /** Top of the main working tree; of a bare repository the repository itself. */
  readonly root: string;
  /** Where objects, refs and the authority live; absolute, without links. */
  readonly commonDir: string;
  readonly bare: boolean;
}

export const STEP_TRAILER = "Prloom-Step";

/** Runs git on the repository as a whole, whatever the current directory or a linked worktree says. */
export function gitAt(repo: Repository, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  return git(args, { cwd: repo.root, gitDir: repo.commonDir, ...options });
}

async function mainTop(cwd: string, gitDir: string, commonDir: string): Promise<string> {
  if (gitDir === commonDir) {
    const top = await git(["rev-parse", "--show-toplevel"], { cwd, allowExit: [128] });
    if (top.code === 0) return realpathSync(top.stdout.trimEnd());
  }
  const configured = await git(["config", "core.worktree"], { cwd: commonDir, gitDir: commonDir, allowExit: [1] });
  if (configured.code === 0) return realpathSync(resolve(commonDir, configured.stdout.trimEnd()));
  return basename(commonDir) === ".git" ? dirname(commonDir) : commonDir;
}

/** Nothing of its working trees is run by us, nor is it taken for a repository of its own where it lies in another one's. */
function opened(found: Repository, tops: readonly string[]): Promise<Repository> {
  distrustPrograms(tops);
  return refuseAmongFiles(found, tops);
}

/** Finds the repository that a directory belongs to; a subdirectory and a linked worktree lead to the same one. */
export async function openRepository(cwd: string): Promise<Repository> {
  const plain = readPlainRepository(cwd);
  if (plain) return opened({ ...plain, bare: false }, [plain.root]);
  const query = ["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"];
  // The common case in one question; it has no answer in a bare repository or inside of `.git`.
  const whole = await git([...query, "--show-toplevel"], { cwd, allowExit: [128] });
  const [ownDir, sharedDir, top] = whole.code === 0 ? whole.stdout.trimEnd().split("\n") : [];
  if (ownDir && top && ownDir === sharedDir) {
    const found = { root: realpathSync(top), commonDir: realpathSync(ownDir), bare: false };
    return opened(found, [found.root]);
  }
  const [gitDir = "", commonDir = ""] = (await askAnyRepository(query, cwd))
    .trimEnd()
    .split("\n")
    .map((path) => realpathSync(path));
  // Asked at the common directory: from a linked worktree of a bare repository, "bare" would be about the worktree.
  const bareSetting = await git(["config", "--type=bool", "core.bare"], {
    cwd: commonDir,
    gitDir: commonDir,
    allowExit: [1],
  });
  const bare = bareSetting.stdout.trim() === "true";
  const found = { root: bare ? commonDir : await mainTop(cwd, gitDir, commonDir), commonDir, bare };
  return opened(found, [found.root, ...(top ? [realpathSync(top)] : [])]);
}

/** Also of a repository that is known by its shape alone, as a bare one is: the caller looks where it lies. */
async function askAnyRepository(query: readonly string[], cwd: string): Promise<string> {
  try {
    return (await git(query, { cwd })).stdout;
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    if (error.kind === "bare-repository")
      return (await git(["-c", "safe.bareRepository=all", ...query], { cwd })).stdout;
    if (error.kind !== "not-a-repository") throw error;
    throw new PrloomError(
      "not-a-repository",
      `${cwd} is not in a git repository.`,
      "Go to your project, or make it one: run `git init`.",
      error,
    );
  }
}

/** Refuses a repository that has nothing to branch from. */
export async function requireCommits(repo: Repository): Promise<void> {
  const any = await gitAt(repo, ["rev-list", "--all", "--max-count=1"]);
  if (any.stdout.trim() !== "") return;
  throw new PrloomError(
    "no-commits",
    "This repository has no commit yet, so there is nothing to branch from.",
    'Make a first one: `git commit --allow-empty -m "First commit"`.',
  );
}

/** The branch that the main working tree is on; undefined when HEAD is detached. */
export async function currentBranch(repo: Repository): Promise<string | undefined> {
  const read = readHeadBranch(repo.commonDir);
  if (read !== undefined) return read;
  const head = await gitAt(repo, ["symbolic-ref", "--quiet", "HEAD"], { allowExit: [1] });
  const ref = head.stdout.trim();
  return ref.startsWith("refs/heads/") ? ref.slice("refs/heads/".length) : undefined;
}

const BRANCHES = "refs/heads/";

/** The commit that a revision names, or undefined. */
export async function resolveCommit(repo: Repository, rev: string): Promise<string | undefined> {
  const branch =
    rev === "HEAD" ? readHeadBranch(repo.commonDir) : rev.startsWith(BRANCHES) ? rev.slice(BRANCHES.length) : undefined;
  const read = branch === undefined ? undefined : readTip(repo.commonDir, branch);
  if (read !== undefined) return read === "absent" ? undefined : read;
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${rev}^{commit}`];
  const found = await gitAt(repo, args, { allowExit: [1, 128] });
  return found.code === 0 ? found.stdout.trim() : undefined;
}

/** The commit at the tip of a branch of this repository, or undefined when there is no such branch. */
export function branchTip(repo: Repository, branch: string): Promise<string | undefined> {
  return resolveCommit(repo, `${BRANCHES}${branch}`);
}

/** Whether git takes this as the name of a branch. */
export async function isBranchName(repo: Repository, branch: string): Promise<boolean> {
  const asked = await gitAt(repo, ["check-ref-format", "--branch", branch], { allowExit: [1, 128, 129] });
  return asked.code === 0 && asked.stdout.trim() === branch;
}

export async function branchExists(repo: Repository, branch: string): Promise<boolean> {
  return (await branchTip(repo, branch)) !== undefined;
}

export async function treeOf(repo: Repository, commit: string): Promise<string> {
  return (await gitAt(repo, ["rev-parse", "--verify", `${commit}^{tree}`])).stdout.trim();
}

/** Whether everything in `ancestor` is in `descendant` too. */
export async function isAncestor(repo: Repository, ancestor: string, descendant: string): Promise<boolean> {
  const args = ["merge-base", "--is-ancestor", ancestor, descendant];
  return (await gitAt(repo, args, { allowExit: [1] })).code === 0;
}

/** The branch that the origin works on, as a clone remembers it. */
export async function originBranch(repo: Repository): Promise<string | undefined> {
  // A symbolic ref is a file, and never packed.
  const file = join(repo.commonDir, "refs/remotes/origin/HEAD");
  if (!existsNoFollow(join(repo.commonDir, "reftable")) && !existsNoFollow(file)) return undefined;
  const origin = await gitAt(repo, ["symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"], { allowExit: [1] });
  return origin.stdout.trim().replace("refs/remotes/origin/", "");
}

/** The branch that work starts from when the config names none; undefined when nothing is a good guess. */
export async function defaultBaseBranch(repo: Repository): Promise<string | undefined> {
  const guesses = [await originBranch(repo), await currentBranch(repo), "main", "master"];
  for (const guess of guesses) {
    if (guess && (await branchExists(repo, guess))) return guess;
  }
  return undefined;
}

const IGNORED = "/prloom/.local/";

/** Makes every checkout of the repository ignore prloom's local files; returns whether it had to. */
export function ensureIgnored(repo: Repository): boolean {
  const path = join(repo.commonDir, "info", "exclude");
  const before = readCheckedOut(path, MAX_FILE_BYTES) ?? "";
  if (before.split(/\r?\n/).includes(IGNORED)) return false;
  ensureDir(dirname(path));
  appendFileSync(path, `${before === "" || before.endsWith("\n") ? "" : "\n"}${IGNORED}\n`);
  return true;
}

/** Environment for commits: nothing when the user has an identity, else one of our own. */
export async function commitIdentity(repo: Repository): Promise<Record<string, string>> {
  // Without useConfigOnly git would invent an identity out of login and host name.
  const ask = (name: string) => gitAt(repo, ["-c", "user.useConfigOnly=true", "var", name], { allowExit: [1, 128] });
  const author = await ask("GIT_AUTHOR_IDENT");
  if (author.code === 0 && (await ask("GIT_COMMITTER_IDENT")).code === 0) return {};
  return {
    GIT_AUTHOR_NAME: "prloom",
    GIT_AUTHOR_EMAIL: "prloom@localhost",
    GIT_COMMITTER_NAME: "prloom",
    GIT_COMMITTER_EMAIL: "prloom@localhost",
  };
}

/** `Name <address>` of the user, as git has it; undefined where it has none. */
export async function commitSigner(repo: Repository): Promise<string | undefined> {
  const args = ["-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"];
  const { code, stdout } = await gitAt(repo, args, { allowExit: [1, 128] });
  return code === 0 ? /^.*<[^<>]*>/.exec(stdout)?.[0] : undefined;
}
