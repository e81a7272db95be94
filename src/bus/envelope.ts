import type { Envelope, NewRecord } from "./ports.ts";

const ENVELOPE_SCHEMA_VERSION = 1;

/** What one line of a journal turned out to be. */
export type DecodedLine =
  | { readonly is: "record"; readonly record: Envelope }
  | { readonly is: "foreign" }
  | { readonly is: "newer"; readonly schemaVersion: number };

/** Data that is written as JSON already: a batch of thousands keeps a text of each, and not an object and its text. */
export class EncodedData {
  readonly json: string;

  constructor(data: object) {
    this.json = JSON.stringify(data);
  }

  toJSON(): unknown {
    return JSON.parse(this.json);
  }
}

/** The line of a record. The id stands before the data, so that people find it in a long line. */
export function encodeRecord(record: NewRecord, ts: string): string {
  const { kind, id } = record;
  if (record.data instanceof EncodedData) {
    const start = JSON.stringify({ ts, kind, schemaVersion: ENVELOPE_SCHEMA_VERSION, id });
    return `${start.slice(0, -1)},"data":${record.data.json}}`;
  }
  const data = record.data === undefined ? null : record.data;
  return JSON.stringify(
    id === undefined
      ? { ts, kind, schemaVersion: ENVELOPE_SCHEMA_VERSION, data }
      : { ts, kind, schemaVersion: ENVELOPE_SCHEMA_VERSION, id, data },
  );
}

/**
 * Half of a settled log are attempts, as we write them: read in a third of the time that JSON takes. A line that is
 * written in any other way is read as JSON.
 */
const ATTEMPT =
  /^\{"ts":"([^"\\\p{Cc}]+)","kind":"attempt","schemaVersion":1,"data":\{"record":"([^"\\\p{Cc}]+)","handler":"([^"\\\p{Cc}]+)"\}\}$/u;

function decodeAttempt(line: string): DecodedLine | undefined {
  const [, ts, record, handler] = ATTEMPT.exec(line) ?? [];
  if (ts === undefined) return undefined;
  return { is: "record", record: { ts, kind: "attempt", schemaVersion: 1, data: { record, handler } } };
}

/** Reads one line; never throws, because anything can lie in a file. */
export function decodeLine(line: string): DecodedLine {
  const attempt = decodeAttempt(line);
  if (attempt) return attempt;
  const value = parseJson(line);
  if (typeof value !== "object" || value === null) return { is: "foreign" };
  const { ts, kind, schemaVersion, id } = value as Record<string, unknown>;
  if (typeof ts !== "string" || typeof kind !== "string" || !Number.isInteger(schemaVersion)) return { is: "foreign" };
  if (Number(schemaVersion) > ENVELOPE_SCHEMA_VERSION) return { is: "newer", schemaVersion: Number(schemaVersion) };
  if (schemaVersion !== ENVELOPE_SCHEMA_VERSION || !("data" in value)) return { is: "foreign" };
  if (id !== undefined && typeof id !== "string") return { is: "foreign" };
  return { is: "record", record: value as Envelope };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
