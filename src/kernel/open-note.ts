import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { diskError, writeAll } from "./files.ts";
import { makeNote, type NewFile, noteLine, syncAndForget, writeNoted } from "./write-together.ts";

/** Nothing is unsynced for much longer than this. */
const SYNC_MS = 1000;
/** A note that has so much ends, and the next one begins: an owner that starts reads them all. */
const MAX_LINES = 2000;
const MAX_BYTES = 16 * 1024 ** 2;

interface Note {
  readonly path: string;
  readonly fd: number;
  /** The files it speaks of, with the first line that does. */
  readonly files: Map<string, number>;
  lines: number;
  bytes: number;
  /** So many of its lines are on the disk. */
  safe: number;
  /** No line was added since the last look at the clock. */
  isStill: boolean;
  /** Under way on another thread. */
  syncing: Promise<void> | undefined;
}

/**
 * Replaces files as `writeTogether` does, and syncs when something is about to follow from them instead of each time: for
 * a process that writes the same files again and again. Each file is noted on the disk before it is first written without
 * a sync, so after a power loss it says what it said at the last sync, or something newer.
 */
export class OpenNote {
  readonly #dir: string;
  readonly #onProblem: (error: unknown) => void;
  #note: Note | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The end of the notes before. */
  #ending: Promise<void> = Promise.resolve();

  constructor(dir: string, onProblem: (error: unknown) => void) {
    this.#dir = dir;
    this.#onProblem = onProblem;
  }

  /** They are written when it returns: safe from a kill, and from a power loss after `sync`. */
  write(files: readonly NewFile[]): void {
    if (files.length === 0) return;
    const note = this.#add(files);
    for (const { path } of files) if (!note.files.has(path)) note.files.set(path, note.lines);
    if (files.some(({ path }) => (note.files.get(path) ?? 0) > note.safe)) syncNote(note);
    try {
      writeNoted(files);
    } catch (error) {
      // It says more than was written, and that holds no longer than until its files are on the disk as they are.
      this.#end(note);
      throw error;
    }
    if (note.lines >= MAX_LINES || note.bytes >= MAX_BYTES) this.#end(note);
  }

  /** Files that are removed: after a power loss they are not made again. */
  forget(paths: readonly string[]): void {
    const noted = paths.filter((path) => this.#note?.files.has(path));
    if (noted.length === 0) return;
    const { files } = this.#add(noted.map((path) => ({ path, data: null })));
    // One that is written again is to be on the disk before, as at first.
    for (const path of noted) files.delete(path);
  }

  /** All that was written so far is safe from a power loss when it returns. Nothing to do costs nothing. */
  sync(): void {
    if (this.#note) syncNote(this.#note);
  }

  /** The same while everything else goes on, with one sync for all that wait for it. */
  async synced(): Promise<void> {
    const note = this.#note;
    if (!note) return;
    const wanted = note.lines;
    while (note.safe < wanted) {
      note.syncing ??= syncElsewhere(note);
      await note.syncing;
    }
  }

  /** Resolves when all files are on the disk and no note is left. */
  close(): Promise<void> {
    if (this.#note) this.#end(this.#note);
    return this.#ending;
  }

  #add(files: Parameters<typeof noteLine>[0]): Note {
    const note = this.#open();
    const line = Buffer.from(noteLine(files, Date.now()));
    try {
      writeAll(note.fd, line);
    } catch (error) {
      // Readers stop at a line that is torn, so no other may follow it.
      this.#end(note);
      throw diskError(error, note.path);
    }
    note.isStill = false;
    note.lines += 1;
    note.bytes += line.length;
    return note;
  }

  #open(): Note {
    if (this.#note) return this.#note;
    const path = makeNote(this.#dir);
    const fd = openSync(path, "a");
    this.#note = { path, fd, files: new Map(), lines: 0, bytes: 0, safe: 0, isStill: false, syncing: undefined };
    this.#timer = setInterval(() => this.#later(), SYNC_MS).unref();
    return this.#note;
  }

  #later(): void {
    if (!this.#note) return;
    if (this.#note.isStill) this.#end(this.#note);
    else {
      this.#note.isStill = true;
      this.synced().catch(this.#onProblem);
    }
  }

  /** The next write begins another note; the files of this one are synced while everything else goes on. */
  #end(note: Note): void {
    clearInterval(this.#timer);
    this.#note = undefined;
    this.#ending = Promise.all([this.#ending, this.#forget(note)]).then(() => undefined);
  }

  async #forget(note: Note): Promise<void> {
    try {
      syncNote(note);
      await note.syncing;
      await syncAndForget(
        [...note.files.keys()].map((path) => ({ path })),
        note.path,
      );
    } catch (error) {
      this.#onProblem(error);
    } finally {
      closeSync(note.fd);
    }
  }
}

function syncNote(note: Note): void {
  if (note.safe === note.lines) return;
  fdatasyncSync(note.fd);
  note.safe = note.lines;
}

function syncElsewhere(note: Note): Promise<void> {
  const { lines } = note;
  return new Promise((resolve, reject) => {
    fdatasync(note.fd, (error) => {
      note.syncing = undefined;
      if (error) {
        reject(error);
        return;
      }
      note.safe = Math.max(note.safe, lines);
      resolve();
    });
  });
}
