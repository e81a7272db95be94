import { closeSync, constants, existsSync, fsync, fsyncSync, openSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { crashPoint } from "./crash-point.ts";
import { errnoOf, isMissing, messageOf, PrloomError, unlessGone } from "./errors.ts";
import { diskError, ensureDir, listDir, readCheckedOut, writeAll, writeFileAtomic, writeRunFile } from "./files.ts";
import { ownJsonIn } from "./json-fields.ts";
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
  /** When it was noted, where something may follow from the files as soon as the note is on the disk. */
  at: z.number().optional(),
  /** One without data was removed. */
  files: z.array(z.object({ path: z.string(), data: z.string().nullable() })),
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
  const note = makeNote(noteDir, files);
  try {
    writeNoted(files);
  } catch (error) {
    // Those before it are there: what the note is for holds until they are on the disk, and no longer.
    syncAndForget(files, note).catch(() => undefined);
    throw error;
  }
  return syncAndForget(files, note);
}

/** Writes files without a sync: each is in a note that is on the disk. */
export function writeNoted(files: readonly NewFile[]): void {
  crashPoint("together:noted");
  for (const file of files) writeNew(file, writeRunFile);
  crashPoint("together:written");
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

/** What a note says of files, on a line of its own: a later line counts more. */
export function noteLine(files: readonly { path: string; data: string | null }[], at?: number): string {
  return `${JSON.stringify({ bootId: currentBootId(), at, files: files.map(({ path, data }) => ({ path, data })) })}\n`;
}

/** Under its own name at once: one that is torn is none, because no file is written before it is whole and synced. */
export function makeNote(dir: string, files: readonly NewFile[] = []): string {
  notes += 1;
  const path = join(dir, `${String(notes).padStart(9, "0")}.json`);
  ensureDir(dir);
  let fd: number | undefined;
  try {
    fd = openSync(path, "wx", 0o644);
    if (files.length > 0) writeAll(fd, Buffer.from(noteLine(files)));
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

/** Makes the files safe on other threads, then removes the note. */
export async function syncAndForget(files: readonly Pick<NewFile, "path">[], note: string): Promise<void> {
  const left = files.values();
  const some = (): Promise<void> => new Promise((resolve, reject) => syncNext(left, { resolve, reject }));
  await Promise.all(Array.from({ length: SYNCS_AT_ONCE }, some));
  rmSync(note, { force: true });
}

/** Without a promise for each file: those of a dispatcher are watched, which costs more than the call. */
function syncNext(left: Iterator<Pick<NewFile, "path">>, end: { resolve(): void; reject(error: unknown): void }): void {
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
  // A pipe would be waited for.
  return unlessGone(() => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
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

/** A file that notes speak of. */
interface Noted {
  /** What it was to say, the newest last. */
  readonly texts: string[];
  readonly isSameBoot: boolean;
  readonly at: number | undefined;
}

/**
 * Deals with the notes that a killed process or a power loss left. Only for the process that owns the files, before it
 * reads them. What is not there is written only where something may have followed from the note; all else was never said
 * to be done, so it is asked for again. Folders that are not ours by now are left alone.
 */
export function repairWritten(noteDir: string, foreign: readonly string[] = []): void {
  const notes = listDir(noteDir).map((name) => join(noteDir, name));
  const all = new Map<string, Noted>();
  const read = notes.filter((note) => orWarn(note, () => gatherNoted(note, all)));
  for (const [path, noted] of all) {
    if (!foreign.includes(dirname(path))) orWarn(path, () => repair(path, noted));
    crashPoint("together:repaired");
  }
  for (const note of read) orWarn(note, () => rmSync(note, { force: true }));
}

/** A line that is torn was the last of its note, and no file was written because of it. */
function gatherNoted(note: string, all: Map<string, Noted>): void {
  for (const line of (readCheckedOut(note, Number.MAX_SAFE_INTEGER) ?? "").split("\n")) {
    const { bootId, at, files = [] } = noteSchema.safeParse(ownJsonIn(line)).data ?? {};
    const isSameBoot = bootId !== "" && bootId === currentBootId();
    for (const { path, data } of files) {
      if (data === null) all.delete(path);
      else all.set(path, { texts: [...(all.get(path)?.texts ?? []), data], isSameBoot, at });
    }
  }
}

function repair(path: string, noted: Noted): void {
  if (!noted.isSameBoot && isLost(path, noted)) writeFileAtomic(path, noted.texts.at(-1) ?? "");
  else syncNow(path);
}

/** The clock of file systems is behind by a tick or two. */
const CLOCK_STEP_MS = 20;
/** A file gets its name right after its line, and the line is on the disk soon. What came later than this is not ours. */
const LAST_WRITE_MS = 60_000;

/**
 * Torn, or from before the newest text that is noted. A text that is neither was put there by a person since: when, is told
 * by the time of its name, since a file that is moved there keeps the time of its text.
 */
function isLost(path: string, { texts, at }: Noted): boolean {
  const found = readCheckedOut(path, Number.MAX_SAFE_INTEGER);
  if (found === undefined) return at !== undefined && existsSync(dirname(path));
  if (found === texts.at(-1)) return false;
  const { ctimeMs } = statSync(path);
  if (at !== undefined && ctimeMs - at > LAST_WRITE_MS) return false;
  return texts.some((text) => text.startsWith(found)) || (at ?? 0) - CLOCK_STEP_MS > ctimeMs;
}

/** Something else may lie there by now, since the inbox is in the checkout: that is not ours to repair, and concerns no other plan. */
function orWarn(path: string, act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (error instanceof PrloomError || errnoOf(error) === "EIO") throw error;
    process.emitWarning(`${path} could not be made safe: ${messageOf(error)}`);
    return false;
  }
}
