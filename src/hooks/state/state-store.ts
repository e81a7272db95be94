import { compareCursors } from "../../bus/cursor.ts";
import type { Cursor } from "../../bus/ports.ts";
import type { Settlement } from "../../bus/types.ts";
import type { JsonValue } from "../../kernel/json.ts";
import { readStoreFile, type StateProblem, syncStoreFile, writeStoreFile } from "./store-file.ts";

/** Changes of one store: by key; no `value` removes it. */
export type StorePatch = NonNullable<Settlement["state"]>[string];

interface Value {
  readonly value: JsonValue;
  /** The number of the change that it came with. */
  readonly version: number;
  readonly bytes: number;
}

/** One change as a settlement has it. */
export interface StoreChange {
  readonly patch: StorePatch;
  readonly bus: string;
  readonly cursor: Cursor;
  /** Its number, where several buses write to the store; else the next one. */
  readonly seq?: number | undefined;
}

/** What keys and values count in a store. */
export function entryBytes(key: string, value: JsonValue): number {
  return Buffer.byteLength(key) + Buffer.byteLength(JSON.stringify(value));
}

/**
 * The values of one plugin or bridge. Memory is authoritative; the file is what settlements made of it, written from time to time.
 * One that cannot be read is kept aside and reported, and the values start empty: what a bus settled before its snapshot
 * is not told again, so a person who wants those values back fixes the file that was kept.
 */
export class StateStore {
  readonly #path: string;
  readonly #values = new Map<string, Value>();
  /** Keys that were removed since the file was written, with the number of that change. */
  readonly #removed = new Map<string, number>();
  /** The newest removal that is no longer in that list: nothing that is absent changed after it. */
  #removedBefore = 0;
  readonly #applied = new Map<string, Cursor>();
  #seq = 0;
  #bytes = 0;
  #dirty = false;
  /** The file was written, and a power loss may take it back. */
  #unsynced = false;

  constructor(path: string, onProblem: (problem: StateProblem) => void) {
    this.#path = path;
    this.#load(onProblem);
  }

  /** Number of the newest change. */
  get seq(): number {
    return this.#seq;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get dirty(): boolean {
    return this.#dirty;
  }

  get(key: string): JsonValue | undefined {
    return this.#values.get(key)?.value;
  }

  bytesAt(key: string): number {
    return this.#values.get(key)?.bytes ?? 0;
  }

  /** The number of the newest change of a key; of one that was removed long ago, a later one at most. */
  versionOf(key: string): number {
    return this.#values.get(key)?.version ?? this.#removed.get(key) ?? this.#removedBefore;
  }

  entries(): Record<string, JsonValue> {
    return Object.fromEntries([...this.#values].map(([key, { value }]) => [key, value]));
  }

  /** Makes a change once, however often it is told. */
  apply({ patch, bus, cursor, seq = this.#seq + 1 }: StoreChange): void {
    const before = this.#applied.get(bus);
    if (before !== undefined && compareCursors(cursor, before) <= 0) return;
    this.#applied.set(bus, cursor);
    this.#dirty = true;
    for (const [key, { value }] of Object.entries(patch)) {
      // After a crash the buses are read one after another, not in the order in which they wrote.
      if (this.versionOf(key) <= seq) this.#put(key, value, seq);
    }
    this.#seq = Math.max(this.#seq, seq);
  }

  /** Written without sync, and not synced since. */
  get unsynced(): boolean {
    return this.#unsynced;
  }

  /** Makes what was written without sync safe from a power loss. */
  sync(): void {
    if (!this.#unsynced) return;
    syncStoreFile(this.#path);
    this.#unsynced = false;
  }

  /** Writes the file if something changed; returns whether it did. */
  write(sync: boolean): boolean {
    if (!this.#dirty) return false;
    const content = { values: this.entries(), applied: Object.fromEntries(this.#applied), seq: this.#seq };
    writeStoreFile(this.#path, content, sync);
    this.#dirty = false;
    this.#unsynced = !sync;
    for (const seq of this.#removed.values()) this.#removedBefore = Math.max(this.#removedBefore, seq);
    this.#removed.clear();
    return true;
  }

  #put(key: string, value: JsonValue | undefined, version: number): void {
    this.#bytes -= this.bytesAt(key);
    this.#values.delete(key);
    this.#removed.delete(key);
    if (value === undefined) {
      this.#removed.set(key, version);
      return;
    }
    const bytes = entryBytes(key, value);
    this.#values.set(key, { value, version, bytes });
    this.#bytes += bytes;
  }

  #load(onProblem: (problem: StateProblem) => void): void {
    const content = readStoreFile(this.#path, onProblem);
    if (content === undefined) return;
    const { values, applied, seq } = content;
    this.#seq = seq;
    this.#removedBefore = seq;
    for (const [bus, cursor] of Object.entries(applied)) this.#applied.set(bus, cursor);
    for (const [key, each] of Object.entries(values)) this.#put(key, each, seq);
  }
}
