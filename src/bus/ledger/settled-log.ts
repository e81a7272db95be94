import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { shortHash } from "../../kernel/ids.ts";
import { type BusState, type DeadLetter, emptyBusState, readStateFile, writeStateFile } from "../bus-state.ts";
import { compareCursors } from "../cursor.ts";
import { type Cursor, type Log, type LogAddress, type LogName, type NewRecord, START } from "../ports.ts";
import type { Scope, WrittenSettlement } from "../types.ts";
import { callKey, isKnownAction } from "./entry.ts";
import { createLedger, type Effects, type Ledger } from "./ledger.ts";

export interface SettledLogOptions {
  readonly log: Log;
  readonly scope: Scope;
  /** Where the snapshot is kept; undefined: nowhere, it is folded anew each time. */
  readonly stateFile: string | undefined;
  /** For readers beside a daemon: looks, and neither repairs nor saves. */
  readonly readOnly?: boolean;
  /**
   * Told each settlement that won, in order, after its actions are kept; after a crash the newest ones again. `cursor`
   * is the position after it in the settled log.
   */
  readonly onWon?: (settlement: WrittenSettlement, cursor: Cursor) => void;
}

const LOGS = ["settled", "actions", "dead"] as const;

/** The settled log of a scope, carried on into the ledger, and what it says into actions.jsonl and dead.jsonl. */
export class SettledLog {
  readonly ledger: Ledger;
  readonly #options: SettledLogOptions;
  readonly #actions: NewRecord[] = [];
  readonly #dead: NewRecord[] = [];
  readonly #wins: { readonly settlement: WrittenSettlement; readonly cursor: Cursor }[] = [];
  /** Log engines remember only recent ids: actions that a crash left are looked up from the cursor of the snapshot on. */
  readonly #actionsFrom: Cursor;
  #isRepaired = false;
  /** Something was settled since the snapshot was written. */
  #isDirty: boolean;
  /** Something was appended without sync, by us or by a process that was killed. */
  #isUnsynced: boolean;

  /** Loads the snapshot, folds what was settled after it, and repairs what a crash left between two appends. */
  constructor(options: SettledLogOptions) {
    this.#options = options;
    this.ledger = openLedger(options);
    this.#actionsFrom = this.ledger.cursors.actions;
    this.#isDirty = this.#catchUp() > 0;
    this.#isUnsynced = this.#isDirty && !options.readOnly;
  }

  /** Appends, and folds it as a replay would: live state and replayed state are made by the same code. */
  append(entry: { readonly kind: string; readonly data: object }, sync: boolean): void {
    if (!sync) this.#isUnsynced = true;
    const { from, cursor, ts } = this.#options.log.append(this.#address("settled"), [entry], { sync });
    this.#isDirty = true;
    // Another process appended: what it settled comes first.
    if (compareCursors(from, this.ledger.cursors.settled) !== 0) {
      this.#catchUp();
      return;
    }
    // What a reader will find: nothing of the caller's objects, and no key that JSON leaves out.
    const data: unknown = JSON.parse(JSON.stringify(entry.data));
    this.#collect(this.ledger.apply({ ts, kind: entry.kind, schemaVersion: 1, data }, cursor), () => cursor);
    crashPoint("bus.settled");
    this.flush(sync);
  }

  /** Writes what follows from what was settled, also what a full disk kept us from writing before. */
  flush(sync = true): void {
    if (this.#options.readOnly) return;
    this.#project("actions", this.#actions, sync);
    crashPoint("bus.projected");
    this.#project("dead", this.#dead, sync);
    this.#tellWins();
    this.#isRepaired = true;
  }

  /** Makes what was appended without sync safe from a power loss: what follows from a settlement never before it. */
  sync(): void {
    if (!this.#isUnsynced) return;
    for (const log of LOGS) {
      this.#options.log.sync(this.#address(log));
      crashPoint("bus.synced");
    }
    this.#isUnsynced = false;
  }

  /** Writes the snapshot, if something was settled since. */
  save(): void {
    const { readOnly, stateFile } = this.#options;
    if (readOnly) return;
    this.flush();
    // The snapshot must not remember what a power loss makes the journal forget.
    this.sync();
    crashPoint("bus.saving");
    if (!this.#isDirty || stateFile === undefined) return;
    writeStateFile(stateFile, this.ledger.snapshot());
    this.#isDirty = false;
  }

  #address(log: LogName): LogAddress {
    return { scope: this.#options.scope, log };
  }

  /** Folds what is new and writes what follows from it; returns how many records were new. */
  #catchUp(): number {
    let count = 0;
    let last: (() => Cursor) | undefined;
    try {
      this.#options.log.readAll(this.#address("settled"), this.ledger.cursors.settled, (record, cursor) => {
        last = cursor;
        this.#collect(this.ledger.apply(record), cursor);
        count += 1;
      });
    } finally {
      // Also where a line cannot be read: what is folded is not folded again.
      if (last) this.ledger.cursors.settled = last();
    }
    crashPoint("bus.caught-up");
    this.flush();
    return count;
  }

  #collect({ won, died = [] }: Effects, cursor: () => Cursor): void {
    for (const action of won?.actions ?? []) {
      // An id that a plugin or bridge gave may be used again; what was settled under it before came in before.
      if (!isKnownAction(this.ledger, action.id)) this.#actions.push({ kind: "action", id: action.id, data: action });
    }
    for (const letter of died) this.#dead.push({ kind: "dead", id: deadId(letter), data: letter });
    if (won && this.#options.onWon) this.#wins.push({ settlement: won, cursor: cursor() });
  }

  #project(name: "actions" | "dead", records: NewRecord[], sync: boolean): void {
    if (records.length === 0) return;
    const { log } = this.#options;
    const address = this.#address(name);
    const there = new Set<string | undefined>();
    if (!this.#isRepaired)
      log.readAll(address, name === "actions" ? this.#actionsFrom : START, ({ id }) => there.add(id));
    log.append(
      address,
      records.filter(({ id }) => !there.has(id)),
      { sync },
    );
    records.length = 0;
  }

  /** One that could not be taken in is told again, with those after it; taking each off the front would cost the rest. */
  #tellWins(): void {
    let told = 0;
    try {
      for (const { settlement, cursor } of this.#wins) {
        this.#options.onWon?.(settlement, cursor);
        told += 1;
      }
    } finally {
      this.#wins.splice(0, told);
    }
  }
}

function deadId(letter: DeadLetter): string {
  return shortHash(JSON.stringify([callKey(letter.record, letter.handler), letter.since]), 24);
}

/** A snapshot that cannot be used is as good as none: the settlements say the same. */
function openLedger(options: SettledLogOptions): Ledger {
  const state = (options.stateFile === undefined ? undefined : readStateFile(options.stateFile)) ?? emptyBusState();
  try {
    return createLedger(withinJournals(options, state));
  } catch (error) {
    if (error instanceof PrloomError && error.code === "state-unreadable") return createLedger(emptyBusState());
    throw error;
  }
}

/** A cursor beyond the end of its journal would hide what is appended next; it is moved back to the end. */
function withinJournals({ log, scope }: SettledLogOptions, state: BusState): BusState {
  const clamp = (name: LogName, cursor: Cursor): Cursor => {
    const { next } = log.read({ scope, log: name }, cursor, 0);
    return compareCursors(next, cursor) < 0 ? next : cursor;
  };
  return {
    ...state,
    eventsOffset: clamp("events", state.eventsOffset),
    actionsOffset: clamp("actions", state.actionsOffset),
    settledOffset: clamp("settled", state.settledOffset),
  };
}
