import { renameSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod";
import { isMissing, messageOf } from "../../kernel/errors.ts";
import {
  ensureDir,
  existsNoFollow,
  readTextIfExists,
  syncPath,
  writeFileAtomic,
  writeRunFile,
} from "../../kernel/files.ts";
import type { JsonValue } from "../../kernel/json.ts";
import { newerFormat } from "../../kernel/json-fields.ts";

const fileSchema = z.object({
  schemaVersion: z.literal(1),
  values: z.record(z.string(), z.json()),
  applied: z.record(z.string(), z.string()),
  seq: z.int().min(0),
});

/** What the file of one plugin or bridge says. */
export interface StoreContent {
  readonly values: Readonly<Record<string, JsonValue>>;
  /** How far the settlements of each bus are in here: by plan id, `*` for the global bus. */
  readonly applied: Readonly<Record<string, string>>;
  /** Number of the newest change. */
  readonly seq: number;
}

/** A file that could not be read as what it should be, and where it was put. */
export interface StateProblem {
  readonly path: string;
  readonly keptAs: string;
  readonly message: string;
}

/** What a file says; undefined when there is none, or none that can be read: that one is kept aside and reported. */
export function readStoreFile(path: string, onProblem: (problem: StateProblem) => void): StoreContent | undefined {
  const text = readTextIfExists(path);
  if (text === undefined) return undefined;
  const { value, message } = parse(text);
  const newer = newerFormat(path, value, 1);
  if (newer) throw newer;
  const result = fileSchema.safeParse(value);
  if (result.success) return result.data;
  onProblem({ path, keptAs: keepAside(path), message: message ?? z.prettifyError(result.error) });
  return undefined;
}

/** Replaces a file. Without `sync` a power loss may take that back, until `syncStoreFile`. */
export function writeStoreFile(path: string, content: StoreContent, sync: boolean): void {
  const { values, applied, seq } = content;
  ensureDir(dirname(path));
  const text = `${JSON.stringify({ schemaVersion: 1, values, applied, seq }, null, 2)}\n`;
  (sync ? writeFileAtomic : writeRunFile)(path, text);
  if (sync) syncPath(dirname(path));
}

/** Makes what was written without sync safe from a power loss. */
export function syncStoreFile(path: string): void {
  try {
    syncPath(path);
    syncPath(dirname(path));
  } catch (error) {
    // A plan that was removed has nothing to keep.
    if (!isMissing(error)) throw error;
  }
}

function parse(text: string): { value?: unknown; message?: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { message: messageOf(error) };
  }
}

function keepAside(path: string): string {
  let number = 1;
  while (existsNoFollow(`${path}.broken-${number}`)) number += 1;
  renameSync(path, `${path}.broken-${number}`);
  return `${path}.broken-${number}`;
}
