import { closeSync, openSync } from "node:fs";
import { writeAll } from "../../kernel/files.ts";

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
  const fd = openSync(path, "w", 0o600);
  let printed = 0;
  let kept = 0;
  let cut = false;
  let keptOfProgram = 0;
  let problem: string | undefined;
  const keep = (bytes: Uint8Array): void => {
    try {
      writeAll(fd, bytes);
      kept += bytes.length;
    } catch (error) {
      // A full disk must not end a run that may be about to finish: it goes on, its output is cut here.
      problem = `output.log: ${error instanceof Error ? error.message : String(error)}`;
    }
  };
  return {
    write: (chunk) => {
      printed += chunk.length;
      const room = problem === undefined && !cut ? maxBytes - kept : 0;
      if (room > 0) keep(chunk.subarray(0, room));
      if (problem !== undefined || cut || chunk.length <= room) return;
      cut = true;
      keptOfProgram = kept;
      keep(Buffer.from(`\n${CUT}\n`));
    },
    close: () => {
      if (cut && problem === undefined) keep(Buffer.from(`… ${printed - keptOfProgram} bytes not kept\n`));
      closeSync(fd);
    },
    bytes: () => printed,
    truncated: () => cut || printed > kept,
    problem: () => problem,
  };
}
