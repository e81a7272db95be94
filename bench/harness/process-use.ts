import { readFileSync } from "node:fs";

/** What a process has used so far. */
export interface ProcessUse {
  /** CPU time of its own, in milliseconds. */
  readonly ownMs: number;
  /** CPU time of the children that have ended, and of theirs. */
  readonly endedChildrenMs: number;
  /** The most memory it ever had at once, in bytes. */
  readonly peakMemory: number;
}

/** Linux counts in hundredths of a second, whatever its clock is. */
const TICK_MS = 10;

/** Pure: reads `/proc/<pid>/stat` and `/proc/<pid>/status`. */
export function parseUse(stat: string, status: string): ProcessUse {
  // The name of the program stands in parentheses and may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = (at: number): number => Number(fields[at]) * TICK_MS;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
  return {
    ownMs: ticks(11) + ticks(12),
    endedChildrenMs: ticks(13) + ticks(14),
    peakMemory: Number(kilobytes) * 1024,
  };
}

/** What a living process has used so far. */
export function useOf(pid: number): ProcessUse {
  return parseUse(readFileSync(`/proc/${pid}/stat`, "utf8"), readFileSync(`/proc/${pid}/status`, "utf8"));
}
