import { existsSync } from "node:fs";
import { join } from "node:path";
import { ensureDir, readTextIfExists, writeFileAtomic } from "../../kernel/files.ts";
import { sha256 } from "../../kernel/ids.ts";
import type { Envelope } from "../ports.ts";

const KEY = "$blob";

export interface BlobReference {
  readonly [KEY]: string;
}

/** Whether data has the form of a reference. Data that merely looks like one is stored as a blob itself. */
export function isBlobReference(data: unknown): data is BlobReference {
  if (typeof data !== "object" || data === null || !(KEY in data)) return false;
  return typeof data[KEY] === "string" && Object.keys(data).length === 1;
}

function blobPath(dir: string, hash: string): string {
  return join(dir, "blobs", `${hash}.json`);
}

/** Stores data beside the journal, named by its content, and returns what stands in the record instead. */
export function writeBlob(dir: string, data: unknown): BlobReference {
  const text = JSON.stringify(data);
  const hash = sha256(text);
  const path = blobPath(dir, hash);
  if (!existsSync(path)) {
    ensureDir(join(dir, "blobs"));
    writeFileAtomic(path, text);
  }
  return { [KEY]: hash };
}

/** The record with its data in place; undefined when the blob is not there or not what its name says. */
export function resolveBlob(dir: string, record: Envelope): Envelope | undefined {
  if (!isBlobReference(record.data)) return record;
  const hash = record.data[KEY];
  if (!/^[0-9a-f]{64}$/.test(hash)) return undefined;
  const text = readTextIfExists(blobPath(dir, hash));
  if (text === undefined || sha256(text) !== hash) return undefined;
  return { ...record, data: JSON.parse(text) };
}
