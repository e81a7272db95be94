import { closeSync, fstatSync } from "node:fs";
import type { PrloomError } from "../../kernel/errors.ts";
import { newerError } from "../../kernel/json-fields.ts";
import { openWhole } from "../../kernel/own-file.ts";
import { formatCursor, type Position, parseCursor } from "../cursor.ts";
import { type DecodedLine, decodeLine } from "../envelope.ts";
import type { Cursor, Envelope } from "../ports.ts";
import { resolveBlob } from "./blobs.ts";
import { type RawLine, scanLines } from "./lines.ts";
import { archivedPath, currentPath, type JournalPlace, type SegmentLayout } from "./segments.ts";

/** A line that is not ours: torn by a crash, or written by another program. */
export interface ForeignLine {
  readonly segment: number;
  readonly offset: number;
  readonly text: string;
}

export interface ReadRequest {
  readonly place: JournalPlace;
  readonly after: Cursor;
  readonly limit: number;
  visit(record: Envelope, cursor: () => Cursor): void;
  /** The segments as they are now; `anew` when what was known about them turned out to be wrong. */
  look(anew: boolean): SegmentLayout;
  onForeign(line: ForeignLine): void;
}

/** Visits up to `limit` records after a position, through as many segments as it takes; returns where it ended. */
export function readJournal(request: ReadRequest): Cursor {
  let left = request.limit;
  let position = parseCursor(request.after);
  let anew = false;
  for (;;) {
    const layout = request.look(anew);
    position = clamp(position, layout);
    const isCurrent = position.segment === layout.current;
    if (left <= 0 || (isCurrent && position.offset === layout.size)) return formatCursor(position);
    const fd = openSegment(request.place, position.segment, layout);
    anew = fd === undefined;
    if (fd === undefined) continue;
    try {
      const read = readSegment({ request, fd, from: position, final: !isCurrent, left });
      left = read.left;
      if (isCurrent || left <= 0) return formatCursor(read.end);
      position = { segment: position.segment + 1, offset: 0 };
    } finally {
      closeSync(fd);
    }
  }
}

/**
 * A position that the journal does not have any more (a power loss took an end that was never synced, or segments
 * were removed by hand) becomes the nearest one that it has.
 */
function clamp(position: Position, layout: SegmentLayout): Position {
  if (position.segment > layout.current) return { segment: layout.current, offset: layout.size };
  if (position.segment === layout.current) {
    return position.offset <= layout.size ? position : { segment: layout.current, offset: layout.size };
  }
  const segment = layout.archived.find((number) => number >= position.segment) ?? layout.current;
  return segment === position.segment ? position : { segment, offset: 0 };
}

/** Undefined when another process rolled the journal over since the layout was taken. */
function openSegment(place: JournalPlace, segment: number, layout: SegmentLayout): number | undefined {
  const isCurrent = segment === layout.current;
  const fd = openWhole(isCurrent ? currentPath(place) : archivedPath(place, segment));
  if (fd === undefined) return undefined;
  if (!isCurrent || fstatSync(fd).ino === layout.inode) return fd;
  closeSync(fd);
  return undefined;
}

interface SegmentRead {
  readonly request: ReadRequest;
  readonly fd: number;
  readonly from: Position;
  readonly final: boolean;
  /** How many more records are wanted. */
  readonly left: number;
}

function readSegment({ request, fd, from, final, left }: SegmentRead): { end: Position; left: number } {
  const { segment } = from;
  let wanted = left;
  const offset = scanLines({ fd, from: from.offset, final }, (line) => {
    const decoded = decodeRaw(line);
    if (decoded.is === "newer") throw newerLine(request.place, segment, decoded.schemaVersion);
    const record = decoded.is === "record" ? resolveBlob(request.place.dir, decoded.record) : undefined;
    if (record) {
      request.visit(record, () => formatCursor({ segment, offset: line.end }));
      wanted -= 1;
    } else request.onForeign({ segment, offset: line.start, text: line.text });
    return wanted > 0;
  });
  return { end: { segment, offset }, left: wanted };
}

export function decodeRaw({ text, isOurs }: RawLine): DecodedLine {
  return isOurs ? decodeLine(text) : { is: "foreign" };
}

/** The error for a journal that a newer prloom wrote to. */
export function newerLine(place: JournalPlace, segment: number, format: number): PrloomError {
  return newerError(`${currentPath(place)} (segment ${segment})`, format, 1);
}
