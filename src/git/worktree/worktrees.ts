import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { crashPoint } from "../../kernel/crash-point.ts";
import { errnoOf, PrloomError } from "../../kernel/errors.ts";
import { existsNoFollow, listDir, readCheckedOut, readTextNoFollow } from "../../kernel/files.ts";
import { isSameFolder, lstatIfThere } from "../../kernel/lstat.ts";
import { removeTree } from "../../kernel/removal/remove-tree.ts";
import { passesByItself } from "../../kernel/system/used-up.ts";
import { type GitResult, splitNul } from "../output.ts";
import { branchTip, gitAt, isAncestor, type Repository } from "../repository.ts";
import { GitFailure, type GitOptions, git, ownFailure } from "../run.ts";
import { readSettings } from "../shadow/git-settings.ts";
import { noteMadeIndex } from "../staging/made-index.ts";
import { type RefusedDrivers, refusedDrivers, refusedFilter } from "../staging/refused-drivers.ts";
import { refuseBrought } from "../tracked.ts";
import { adminDirsOf, canonical } from "./claims.ts";
import { registerWorktree, unlockRegistered } from "./register.ts";

/** A plan's working tree, and git's own folder for it, which is not in the agent's tree. */
export interface Worktree {
  readonly path: string;
  /** Git's name for it: the folder's name, perhaps with a number behind it. */
  readonly name: string;
  /** `<commonDir>/worktrees/<name>`. */
  readonly gitDir: string;
  readonly commonDir: string;
  /** Names of filters and merge drivers of the user that may run on what agents wrote. */
  readonly trustedFilters?: readonly string[];
}

/** Plan worktrees are whole and their files are compared by what is really on disk, whatever a config says. */
const WORKTREE_CONFIG = [
  "core.sparseCheckout=false",
  "index.sparse=false",
  "core.trustctime=true",
  "core.checkStat=default",
  "core.ignoreStat=false",
  "core.untrackedCache=false",
  "core.splitIndex=false",
].flatMap((setting) => ["-c", setting]);

const CHECKOUT_TIMEOUT_MS = 900_000;

/**
 * Runs git inside a plan's worktree. Where the repository is comes from us: the worktree's `.git` file and the admin
 * folder's `commondir` can be rewritten by the agent.
 */
export async function gitIn(worktree: Worktree, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  const { path, gitDir, commonDir, trustedFilters } = worktree;
  const refused = await refusedDrivers(commonDir, trustedFilters);
  const env = { GIT_COMMON_DIR: commonDir, ...refused.env };
  const where = { cwd: path, gitDir, workTree: path };
  const running = git([...WORKTREE_CONFIG, ...args], { ...where, ...options, env: { ...env, ...options.env } });
  const believed = running.catch(async (error: unknown) => {
    const words = passesByItself(error) ? (error as PrloomError).cause : undefined;
    // A system call of ours that failed says nothing.
    if (typeof words !== "string" || !(await isNamed({ ...where, env }))) throw error;
    throw ownFailure(args, words, where);
  });
  return withoutDrivers(refused, believed);
}

/** What git's words mean by which a plan waits for the system. */
const LACKS = [
  ...["No space left on device", "Out of diskspace", "Disk quota exceeded"],
  ...["Resource temporarily unavailable", "Cannot allocate memory", "Too many open files"],
].map((words) => `*${words}*`);

/** Whether a file of the worktree is called so: git names files in its words, and an agent names files. */
async function isNamed(options: GitOptions): Promise<boolean> {
  const listing = git([...WORKTREE_CONFIG, "ls-files", "--cached", "--others", "-z", "--", ...LACKS], options);
  return listing.then(
    ({ stdout }) => stdout !== "",
    (error: unknown) => !passesByItself(error),
  );
}

/** Tells of a filter that was kept from running instead of the failure that this made. */
async function withoutDrivers(refused: RefusedDrivers, running: Promise<GitResult>): Promise<GitResult> {
  const result = await running.catch((error: unknown) => {
    throw (error instanceof GitFailure ? refusedFilter(error.words, refused) : undefined) ?? error;
  });
  const problem = result.code === 0 ? undefined : refusedFilter(result.stderr, refused);
  if (problem !== undefined) throw problem;
  return result;
}

export interface WorktreeEntry {
  readonly path: string;
  readonly head?: string;
  /** Short name; absent when detached or bare. */
  readonly branch?: string;
  readonly bare: boolean;
  /** Git's reason why it thinks that the folder is gone. */
  readonly prunable?: string;
}

