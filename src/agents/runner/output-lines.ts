import { closeSync, type FSWatcher, readSync, watch } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { errnoOf } from "../../kernel/errors.ts";
import { openIfThere } from "../../kernel/own-file.ts";
import { CUT } from "../shim/output.ts";
import { RUN_FILES } from "./run-files.ts";

const CHUNK = 64 * 1024;

/** Longer lines are handed on in parts: a program that prints no newline must not fill our memory. */
const MAX_LINE = 64 * 1024;

/** Reads what was added to a file since the last call; it may not be there yet. */
class GrowingFile {
  readonly #path: string;
  #fd: number | undefined;
  readonly #buffer = Buffer.alloc(CHUNK);

  constructor(path: string) {
    this.#path = path;
  }

  /** The next bytes (valid until the next call); none when all was read. */
  read(): Buffer {
    this.#fd ??= openIfThere(this.#path);
    if (this.#fd === undefined) return this.#buffer.subarray(0, 0);
    return this.#buffer.subarray(0, readSync(this.#fd, this.#buffer, 0, CHUNK, null));
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}

/** Cuts text into lines; keeps the unfinished last one until there is more. */
class LineCutter {
  #rest = "";

  *cut(text: string): Generator<string> {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) yield line.endsWith("\r") ? line.slice(0, -1) : line;
    if (this.#rest.length < MAX_LINE) return;
    yield this.#rest;
    this.#rest = "";
  }

  *end(): Generator<string> {
    if (this.#rest !== "") yield this.#rest;
    this.#rest = "";
  }
}

interface Wakeups {
  next(): Promise<void>;
  wake(): void;
  close(): void;
}

/** Says "look again" when something in the folder changed. Where folders cannot be watched, four times a second. */
function watchFolder(folder: string): Wakeups {
  let due = false;
  let waiting: (() => void) | undefined;
  const wake = (): void => {
    due = true;
    waiting?.();
  };
  let timer: NodeJS.Timeout | undefined;
  const poll = (): void => {
    timer ??= setInterval(wake, 250);
  };
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(folder, wake);
    watcher.on("error", poll);
  } catch {
    poll();
  }
  return {
    wake,
    next: async () => {
      if (!due) await new Promise<void>((resolve) => (waiting = resolve));
      due = false;
      waiting = undefined;
    },
    close: () => {
      watcher?.close();
      clearInterval(timer);
    },
  };
}

/** The lines that a run prints, as they come, until `ended` settles and all was read. */
export async function* outputLines(runDir: string, ended: Promise<unknown>): AsyncGenerator<string> {
  const file = new GrowingFile(join(runDir, RUN_FILES.output));
  const decoder = new StringDecoder("utf8");
  const cutter = new LineCutter();
  const wakeups = watchFolder(runDir);
  let over = false;
  const end = (): void => {
    over = true;
    wakeups.wake();
  };
  ended.then(end, end);
  try {
    for (;;) {
      const last = over;
      for (let bytes = file.read(); bytes.length > 0; bytes = file.read()) yield* cutter.cut(decoder.write(bytes));
      if (last) break;
      await wakeups.next();
    }
    yield* cutter.cut(decoder.end());
    yield* cutter.end();
  } finally {
    wakeups.close();
    file.close();
  }
}

/**
 * The lines of a program that is talked to, from the shim itself and not from the log: the conversation goes on beyond what
 * the log keeps. From there on, what cannot be a message is left out: a flood of text must not keep the dispatcher busy.
 */
export async function* conversationLines(from: Readable, maxOutputBytes: number): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  const cutter = new LineCutter();
  let bytes = 0;
  let isCut = false;
  let isInside = false;
  function* messages(lines: Iterable<string>): Generator<string> {
    for (const line of lines) {
      if (isCut && !isInside && !line.trimStart().startsWith("{")) continue;
      isInside = line.length >= MAX_LINE;
      yield line;
    }
  }
  for await (const chunk of chunksOf(from)) {
    yield* messages(cutter.cut(decoder.write(chunk)));
    bytes += chunk.length;
    if (isCut || bytes <= maxOutputBytes) continue;
    isCut = true;
    yield CUT;
  }
  yield* messages(cutter.cut(decoder.end()));
  yield* messages(cutter.end());
}

/** A pipe that breaks has ended: how the run ended is told elsewhere. */
async function* chunksOf(from: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of from) yield chunk as Buffer;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
  }
}
