import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { errnoOf } from "../kernel/errors.ts";
import type { Brain, FactOutcome } from "./graph/brain.ts";
import { type Fact, parseFact } from "./graph/facts.ts";

/** More is not read: what comes after it did not happen, as far as rules know. */
const MAX_JOURNAL = 64 * 1024 ** 2;
const MAX_LINES = 500_000;
const MAX_PROBLEMS = 20;

/** Lines that are not facts, and refused ones: told to people, never a reason to stop. */
export interface JournalProblem {
  readonly line: number;
  readonly problem: string;
}

export interface JournalOptions {
  /** No other process has anything to say in it: what it says changes with our own lines only, and is not looked for before each call. */
  readonly isOwn?: boolean;
}

/**
 * A file of facts that several processes append to. What it says is what the lines say in their order, so of two that do the
 * same at once the first in the file wins, for both of them.
 */
export class Journal {
  readonly #path: string;
  readonly #brain: Brain;
  readonly #isOwn: boolean;
  #hasBegun = false;
  #offset = 0;
  #line = 0;
  #reading: Promise<void> = Promise.resolve();
  readonly #outcomes = new Map<string, FactOutcome>();
  readonly problems: JournalProblem[] = [];

  constructor(path: string, brain: Brain, { isOwn = false }: JournalOptions = {}) {
    this.#path = path;
    this.#brain = brain;
    this.#isOwn = isOwn;
  }

  get brain(): Brain {
    return this.#brain;
  }

  /** Reads what others have written since. */
  async refresh(): Promise<void> {
    if (this.#isOwn && this.#hasBegun) return;
    await this.#read();
    this.#hasBegun = true;
  }

  #read(): Promise<void> {
    // A read that failed was told to the one who asked for it; the next one may succeed.
    this.#reading = this.#reading.catch(() => undefined).then(() => this.#readOn());
    return this.#reading;
  }

  /** Writes a fact; what comes of it is what the file says. */
  async append(fact: Fact): Promise<FactOutcome> {
    await mkdir(dirname(this.#path), { recursive: true });
    // A line of a process that died has no end: ours begins on a line of its own.
    const start = (await this.#endsInLine()) ? "\n" : "";
    this.#outcomes.set(fact.key, UNREAD);
    await appendLine(this.#path, `${start}${JSON.stringify(fact)}\n`);
    await this.#read();
    const outcome = this.#outcomes.get(fact.key) ?? UNREAD;
    this.#outcomes.delete(fact.key);
    return outcome;
  }

  async #endsInLine(): Promise<boolean> {
    const file = await openIfThere(this.#path);
    if (!file) return false;
    try {
      const { size } = await file.stat();
      if (size === 0) return false;
      const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
      return buffer[0] !== 10;
    } finally {
      await file.close();
    }
  }

  async #readOn(): Promise<void> {
    // Before each call of a tool, and mostly there is nothing new: one question to the disk.
    const there = await lstat(this.#path).catch(ifMissing);
    if (!there || Math.min(there.size, MAX_JOURNAL) <= this.#offset) return;
    const file = await openIfThere(this.#path);
    if (!file) return;
    try {
      const { size } = await file.stat();
      const end = Math.min(size, MAX_JOURNAL);
      if (end <= this.#offset) return;
      const { bytesRead, buffer } = await file.read(
        Buffer.alloc(end - this.#offset),
        0,
        end - this.#offset,
        this.#offset,
      );
      this.#offset += this.#takeLines(buffer.subarray(0, bytesRead));
    } finally {
      await file.close();
    }
  }

  /** Takes whole lines, and gives how many bytes they had. What is behind the last one's end may be half of a character. */
  #takeLines(bytes: Buffer): number {
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0 && this.#line < MAX_LINES; end = bytes.indexOf(10, start)) {
      this.#line += 1;
      if (end > start) this.#take(bytes.toString("utf8", start, end));
      start = end + 1;
    }
    return start;
  }

  #take(line: string): void {
    const parsed = parseFact(line);
    if ("problem" in parsed) {
      this.#note(parsed.problem);
      return;
    }
    const outcome = this.#brain.add(parsed.fact);
    if (outcome.kind === "refused") this.#note(outcome.refusal.reason);
    if (this.#outcomes.get(parsed.fact.key) === UNREAD) this.#outcomes.set(parsed.fact.key, outcome);
  }

  #note(problem: string): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push({ line: this.#line, problem });
  }
}

const UNREAD: FactOutcome = {
  kind: "refused",
  refusal: { kind: "not-a-move", reason: "The journal takes no more facts." },
};

const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;

/** An agent can put anything in its place: a pipe would be waited for, and a link leads elsewhere. */
async function openFile(path: string, flags: number): Promise<FileHandle | undefined> {
  const file = await open(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  return undefined;
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  const there = await lstat(path).catch(ifMissing);
  return there?.isFile() ? openFile(path, O_RDONLY).catch(ifMissing) : undefined;
}

function ifMissing(error: unknown): undefined {
  if (errnoOf(error) !== "ENOENT") throw error;
}

async function appendLine(path: string, line: string): Promise<void> {
  const file = await openFile(path, O_WRONLY | O_APPEND | O_CREAT);
  if (!file) throw new Error(`${path} is not a file`);
  try {
    await file.appendFile(line);
  } finally {
    await file.close();
  }
}
