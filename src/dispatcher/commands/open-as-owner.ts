import { dirname } from "node:path";
import { notesOf } from "../../bus/file/plan-store.ts";
import { commitIdentity, commitSigner, openRepository, type Repository } from "../../git/repository.ts";
import { whyBrought } from "../../git/tracked.ts";
import { systemClock } from "../../kernel/clock.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { ensureDir } from "../../kernel/files.ts";
import { systemIds } from "../../kernel/ids.ts";
import { lstatIfThere } from "../../kernel/lstat.ts";
import { acquireOwnerLock, type OwnerLock } from "../../kernel/owner-lock.ts";
import { repairWritten } from "../../kernel/write-together.ts";
import { type OwnedLoom, openLoom } from "../compose.ts";
import { ensureLayout } from "../layout.ts";
import { refuseCopy, settlePlace } from "../moved-repository.ts";
import { inboxOf, type Paths, pathsOf } from "../paths.ts";
import { OWNER_VARIABLE, ownerTag } from "../runs/survivors.ts";
import { type OpenLoomOptions, settingsFor } from "./open-for-reading.ts";

/** Opens the repository as its one owner; undefined when another process owns it. */
export async function openAsOwner(options: OpenLoomOptions): Promise<{ loom: OwnedLoom; lock: OwnerLock } | undefined> {
  const repo = options.repo ?? (await openRepository(options.cwd));
  const settings = await settingsFor(repo, options.settings);
  const paths = pathsOf(repo, settings.config.worktreesDir);
  refuseCopy(paths);
  ensureDir(paths.authority);
  const lock = await acquireOwnerLock(paths.lock);
  if (!lock) return undefined;
  try {
    process.env[OWNER_VARIABLE] = ownerTag(paths);
    await ensureLayout(repo, paths);
    await repairRecords(repo, paths);
    const loom = openLoom({
      repo,
      paths,
      settings,
      clock: systemClock,
      ids: systemIds,
      identity: await commitIdentity(repo),
      signer: settings.config.commit.signoff ? await commitSigner(repo) : undefined,
      environment: process.env,
      ...(options.onProgress ? { onProgress: options.onProgress } : {}),
    });
    await settlePlace(loom, systemIds);
    return { loom, lock };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** A branch that was checked out since may have brought a link in place of the inbox. */
async function repairRecords(repo: Repository, paths: Paths): Promise<void> {
  const { inbox, local, plans } = paths;
  const isLink = (path: string): boolean => lstatIfThere(path)?.isSymbolicLink() ?? false;
  // Git is asked only then: a power loss may have left it an index that it cannot read.
  const isElsewhere = [dirname(local), local, inbox].some(isLink);
  const isForeign = isElsewhere && (await whyBrought(repo, inboxOf(paths, "any").text)) !== undefined;
  repairWritten(notesOf(plans), isForeign ? [inbox] : []);
}

export function daemonRunning(root: string): PrloomError {
  return new PrloomError(
    "daemon-running",
    `Another prloom already runs in ${root}.`,
    "`prloom status` shows it, `prloom stop` ends it.",
  );
}
