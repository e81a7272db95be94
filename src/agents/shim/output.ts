import { closeSync, constants, openSync } from "node:fs";
import { writeAll } from "../../kernel/files.ts";
import { TO_REWRITE } from "../../kernel/own-file.ts";

/** Written where the log is cut, at once: a reader that follows it must not wait for what will never come. */
export const CUT = "… more was printed, but not kept";

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

export function openOutputLog(path: string, maxBytes: number): OutputLog {
  const log = new CappedLog(path, maxBytes);
  return {
    write: (chunk) => log.write(chunk),
    close: () => log.close(),
    bytes: () => log.printed,
    truncated: () => log.printed > log.kept,
    problem: () => log.problem,
  };
}

class CappedLog {
  /** Bytes of the program, without our own marks. */
  printed = 0;
  kept = 0;
  problem: string | undefined;
  readonly #fd: number;
  readonly #maxBytes: number;
  #isCut = false;

  constructor(path: string, maxBytes: number) {
    this.#fd = openSync(path, TO_REWRITE | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
    this.#maxBytes = maxBytes;
  }

  write(chunk: Uint8Array): void {
    this.printed += chunk.length;
    if (this.#isCut || this.problem !== undefined) return;
    const first = chunk.subarray(0, this.#maxBytes - this.kept);
    if (this.#put(first)) this.kept += first.length;
    if (first.length < chunk.length) this.#cut();
  }

  close(): void {
    if (this.printed > this.kept) this.#put(Buffer.from(`… ${this.printed - this.kept} bytes not kept\n`));
    closeSync(this.#fd);
  }

  #cut(): void {
    this.#isCut = true;
    this.#put(Buffer.from(`\n${CUT}\n`));
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
