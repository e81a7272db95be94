import { closeSync, constants, fstatSync, fsyncSync, readSync, renameSync } from "node:fs";
import { crashPoint } from "../../kernel/crash-point.ts";
import { isMissing, PrloomError } from "../../kernel/errors.ts";
import { diskError, ensureDir, syncPath, writeAll } from "../../kernel/files.ts";
import { openOwn, openWhole } from "../../kernel/own-file.ts";
import { encodeRecord } from "../envelope.ts";
import type { NewRecord } from "../ports.ts";
import { isBlobReference, writeBlob } from "./blobs.ts";
import { scanLines } from "./lines.ts";
import { decodeRaw, newerLine } from "./reader.ts";
import { archivedPath, currentPath, type JournalPlace, readLayout } from "./segments.ts";

/** Longest line that is written; larger data goes to a blob. */
const MAX_RECORD_BYTES = 64 * 1024;
const NEWLINE = 10;

export interface WriteSettings {
  readonly segmentBytes: number;
  /** False: nothing is ever synced. */
  readonly fsync: boolean;
}

/** The current segment as we left it. */
interface Left {
  readonly inode: number;
  readonly size: number;
  readonly segment: number;
  /** False: something may not be on the disk yet, by an append without sync or by a process that was killed. */
  readonly synced: boolean;
}

/** What a writer remembers of one journal between appends. All of it can be found again in the files. */
export interface WrittenJournal {
  readonly place: JournalPlace;
  /** Ids by segment, of the two newest segments; undefined until they are asked for. */
  ids: Map<number, Set<string>> | undefined;
  /** Undefined, or not what the file is now: another process wrote, or a write of ours failed. */
  left: Left | undefined;
}

export interface Batch {
  readonly records: readonly NewRecord[];
  readonly ts: string;
  readonly sync: boolean;
}

export interface Written {
  readonly segment: number;
  /** Where the batch starts, and where it ends. */
  readonly from: number;
  readonly offset: number;
  readonly duplicates: string[];
}

