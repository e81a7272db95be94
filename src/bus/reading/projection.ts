import { crashPoint } from "../../kernel/crash-point.ts";
import { shortHash } from "../../kernel/ids.ts";
import type { DeadLetter } from "../bus-state.ts";
import { compareCursors } from "../cursor.ts";
import { callKey, isKnownAction } from "../ledger/entries.ts";
import type { Effects, Ledger } from "../ledger/ledger.ts";
import { type Cursor, type Envelope, type Log, type NewRecord, START } from "../ports.ts";
import type { Scope, WrittenSettlement } from "../types.ts";

/** Carries the settled log on into the ledger, and what it says into actions.jsonl and dead.jsonl. */
export interface Projection {
  /** Folds what is new in the settled log and writes what follows from it; returns how many records were new. */
  catchUp(): number;
  /** Folds one record that was just appended, as `catchUp` does, without reading it when nothing lies before it. */
  take(appended: Appended): void;
  /** Writes what a full disk kept us from writing before. */
  flush(): void;
}

export interface Appended {
  readonly record: Envelope;
  /** The position before it. */
  readonly from: Cursor;
  readonly cursor: Cursor;
  /** Whether what follows from it is to be on the disk too when it is written. */
  readonly sync: boolean;
}

export interface ProjectionOptions {
  readonly log: Log;
  readonly scope: Scope;
  readonly ledger: Ledger;
  /** False: only fold. */
  readonly writes: boolean;
  /** Told each settlement that won, in order; after a crash the newest ones again. */
  readonly onWon?: ((settlement: WrittenSettlement, cursor: Cursor) => void) | undefined;
}

/**
 * The first catch-up is also the repair after a crash between the two appends: actions that are already there are
 * looked up from the cursor of the snapshot on, because log engines remember only recent ids.
 */
export function createProjection(options: ProjectionOptions): Projection {
  const { log, scope, ledger } = options;
  const actions: NewRecord[] = [];
  const dead: NewRecord[] = [];
  const actionsFrom = ledger.cursors.actions;
  const wins: { readonly settlement: WrittenSettlement; readonly cursor: Cursor }[] = [];
  let repaired = false;

  const collect = (effects: Effects, cursor: Cursor): void => {
    const { won } = effects;
    for (const action of won?.actions ?? []) {
      // An id that a plugin or bridge gave may be used again; what was settled under it before came in before.
      if (!isKnownAction(ledger, action.id)) actions.push({ kind: "action", id: action.id, data: action });
    }
    for (const letter of effects.died ?? []) dead.push({ kind: "dead", id: deadId(letter), data: letter });
    if (won && options.onWon) wins.push({ settlement: won, cursor });
  };
  const project = (name: "actions" | "dead", records: NewRecord[], sync: boolean): void => {
    if (records.length === 0) return;
    const address = { scope, log: name };
    const there = repaired ? new Set<string>() : idsAfter(log, address, name === "actions" ? actionsFrom : START);
    const missing = records.filter(({ id }) => !there.has(id ?? ""));
    log.append(address, missing, { sync });
    records.length = 0;
  };
  /** One that could not be taken in is told again, with those after it; taking each off the front would cost the rest. */
  const tellWins = (): void => {
    let told = 0;
    try {
      for (const { settlement, cursor } of wins) {
        options.onWon?.(settlement, cursor);
        told += 1;
      }
    } finally {
      wins.splice(0, told);
    }
  };
  const flush = (sync = true): void => {
    if (!options.writes) return;
    project("actions", actions, sync);
    crashPoint("bus.projected");
    project("dead", dead, sync);
    tellWins();
    repaired = true;
  };
  const catchUp = (): number => {
    let count = 0;
    log.readAll({ scope, log: "settled" }, ledger.cursors.settled, (record, cursor) => {
      collect(ledger.apply(record, cursor), cursor);
      count += 1;
    });
    crashPoint("bus.caught-up");
    flush();
    return count;
  };
  const take = ({ record, from, cursor, sync }: Appended): void => {
    if (compareCursors(from, ledger.cursors.settled) !== 0) {
      catchUp();
      return;
    }
    collect(ledger.apply(record, cursor), cursor);
    crashPoint("bus.settled");
    flush(sync);
  };
  return { catchUp, take, flush: () => flush() };
}

function deadId(letter: DeadLetter): string {
  return shortHash(JSON.stringify([callKey(letter.record, letter.handler), letter.since]), 24);
}

function idsAfter(log: Log, address: Parameters<Log["read"]>[0], from: Cursor): Set<string> {
  const ids = new Set<string>();
  log.readAll(address, from, ({ id }) => {
    if (id !== undefined) ids.add(id);
  });
  return ids;
}
