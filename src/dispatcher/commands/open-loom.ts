import { notesOf } from "../../bus/file/plan-store.ts";
import { pinOf } from "../../config/pin.ts";
import { commitIdentity, currentBranch, openRepository, type Repository, resolveCommit } from "../../git/repository.ts";
import { isoTime, systemClock } from "../../kernel/clock.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { ensureDir } from "../../kernel/files.ts";
import { systemIds } from "../../kernel/ids.ts";
import { acquireOwnerLock, type OwnerLock } from "../../kernel/owner-lock.ts";
import { repairWritten } from "../../kernel/write-together.ts";
import type { Progress } from "../capabilities.ts";
import { type OwnedLoom, openLoom } from "../compose.ts";
import { ensureLayout } from "../layout.ts";
import type { Loom } from "../loom.ts";
import { pathsOf } from "../paths.ts";
import { OWNER_VARIABLE, ownerTag } from "../runs/survivors.ts";
import { type Settings, settingsInForce } from "../settings/pinned.ts";
import { capture } from "../settings/pinning.ts";

export interface OpenOptions {
  readonly cwd: string;
  /**
   * `start`: a person starts the dispatcher, so the working tree counts. `in-force`: what counts now. `if-there`: the same,
   * and a config that is broken or missing is no reason not to open the repository.
   */
  readonly settings?: "start" | "in-force" | "if-there";
  readonly onProgress?: (progress: Progress) => void;
}

async function settingsFor(repo: Repository, wanted: OpenOptions["settings"]): Promise<Settings> {
  if (wanted === "start") {
    const { config, files } = capture({ root: repo.root, path: process.env.PATH });
    const [branch, commit] = await Promise.all([currentBranch(repo), resolveCommit(repo, "HEAD")]);
    return { config, pin: pinOf(files, { pinnedAt: isoTime(systemClock.now()), by: "start", branch, commit }) };
  }
  const settings = settingsInForce(pathsOf(repo).pinFile, repo.root);
  if (settings.problem && wanted !== "if-there") throw settings.problem;
  return settings;
}

/** Opens the repository for reading: no lock, nothing is written, and a config is not needed. */
export async function openForReading(options: OpenOptions): Promise<Loom> {
  const repo = await openRepository(options.cwd);
  const settings = await settingsFor(repo, options.settings ?? "if-there");
  const paths = pathsOf(repo, settings.config.worktreesDir);
  return openLoom({
    repo,
    paths,
    settings,
    clock: systemClock,
    ids: systemIds,
    identity: {},
    environment: process.env,
    readOnly: true,
  });
}

/** Opens the repository as its one owner; undefined when another process owns it. */
export async function openAsOwner(options: OpenOptions): Promise<{ loom: OwnedLoom; lock: OwnerLock } | undefined> {
  const repo = await openRepository(options.cwd);
  const settings = await settingsFor(repo, options.settings);
  const paths = pathsOf(repo, settings.config.worktreesDir);
  ensureDir(paths.authority);
  const lock = await acquireOwnerLock(paths.lock);
  if (!lock) return undefined;
  try {
    process.env[OWNER_VARIABLE] = ownerTag(paths);
    await ensureLayout(repo, paths);
    repairWritten(notesOf(paths.plans));
    const loom = openLoom({
      repo,
      paths,
      settings,
      clock: systemClock,
      ids: systemIds,
      identity: await commitIdentity(repo),
      environment: process.env,
      ...(options.onProgress ? { onProgress: options.onProgress } : {}),
    });
    return { loom, lock };
  } catch (error) {
    lock.release();
    throw error;
  }
}

export function daemonRunning(root: string): PrloomError {
  return new PrloomError(
    "daemon-running",
    `Another prloom already runs in ${root}.`,
    "`prloom status` shows it, `prloom stop` ends it.",
  );
}
