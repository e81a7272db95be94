import { closeSync, constants, fsync, fsyncSync, openSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { crashPoint } from "./crash-point.ts";
import { errnoOf, messageOf, PrloomError } from "./errors.ts";
import {
  diskError,
  ensureDir,
  isMissing,
  listDir,
  readCheckedOut,
  writeAll,
  writeFileAtomic,
  writeRunFile,
} from "./files.ts";
import { currentBootId } from "./system/process-tree.ts";

/** A file and what it is to say. */
export interface NewFile {
  readonly path: string;
  readonly data: string;
  /** Called right after it is written, before the next one is. */
  onWritten?(): void;
}

const noteSchema = z.object({
  bootId: z.string(),
  files: z.array(z.object({ path: z.string(), data: z.string() })),
});

/** Up to here a sync for each file costs no more than the note. */
const FEW = 2;
/** Node has four threads for such work; one is left to others. */
const SYNCS_AT_ONCE = 3;
let notes = 0;

/**
 * Replaces files one after the other, each wholly or not at all, as `writeFileAtomic` does, and syncs once instead of
 * once per file: what all of them are to say is first noted in a file of `noteDir`. They are written when it returns;
 * the promise resolves when they are on the disk and the note is gone. A power loss in between may leave files empty,
 * and `repairWritten` gives them what the note says.
 */
export function writeTogether(noteDir: string, files: readonly NewFile[]): Promise<void> {
  if (files.length <= FEW) {
    for (const file of files) writeNew(file, writeFileAtomic);
    return Promise.resolve();
  }
  const note = writeNote(noteDir, files);
  crashPoint("together:noted");
  try {
    for (const file of files) writeNew(file, writeRunFile);
  } catch (error) {
    // Those before it are there: what the note is for holds until they are on the disk, and no longer.
    syncAndForget(files, note).catch(() => undefined);
    throw error;
  }
  crashPoint("together:written");
  return syncAndForget(files, note);
}

function writeNew({ path, data, onWritten }: NewFile, write: (path: string, data: string) => void): void {
  try {
    write(path, data);
  } catch (error) {
    if (!isMissing(error)) throw error;
    ensureDir(dirname(path));
    write(path, data);
  }
  onWritten?.();
}

/** Under its own name at once: one that is torn is none, because no file is written before it is whole and synced. */
function writeNote(dir: string, files: readonly NewFile[]): string {
  notes += 1;
  const path = join(dir, `${String(notes).padStart(9, "0")}.json`);
  const text = JSON.stringify({ bootId: currentBootId(), files: files.map(({ path, data }) => ({ path, data })) });
  ensureDir(dir);
  let fd: number | undefined;
  try {
    fd = openSync(path, "wx", 0o644);
    writeAll(fd, Buffer.from(text));
    fsyncSync(fd);
    syncNow(dir);
    return path;
  } catch (error) {
    if (fd !== undefined) rmSync(path, { force: true });
    throw diskError(error, path);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

async function syncAndForget(files: readonly NewFile[], note: string): Promise<void> {
  const left = files.values();
  const some = (): Promise<void> => new Promise((resolve, reject) => syncNext(left, { resolve, reject }));
  await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, some));
  rmSync(note, { force: true });
}

/** Without a promise for each file: those of a dispatcher are watched, which costs more than the call. */
function syncNext(left: Iterator<NewFile>, end: { resolve(): void; reject(error: unknown): void }): void {
  try {
    for (let { value: file } = left.next(); file; { value: file } = left.next()) {
      const fd = openIfThere(file.path);
      if (fd === undefined) continue;
      fsync(fd, (error) => {
        closeSync(fd);
        if (error) end.reject(error);
        else syncNext(left, end);
      });
      return;
    }
    end.resolve();
  } catch (error) {
    end.reject(error);
  }
}

/** One that is gone was moved or removed since, and that is for others to keep. */
function openIfThere(path: string): number | undefined {
  try {
    // A pipe would be waited for.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function syncNow(path: string): void {
  const fd = openIfThere(path);
  if (fd === undefined) return;
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Deals with the notes that a killed process or a power loss left, the newest first. Only for the process that owns the
 * files, before it reads them. What was never written is not written now: it was never said to be done, so it is asked
 * for again.
 */
export function repairWritten(noteDir: string): void {
  for (const name of listDir(noteDir).toReversed()) {
    const path = join(noteDir, name);
    orWarn(path, () => {
      repairNoted(path);
      rmSync(path, { force: true });
    });
  }
}

function repairNoted(path: string): void {
  const note = noteSchema.safeParse(parse(readCheckedOut(path, Number.MAX_SAFE_INTEGER) ?? "")).data;
  const isSameBoot = note?.bootId !== "" && note?.bootId === currentBootId();
  for (const file of note?.files ?? []) {
    orWarn(file.path, () => repair(file, isSameBoot));
    crashPoint("together:repaired");
  }
}

function repair({ path, data }: NewFile, isSameBoot: boolean): void {
  if (!isSameBoot && isTorn(readCheckedOut(path, Number.MAX_SAFE_INTEGER), data)) writeFileAtomic(path, data);
  else syncNow(path);
}

/** Something else may lie there by now, since the inbox is in the checkout: that is not ours to repair, and concerns no other plan. */
function orWarn(path: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    if (error instanceof PrloomError || errnoOf(error) === "EIO") throw error;
    process.emitWarning(`${path} could not be made safe: ${messageOf(error)}`);
  }
}

/** What a power loss makes of a file that was written and not synced: its beginning, mostly none of it. */
function isTorn(found: string | undefined, data: string): boolean {
  return found !== undefined && found !== data && data.startsWith(found);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
