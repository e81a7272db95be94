import { notesOf } from "../../bus/file/plan-store.ts";
import { commitIdentity, openRepository } from "../../git/repository.ts";
import { systemClock } from "../../kernel/clock.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { ensureDir } from "../../kernel/files.ts";
import { systemIds } from "../../kernel/ids.ts";
import { acquireOwnerLock, type OwnerLock } from "../../kernel/owner-lock.ts";
import { repairWritten } from "../../kernel/write-together.ts";
import { type OwnedLoom, openLoom } from "../compose.ts";
import { ensureLayout } from "../layout.ts";
import { pathsOf } from "../paths.ts";
import { OWNER_VARIABLE, ownerTag } from "../runs/survivors.ts";
import { type OpenLoomOptions, settingsFor } from "./open-for-reading.ts";

/** Opens the repository as its one owner; undefined when another process owns it. */
export async function openAsOwner(options: OpenLoomOptions): Promise<{ loom: OwnedLoom; lock: OwnerLock } | undefined> {
  const repo = options.repo ?? (await openRepository(options.cwd));
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
