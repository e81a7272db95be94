import { closeSync, fstatSync } from "node:fs";
import { dirname } from "node:path";
import { ensureDir, readTextIfExists, writeFileIfChanged } from "../../kernel/files.ts";
import { sha256 } from "../../kernel/ids.ts";
import { asFields, isFields, type JsonFields } from "../../kernel/json-fields.ts";
import { firstBytes, openIfThere } from "../../kernel/own-file.ts";
import { type PlanDoc, parsePlan, progressOf } from "../../plan/markdown/markdown.ts";
import { MAX_READ_BYTES } from "../../plan/markdown/size-limits.ts";
import type { TextFacts } from "../../plan/summary.ts";
import { type StatKey, statKey, writtenAt } from "./stat-key.ts";

export interface PlanText {
  readonly text: string;
  readonly doc: PlanDoc;
}

/** Plan texts, read and parsed again only when the file's stat says that it changed. */
export interface Texts {
  read(path: string): PlanText | undefined;
  /** Title and progress, kept on disk too: listing a thousand plans opens no plan. */
  facts(path: string, id: string): TextFacts | undefined;
  /** Hash of the file's bytes, kept on disk too: finding the one plan among thousands that changed opens one file. */
  sha256(path: string): string | undefined;
  write(path: string, text: string): void;
  /** Writes the cache of facts; what is no longer there drops out. */
  save(): void;
}

/** Stat key, title, TODOs, TODOs that are done, hash of the bytes (not in caches of the first version). */
type Facts = [key: StatKey, title: string, total: number, completed: number, sha256?: string];

const CACHE_VERSION = 1;

/** Ours, and rebuilt when it is broken: each entry is looked at when it is used, not all of them at every start. */
function factsIn({ schemaVersion, facts }: JsonFields): Record<string, unknown> {
  return schemaVersion === CACHE_VERSION && isFields(facts) ? facts : {};
}

function isFacts(value: unknown): value is Facts {
  return (
    Array.isArray(value) && typeof value[1] === "string" && Number.isInteger(value[2]) && Number.isInteger(value[3])
  );
}

/**
 * Characters of parsed texts that stay in memory. Counted by size and not by number: a thousand queued plans are looked at
 * in turn, and a memory that is a little too small for that would forget each one right before it is asked for.
 */
const PARSED_CHARACTERS = 4_000_000;

export function openTexts(cacheFile: string, write: (path: string, text: string) => void): Texts {
  const parsed = new Map<string, { key: StatKey; value: PlanText }>();
  const known = loadCache(cacheFile);
  const used = new Map<string, Facts>();
  let characters = 0;

  const forget = (path: string): void => {
    characters -= parsed.get(path)?.value.text.length ?? 0;
    parsed.delete(path);
  };
  const read = (path: string): PlanText | undefined => {
    const key = statKey(path);
    if (key === undefined) return undefined;
    const hit = parsed.get(path);
    if (hit?.key === key) return hit.value;
    const bytes = readIfThere(path);
    if (bytes === undefined) return undefined;
    const text = bytes.toString("utf8");
    const value = { text, doc: parsePlan(text) };
    const progress = progressOf(value.doc);
    used.set(path, [key, value.doc.title ?? "", progress.total, progress.completed, sha256(bytes)]);
    forget(path);
    parsed.set(path, { key, value });
    characters += text.length;
    for (const oldest of parsed.keys()) {
      if (characters <= PARSED_CHARACTERS || oldest === path) break;
      forget(oldest);
    }
    return value;
  };

  /** What is known of the file; it is read again when it changed, or when an older version left no hash of it. */
  const factsOf = (path: string, needsHash: boolean): Facts | undefined => {
    const key = statKey(path);
    if (key === undefined) return undefined;
    const before = used.get(path) ?? known[path];
    if (isFacts(before) && before[0] === key && !(needsHash && before[4] === undefined)) used.set(path, before);
    else read(path);
    return used.get(path);
  };

  return {
    read,
    facts(path, id) {
      const [key = "", title, total, completed] = factsOf(path, false) ?? [];
      if (total === undefined || completed === undefined) return undefined;
      return { title: title || id, total, completed, writtenAt: writtenAt(key) };
    },
    sha256: (path) => factsOf(path, true)?.[4],
    write(path, text) {
      ensureDir(dirname(path));
      write(path, text);
    },
    save() {
      const all = { ...known, ...Object.fromEntries(used) };
      const there = Object.entries(all).filter(([path]) => statKey(path) !== undefined);
      const facts = Object.fromEntries(there.sort(([a], [b]) => (a < b ? -1 : 1)));
      writeFileIfChanged(cacheFile, JSON.stringify({ schemaVersion: CACHE_VERSION, facts }));
    },
  };
}

/** Of one that is far too large as much as shows that: a branch can bring gigabytes of nothing. */
function readIfThere(path: string): Buffer | undefined {
  const fd = openIfThere(path);
  if (fd === undefined) return undefined;
  try {
    return firstBytes(fd, Math.min(fstatSync(fd).size, MAX_READ_BYTES));
  } finally {
    closeSync(fd);
  }
}

/** The cache can be rebuilt, so anything wrong with it only means that it is empty. */
function loadCache(file: string): Record<string, unknown> {
  try {
    const text = readTextIfExists(file);
    if (text === undefined) return {};
    return factsIn(asFields(JSON.parse(text)));
  } catch {
    return {};
  }
}
