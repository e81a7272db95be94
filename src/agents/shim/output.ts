import { closeSync, openSync } from "node:fs";
import { writeAll } from "../../kernel/files.ts";
import { isMessage, OpenLine } from "../runner/rpc-lines.ts";

/** Written where the log is cut, at once: a reader that follows it must not wait for what will never come. */
export const CUT = "… more was printed, but not kept";

/** Written instead where the questions and answers of a program that speaks JSON-RPC are still to come. */
export const THINNED = "… more was printed; from here on only questions and answers are kept";

/** The run's output.log. Takes everything it is given and keeps the first `maxBytes`, so that a program is never blocked. */
export interface OutputLog {
  write(chunk: Uint8Array): void;
  /** Says in the log how much was not kept. */
  close(): void;
  /** Bytes that the program printed. */
  bytes(): number;
  truncated(): boolean;
  /** Why the log could not be written to its end, if it could not. */
  problem(): string | undefined;
}

export interface OutputLimits {
  readonly maxBytes: number;
  /** The program speaks JSON-RPC: its questions and answers are kept beyond `maxBytes`, at most as much again. */
  readonly rpc?: boolean;
}

export function openOutputLog(path: string, limits: OutputLimits): OutputLog {
  const log = new CappedLog(path, limits);
  return {
    write: (chunk) => log.write(chunk),
    close: () => log.close(),
    bytes: () => log.printed,
    truncated: () => log.printed > log.kept,
    problem: () => log.problem,
  };
}

const NEWLINE = 10;

class CappedLog {
  /** Bytes of the program, without our own marks. */
  printed = 0;
  kept = 0;
  problem: string | undefined;
  readonly #fd: number;
  readonly #maxBytes: number;
  readonly #rpc: boolean;
  #keeps: "all" | "messages" | "nothing" = "all";
  /** Of JSON-RPC only: it takes a whole line to say whether it is kept, and the limit may be reached in the middle of one. */
  readonly #line = new OpenLine();
  #lineKept = 0;

  constructor(path: string, { maxBytes, rpc = false }: OutputLimits) {
    this.#fd = openSync(path, "w", 0o600);
    this.#maxBytes = maxBytes;
    this.#rpc = rpc;
  }

  write(chunk: Uint8Array): void {
    this.printed += chunk.length;
    if (this.problem !== undefined) return;
    const rest = this.#keeps === "all" ? this.#first(chunk) : chunk;
    if (rest.length === 0 || this.#keeps === "nothing") return;
    if (this.#rpc) this.#sift(rest);
    else this.#cut();
  }

  close(): void {
    if (this.printed > this.kept) {
      if (this.#keeps === "all") this.#cut();
      this.#put(Buffer.from(`… ${this.printed - this.kept} bytes not kept\n`));
    }
    closeSync(this.#fd);
  }

  /** Keeps what there is room for, and returns the rest. */
  #first(chunk: Uint8Array): Uint8Array {
    const first = chunk.subarray(0, this.#maxBytes - this.kept);
    this.#keep(first);
    if (this.#rpc) {
      const end = first.lastIndexOf(NEWLINE) + 1;
      if (end > 0) this.#line.take();
      this.#line.add(first.subarray(end));
      if (first.length > 0) this.#lineKept = this.#line.bytes;
    }
    return chunk.subarray(first.length);
  }

  #sift(rest: Uint8Array): void {
    for (let left = rest; left.length > 0 && this.#keeps !== "nothing"; ) {
      const end = left.indexOf(NEWLINE) + 1;
      const piece = end === 0 ? left : left.subarray(0, end);
      left = left.subarray(piece.length);
      this.#line.add(piece);
      // Nothing is kept in memory without a limit; and what follows such a line could not be understood without it.
      if (this.#line.bytes > this.#maxBytes) this.#cut();
      else if (end > 0) this.#whole(this.#line.take());
    }
  }

  #whole(line: Buffer): void {
    const isKept = isMessage(line);
    const begun = this.#lineKept;
    this.#lineKept = 0;
    if (isKept && this.kept + line.length - begun > 2 * this.#maxBytes) {
      this.#cut();
      return;
    }
    if (isKept && begun > 0) this.#keep(line.subarray(begun));
    if (this.#keeps === "all") this.#put(Buffer.from(`${begun > 0 && !isKept ? "\n" : ""}${THINNED}\n`));
    this.#keeps = "messages";
    if (isKept && begun === 0) this.#keep(line);
  }

  #cut(): void {
    this.#keeps = "nothing";
    this.#line.take();
    this.#put(Buffer.from(`\n${CUT}\n`));
  }

  #keep(bytes: Uint8Array): void {
    if (this.#put(bytes)) this.kept += bytes.length;
  }

  #put(bytes: Uint8Array): boolean {
    if (this.problem !== undefined) return false;
    try {
      writeAll(this.#fd, bytes);
      return true;
    } catch (error) {
      // A full disk must not end a run that may be about to finish: it goes on, its output is cut here.
      this.problem = `output.log: ${error instanceof Error ? error.message : String(error)}`;
      return false;
    }
  }
}
