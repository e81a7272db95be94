import { ownJsonIn } from "../kernel/json-fields.ts";
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

/** How the lines of most journals begin. What is not written like this is read as JSON as a whole. */
const HEAD = /^\{"ts":"([-:.TZ\d]+)","kind":"(\w+)","schemaVersion":1,"data":(?=\{)/;

/** Only the data has to be parsed: a recovery reads hundreds of thousands of such lines. */
function decodeHeaded(line: string): DecodedLine | undefined {
  const [head, ts, kind] = HEAD.exec(line) ?? [];
  if (head === undefined || ts === undefined || kind === undefined || !line.endsWith("}")) return undefined;
  const data = ownJsonIn(line.slice(head.length, -1));
  if (data === undefined) return undefined;
  return { is: "record", record: { ts, kind, schemaVersion: ENVELOPE_SCHEMA_VERSION, data } };
}

/** Reads one line; never throws, because anything can lie in a file. */
export function decodeLine(line: string): DecodedLine {
  const headed = decodeHeaded(line);
  if (headed) return headed;
  const value = ownJsonIn(line);
  if (typeof value !== "object" || value === null) return { is: "foreign" };
  const { ts, kind, schemaVersion, id } = value as Record<string, unknown>;
  if (typeof ts !== "string" || typeof kind !== "string" || !Number.isInteger(schemaVersion)) return { is: "foreign" };
  if (Number(schemaVersion) > ENVELOPE_SCHEMA_VERSION) return { is: "newer", schemaVersion: Number(schemaVersion) };
  if (schemaVersion !== ENVELOPE_SCHEMA_VERSION || !("data" in value)) return { is: "foreign" };
  if (id !== undefined && typeof id !== "string") return { is: "foreign" };
  return { is: "record", record: value as Envelope };
}