/** All checkouts of the repository, the main one first. */
export async function listWorktrees(repo: Repository): Promise<WorktreeEntry[]> {
  const { stdout } = await gitAt(repo, ["worktree", "list", "--porcelain", "-z"]);
  const blocks = stdout.split("\0\0").filter((block) => block !== "");
  return blocks.map((block, index) => {
    const fields = new Map(
      splitNul(block).map((line) => {
        const space = line.indexOf(" ");
        return space < 0 ? [line, ""] : [line.slice(0, space), line.slice(space + 1)];
      }),
    );
    const head = fields.get("HEAD");
    const branch = fields.get("branch")?.replace(/^refs\/heads\//, "");
    const prunable = fields.get("prunable");
    const bare = fields.has("bare");
    return {
      // Of a submodule, or with its folder elsewhere, git names that folder in place of the main checkout.
      path: index === 0 && !bare ? repo.root : (fields.get("worktree") ?? ""),
      bare,
      ...(head !== undefined && { head }),
      ...(branch !== undefined && { branch }),
      ...(prunable !== undefined && { prunable }),
    };
  });
}

let lastTurn: Promise<unknown> = Promise.resolve();

/** One at a time: `git worktree add` reads the records of all worktrees and fails on one that is being made or removed. */
export function inTurn<T>(act: () => Promise<T>): Promise<T> {
  const turn = lastTurn.then(act);
  lastTurn = turn.catch(() => undefined);
  return turn;
}

/**
 * Removes the folder and git's record of it, finished or half made, locked or not; links in it are not followed. Its
 * processes must be dead. `git worktree prune` is not used: it would also forget worktrees on a disk that is away.
 */
export async function removeWorktree(repo: Repository, path: string): Promise<void> {
  await refuseBrought(repo, path);
  const where = canonical(path);
  const holdsRepository = [repo.root, repo.commonDir].some((kept) => `${kept}${sep}`.startsWith(`${where}${sep}`));
  if (holdsRepository) throw new Error(`refusing to remove ${where}: the repository itself is there`);
  // The record first: git refuses to add others beside one that is half made. A folder that stays is found by its path.
  await inTurn(async () => {
    const { claimed, halfMade } = adminDirsOf(repo.commonDir, where);
    for (const dir of [...claimed, ...halfMade]) await removeTree(dir);
  });
  crashPoint("worktree:forgotten");
  // Out of turn: how long it takes was an agent's choice, and no other plan waits for it.
  await removeTree(where, ".git");
}

/** Whether something lies at a place that git did not make, or did not make for this repository. */
export function isForeign(repo: Repository, path: string): boolean {
  const stat = lstatIfThere(path);
  if (stat === undefined || adminDirsOf(repo.commonDir, canonical(path)).claimed.length > 0) return false;
  if (!stat.isDirectory()) return true;
  // Left by a removal that was killed: git has forgotten it already, and its own file goes last.
  const named = namedBy(path);
  if (named !== undefined && isOnePlace(dirname(named), join(repo.commonDir, "worktrees"))) return false;
  return listDir(path).length > 0;
}

export interface WorktreeRequest {
  readonly path: string;
  readonly branch: string;
  readonly baseSha: string;
  /** The record says that the branch is ours: a branch that contains `baseSha` is taken as it is. */
  readonly reuseBranch?: boolean;
  /** As in `Worktree`. */
  readonly trustedFilters?: readonly string[];
}

export type AddOutcome =
  | { readonly kind: "added"; readonly worktree: Worktree }
  | { readonly kind: "branch-exists"; readonly tip: string };

/** Makes the branch at `baseSha` and a worktree on it; whatever an interrupted attempt left at the path goes first. */
export async function addWorktree(repo: Repository, request: WorktreeRequest): Promise<AddOutcome> {
  const tip = await branchTip(repo, request.branch);
  if (tip !== undefined && !(request.reuseBranch && (await isAncestor(repo, request.baseSha, tip)))) {
    return { kind: "branch-exists", tip };
  }
  // Git notes it as it is given, and where it really is must be known later.
  const where = canonical(request.path);
  await removeWorktree(repo, request.path);
  const { trustedFilters } = request;
  const worktree = await inTurn(async () => {
    // Left by a git that was killed while it made the branch.
    await removeTree(join(repo.commonDir, "refs", "heads", `${request.branch}.lock`));
    await register(repo, { ...request, path: where }, tip);
    const path = realpathSync(request.path);
    const gitDir = gitDirNamedBy(path);
    if (gitDir === undefined) {
      throw new PrloomError(
        "git-failed",
        `git made no worktree at ${path}.`,
        "Run `git worktree list` to see what it made, then `prloom start` again.",
      );
    }
    const { commonDir } = repo;
    const made = { path, name: basename(gitDir), gitDir, commonDir, ...(trustedFilters ? { trustedFilters } : {}) };
    await gitIn(made, ["reset", "--quiet", "--hard", "--no-recurse-submodules"], { timeoutMs: CHECKOUT_TIMEOUT_MS });
    unlockRegistered(gitDir);
    return made;
  });
  noteMadeIndex(worktree);
  return { kind: "added", worktree };
}

/**
 * Makes it without its files. Git would check them out, too; but when that fails it takes away what it made, and killed while it does so
 * it leaves files of which nothing says that they are ours.
 */
async function register(repo: Repository, request: WorktreeRequest, tip: string | undefined): Promise<void> {
  const { path, branch, baseSha } = request;
  const { commonDir } = repo;
  if (tip === undefined && registerWorktree({ ...request, commonDir }, await readSettings(commonDir))) return;
  const target = tip === undefined ? ["--no-track", "-b", branch, path, baseSha] : [path, branch];
  await gitAt(repo, [...WORKTREE_CONFIG, "worktree", "add", "--no-checkout", "--no-guess-remote", ...target]);
}

function gitDirNamedBy(path: string): string | undefined {
  const target = namedBy(path);
  return target && realpathSync(target);
}

function namedBy(path: string): string | undefined {
  const target = /^gitdir: (.+)\n?$/.exec(readTextNoFollow(path, ".git") ?? "")?.[1];
  return target && resolve(path, target);
}

/** Whether the folder says of itself that it is the tree of this admin folder, which may be gone. */
export function isTreeOf(path: string, gitDir: string): boolean {
  const named = lstatIfThere(path)?.isDirectory() ? namedBy(path) : undefined;
  return named !== undefined && isOnePlace(named, gitDir);
}

/** Whether two paths name one place, which may be gone. */
const isOnePlace = (one: string, other: string): boolean =>
  canonical(one) === canonical(other) || isSameFolder(one, other);

/**
 * Whether the folder is a worktree of another repository, by its own word and by that of the other: two may share a folder of worktrees.
 * An agent writes in its tree alone, so what it says there is not enough.
 */
export function isAnothers(path: string, commonDir: string): boolean {
  const named = lstatIfThere(path)?.isDirectory() ? namedBy(path) : undefined;
  if (named === undefined || named.startsWith(`${commonDir}${sep}`)) return false;
  const [gitDir, where] = [canonical(named), canonical(path)];
  if ([commonDir, where].some((own) => gitDir.startsWith(`${own}${sep}`))) return false;
  // Ours, seen at another place.
  if (isSameFolder(dirname(dirname(gitDir)), commonDir)) return false;
  const claim = claimOf(gitDir);
  return claim !== undefined && canonical(dirname(resolve(gitDir, claim))) === where;
}

/** Where an admin folder says that its tree is. One that may not be read, as after a move out of another user's home, says nothing. */
function claimOf(gitDir: string): string | undefined {
  try {
    return readCheckedOut(join(gitDir, "gitdir"))?.trimEnd();
  } catch (error) {
    if (UNSEEN.has(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}

const UNSEEN: ReadonlySet<string> = new Set(["EACCES", "EPERM", "ELOOP", "EIO", "ENOTCONN", "ESTALE"]);

export type WorktreeHealth = "ok" | "missing" | "broken" | "taken";

/** Whether folder and admin folder are there, and the folder is not another repository's. Costs little; it says nothing about what is in them. */
export function worktreeHealth(worktree: Worktree): WorktreeHealth {
  const isDirectory = (path: string) => lstatIfThere(path)?.isDirectory() ?? false;
  if (!existsNoFollow(worktree.path)) return "missing";
  if (isAnothers(worktree.path, worktree.commonDir)) return "taken";
  return isDirectory(worktree.path) && isDirectory(worktree.gitDir) && isWhereMade(worktree) ? "ok" : "broken";
}

/** A branch that is checked out can bring a link above it; then another folder is there, which git never made. */
function isWhereMade({ path, gitDir }: Worktree): boolean {
  const real = realpathSync.native(path);
  if (real === path) return true;
  const claim = readCheckedOut(join(gitDir, "gitdir"))?.trimEnd();
  return claim !== undefined && resolve(gitDir, claim) === join(real, ".git");
}
