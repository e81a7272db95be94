import { statSync } from "node:fs";
import { join } from "node:path";
import { listDir } from "../../kernel/files.ts";
import type { LogName } from "../ports.ts";

/** One journal: a directory and the log's name in it. */
export interface JournalPlace {
  readonly dir: string;
  readonly log: LogName;
}

/** Which segments a journal has. The current one's number follows the highest archived one. */
export interface SegmentLayout {
  readonly archived: readonly number[];
  readonly current: number;
  /** Undefined while the current segment does not exist. */
  readonly inode: number | undefined;
  readonly size: number;
}

/** Path of the segment that is written to. */
export function currentPath(place: JournalPlace): string {
  return join(place.dir, `${place.log}.jsonl`);
}

/** Path of a segment that is full. */
export function archivedPath(place: JournalPlace, segment: number): string {
  return join(place.dir, `${place.log}.${String(segment).padStart(6, "0")}.jsonl`);
}

function archivedNumbers(place: JournalPlace): number[] {
  const pattern = new RegExp(`^${place.log}\\.(\\d{6,})\\.jsonl$`);
  const numbers: number[] = [];
  for (const name of listDir(place.dir)) {
    const match = pattern.exec(name);
    if (match) numbers.push(Number(match[1]));
  }
  return numbers.sort((a, b) => a - b);
}

/**
 * Looks at a journal's segments. Another process may roll it over meanwhile: the listing counts only when the current
 * segment was the same file before and after it.
 */
export function readLayout(place: JournalPlace): SegmentLayout {
  const path = currentPath(place);
  for (;;) {
    const before = statSync(path, { throwIfNoEntry: false });
    const archived = archivedNumbers(place);
    const after = statSync(path, { throwIfNoEntry: false });
    if (before?.ino !== after?.ino) continue;
    return { archived, current: (archived.at(-1) ?? 0) + 1, inode: after?.ino, size: after?.size ?? 0 };
  }
}

/**
 * As `readLayout`, for the price of one stat as long as the current segment is the file it was in `known`, or as there is none and
 * never was: most plans have no events. (A writer that was killed right after it had archived the first segment is noticed with the next append.)
 */
export function refreshLayout(place: JournalPlace, known: SegmentLayout | undefined): SegmentLayout {
  if (!known || (known.inode === undefined && known.archived.length > 0)) return readLayout(place);
  const stat = statSync(currentPath(place), { throwIfNoEntry: false });
  if (stat?.ino !== known.inode) return readLayout(place);
  return stat === undefined || stat.size === known.size ? known : { ...known, size: stat.size };
}
