import { loadConfig } from "../config/load.ts";
import { commitIdentity, openRepository } from "../git/repository.ts";
import { systemClock } from "../kernel/clock.ts";
import { PrloomError } from "../kernel/errors.ts";
import { ensureDir } from "../kernel/files.ts";
import { systemIds } from "../kernel/ids.ts";
import { acquireOwnerLock, type OwnerLock } from "../kernel/owner-lock.ts";
import { ensureLayout } from "./layout.ts";
import { type Listener, type Loom, openLoom, type Progress } from "./loom.ts";
import { pathsOf } from "./paths.ts";
import { OWNER_VARIABLE, ownerTag } from "./survivors.ts";

export type OwnedLoom = Loom & { listen(listener: Listener): void };

export interface OpenOptions {
  readonly cwd: string;
  readonly onProgress?: (progress: Progress) => void;
}

/** Opens the repository for reading: no lock, nothing is written, a missing config only matters to those who need it. */
export async function openForReading(options: OpenOptions): Promise<Loom> {
  const repo = await openRepository(options.cwd);
  const config = loadConfig(repo.root);
  const paths = pathsOf(repo, config.worktreesDir);
  return openLoom({
    repo,
    paths,
    config,
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
  const config = loadConfig(repo.root);
  const paths = pathsOf(repo, config.worktreesDir);
  ensureDir(paths.authority);
  const lock = await acquireOwnerLock(paths.lock);
  if (!lock) return undefined;
  try {
    process.env[OWNER_VARIABLE] = ownerTag(paths);
    await ensureLayout(repo, paths);
    const loom = openLoom({
      repo,
      paths,
      config,
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