/** Appends a batch with one write and at most one sync. When it throws, what the journal holds is looked up again. */
export function appendBatch(journal: WrittenJournal, batch: Batch, settings: WriteSettings): Written {
  let fd: number | undefined;
  try {
    fd = openCurrent(journal.place);
    let left = prepare(journal, fd);
    if (left.size >= settings.segmentBytes) {
      // An archived segment is never synced again.
      if (settings.fsync && !left.synced) fsyncSync(fd);
      closeSync(fd);
      fd = undefined;
      archive(journal, left);
      fd = openCurrent(journal.place);
      left = { inode: fstatSync(fd).ino, size: 0, segment: left.segment + 1, synced: false };
    }
    const written = write(journal, { fd, left, batch, fsync: settings.fsync });
    const isSame = written.offset === left.size && left.synced;
    journal.left = { ...left, size: written.offset, synced: batch.sync || isSame };
    return written;
  } catch (error) {
    journal.left = undefined;
    journal.ids = undefined;
    throw diskError(error, currentPath(journal.place));
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Syncs what was appended without it; costs nothing when that is known to be nothing. */
export function syncJournal(journal: WrittenJournal, settings: WriteSettings): void {
  if (!settings.fsync || journal.left?.synced) return;
  let fd: number | undefined;
  try {
    fd = openOwn(currentPath(journal.place));
    fsyncSync(fd);
    if (journal.left) journal.left = { ...journal.left, synced: true };
  } catch (error) {
    if (!isMissing(error)) throw diskError(error, currentPath(journal.place));
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function openCurrent(place: JournalPlace): number {
  const open = () => openOwn(currentPath(place), constants.O_RDWR | constants.O_CREAT | constants.O_APPEND);
  try {
    return open();
  } catch (error) {
    if (!isMissing(error)) throw error;
    ensureDir(place.dir);
    return open();
  }
}

/**
 * What the current segment is now. A torn end is closed with a newline: it may be a whole record that only lacks it,
 * and must then count as a duplicate of the one that is appended again.
 */
function prepare(journal: WrittenJournal, fd: number): Left {
  const { ino: inode, size } = fstatSync(fd);
  const { left } = journal;
  if (left?.inode === inode && left.size === size) return left;
  journal.ids = undefined;
  const torn = size > 0 && lastByte(fd, size) !== NEWLINE;
  if (torn) writeAll(fd, Buffer.from("\n"));
  return { inode, size: torn ? size + 1 : size, segment: readLayout(journal.place).current, synced: false };
}

function lastByte(fd: number, size: number): number | undefined {
  const byte = Buffer.alloc(1);
  return readSync(fd, byte, 0, 1, size - 1) === 1 ? byte[0] : undefined;
}

function archive(journal: WrittenJournal, left: Left): void {
  renameSync(currentPath(journal.place), archivedPath(journal.place, left.segment));
  crashPoint("bus.rolled");
  const newest = journal.ids?.get(left.segment);
  if (newest) {
    journal.ids = new Map([
      [left.segment, newest],
      [left.segment + 1, new Set()],
    ]);
  }
}

interface Write {
  readonly fd: number;
  readonly left: Left;
  readonly batch: Batch;
  readonly fsync: boolean;
}

function write(journal: WrittenJournal, { fd, left, batch, fsync }: Write): Written {
  const ids = batch.records.some((record) => record.id !== undefined) ? loadIds(journal, left.segment) : undefined;
  const current = ids?.get(left.segment);
  const lines: string[] = [];
  const duplicates: string[] = [];
  for (const record of batch.records) {
    const { id } = record;
    if (id !== undefined && isKnown(ids, id)) {
      duplicates.push(id);
      continue;
    }
    lines.push(encodeLine(journal.place, record, batch.ts));
    // Where the batch is not written after all, the ids are looked up again.
    if (id !== undefined) current?.add(id);
  }
  const bytes = Buffer.from(lines.length > 0 ? `\n${lines.join("\n\n")}\n` : "");
  writeAll(fd, bytes);
  crashPoint("bus.written");
  if (fsync && batch.sync && (bytes.length > 0 || !left.synced)) fsyncSync(fd);
  // Whatever the batch says: the file's name is not what a later sync of the file makes sure of.
  if (fsync && left.size === 0) syncPath(journal.place.dir);
  return { segment: left.segment, from: left.size, offset: left.size + bytes.length, duplicates };
}

function isKnown(ids: Map<number, Set<string>> | undefined, id: string): boolean {
  for (const known of ids?.values() ?? []) if (known.has(id)) return true;
  return false;
}

function encodeLine(place: JournalPlace, record: NewRecord, ts: string): string {
  const line = encodeRecord(record, ts);
  if (!isTooLong(line) && !isBlobReference(record.data)) return line;
  const short = encodeRecord({ ...record, data: writeBlob(place.dir, record.data) }, ts);
  if (!isTooLong(short)) return short;
  throw new PrloomError(
    "record-too-large",
    `A record of kind ${record.kind.slice(0, 80)} has an id or kind of more than ${MAX_RECORD_BYTES} bytes.`,
    "Give the record a shorter id; its data may be of any size.",
  );
}

function isTooLong(line: string): boolean {
  if (line.length * 3 <= MAX_RECORD_BYTES) return false;
  return line.length > MAX_RECORD_BYTES || Buffer.byteLength(line) > MAX_RECORD_BYTES;
}

/** The ids of the two newest segments; read from the files the first time only. */
function loadIds(journal: WrittenJournal, segment: number): Map<number, Set<string>> {
  const { place } = journal;
  journal.ids ??= new Map([
    [segment - 1, idsOf(place, segment - 1, archivedPath(place, segment - 1))],
    [segment, idsOf(place, segment, currentPath(place))],
  ]);
  return journal.ids;
}

function idsOf(place: JournalPlace, segment: number, path: string): Set<string> {
  const ids = new Set<string>();
  const fd = openWhole(path);
  if (fd === undefined) return ids;
  try {
    scanLines({ fd, from: 0, final: true }, (line) => {
      const decoded = decodeRaw(line);
      if (decoded.is === "newer") throw newerLine(place, segment, decoded.schemaVersion);
      if (decoded.is === "record" && decoded.record.id !== undefined) ids.add(decoded.record.id);
      return true;
    });
  } finally {
    closeSync(fd);
  }
  return ids;
}
