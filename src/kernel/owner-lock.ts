import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { PrloomError } from "./errors.ts";
import { diskFull } from "./files.ts";
import { checkOwn } from "./own-file.ts";

/**
 * One owner per repository. SQLite's exclusive transaction is an OS file lock that the kernel frees when the process
 * dies, however it dies. Nothing else may ever open the lock file: closing any other descriptor of it in this process
 * would drop the lock.
 */
export interface OwnerLock {
  /** False once the file at the path is another one: it was deleted, and another process may own its successor. */
  held(): boolean;
  release(): void;
}

function tryLock(path: string): OwnerLock | undefined {
  // The library would lock what a link leads to.
  checkOwn(path);
  const db = new DatabaseSync(path);
  try {
    // Its journal would need room on the disk, and a full one is no reason to refuse `prloom clean`.
    db.exec("PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    db.close();
    if (error instanceof Error && /locked|busy/i.test(error.message)) return undefined;
    if (error instanceof Error && /disk is full/i.test(error.message)) throw diskFull(`locking ${path}`, error);
    throw error;
  }
  const inode = statSync(path, { throwIfNoEntry: false })?.ino;
  if (inode === undefined) {
    db.close();
    return undefined;
  }
  let open = true;
  return {
    held: () => open && statSync(path, { throwIfNoEntry: false })?.ino === inode,
    release: () => {
      if (!open) return;
      open = false;
      db.close();
    },
  };
}

/** Waits up to `waitMs` for the lock; undefined when another process keeps it. */
export async function acquireOwnerLock(path: string, waitMs = 2000): Promise<OwnerLock | undefined> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const lock = tryLock(path);
    if (lock) return lock;
    if (performance.now() >= deadline) return undefined;
    await sleep(25);
  }
}

/** What to say when the lock was lost: a step must never run while another process owns the repository. */
export function lockLost(): PrloomError {
  return new PrloomError(
    "lock-lost",
    "The lock file of this repository was replaced while prloom was running.",
    "Another prloom may own the repository now. Look with `prloom status`, then run `prloom start` again.",
  );
}
