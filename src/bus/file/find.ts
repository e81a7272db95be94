import { readOwn } from "../../kernel/own-file.ts";
import { formatCursor } from "../cursor.ts";
import type { LogItem } from "../ports.ts";
import { resolveBlob } from "./blobs.ts";
import { lineOf } from "./lines.ts";
import { decodeRaw } from "./reader.ts";
import { archivedPath, currentPath, type JournalPlace, type SegmentLayout } from "./segments.ts";

const NEWLINE = 10;

export interface FindRequest {
  readonly place: JournalPlace;
  readonly layout: SegmentLayout;
  readonly id: string;
  /** Only the two newest segments, in which an id is one record. */
  readonly recent: boolean;
}

/** Finds the newest record with an id. Newest segment first, and only lines that hold the id's bytes are decoded. */
export function findRecord({ place, layout, id, recent }: FindRequest): LogItem | undefined {
  const segments = [...layout.archived, layout.current].toReversed();
  for (const segment of recent ? segments.slice(0, 2) : segments) {
    // Not there when another process rolled the journal over meanwhile, or the segment was removed by hand.
    const bytes = readOwn(segment === layout.current ? currentPath(place) : archivedPath(place, segment));
    const found = bytes && findIn({ place, segment, bytes, id });
    if (found) return found;
  }
  return undefined;
}

interface Search {
  readonly place: JournalPlace;
  readonly segment: number;
  readonly bytes: Buffer;
  readonly id: string;
}

function findIn({ place, segment, bytes, id }: Search): LogItem | undefined {
  const wanted = Buffer.from(`"id":${JSON.stringify(id)}`);
  for (let at = bytes.lastIndexOf(wanted); at !== -1; ) {
    const start = at === 0 ? 0 : bytes.lastIndexOf(NEWLINE, at) + 1;
    const end = bytes.indexOf(NEWLINE, at);
    if (end !== -1) {
      const decoded = decodeRaw(lineOf(bytes.subarray(start, end), { start, end: end + 1, overlong: false }));
      const record =
        decoded.is === "record" && decoded.record.id === id ? resolveBlob(place.dir, decoded.record) : undefined;
      if (record) return { cursor: formatCursor({ segment, offset: end + 1 }), record };
    }
    // The same bytes may stand in the text of another record.
    at = start === 0 ? -1 : bytes.lastIndexOf(wanted, start - 1);
  }
  return undefined;
}
