import { closeSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseStore } from "../../bus/names.ts";
import type { Cursor } from "../../bus/ports.ts";
import { type Scope, scopeOf, type WrittenSettlement } from "../../bus/types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { ensureDir, listDir } from "../../kernel/files.ts";
import type { JsonValue } from "../../kernel/json.ts";
import { openOwn, TO_REWRITE } from "../../kernel/own-file.ts";
import { KeyLocks } from "./key-locks.ts";
import { StateStore } from "./state-store.ts";
import type { StateProblem } from "./store-file.ts";

/** Whose values. */
export type StateRef =
  | { readonly kind: "plan"; readonly planId: string; readonly plugin: string }
  | { readonly kind: "global"; readonly plugin: string }
  | { readonly kind: "bridge"; readonly planId?: string; readonly name: string };

export interface StoresOptions {
  fileOf(ref: StateRef): string;
  /** Names the plans whose buses may know more about global values than the files do. */
  readonly pendingDir: string;
  onProblem(problem: StateProblem): void;
}

/**
 * The memory of all plugins and bridges. Settlements are the truth and the files a projection of them, so `flush` must
 * come before the snapshot of a bus is saved: what the snapshot covers is never told again.
 */
export interface StateStores {
  readonly locks: KeyLocks;
  /** A copy of all values. */
  read(ref: StateRef): Record<string, JsonValue>;
  open(ref: StateRef): StateStore;
  /** Takes over what a settlement changed; telling it again changes nothing. For `BusOptions.onWon`. */
  apply(scope: Scope, settlement: WrittenSettlement, cursor: Cursor): void;
  /** To be called before a plan's bus gets a settlement that changes global values. */
  markPending(planId: string): void;
  /**
   * Plans whose buses the caller must open before anything else: a crash came before the files were written.
   * The next flush after it takes them off the list.
   */
  pendingPlans(): string[];
  /**
   * Writes what changed. Without `sync` it is safe from kill -9 only, until the next flush with it. Throws for what is of all
   * plans, or of `planId`; what of another plan cannot be written is that plan's trouble, and stays to be written.
   */
  flush(options?: { sync?: boolean; planId?: string }): void;
  /** Forgets the values of a plan that is not being worked on; they are read again when they are asked for. */
  release(planId: string): void;
}

const GLOBAL_BUS = "*";

/** Opens the memory; files are read when their values are first asked for. */
export function openStores(options: StoresOptions): StateStores {
  const { pendingDir } = options;
  const stores = new Map<string, { readonly ref: StateRef; readonly store: StateStore }>();
  /** Marked here, or by a process that was killed. */
  const pending = new Set(listDir(pendingDir));
  /** Marked, and the settlement has not come back through `apply` yet; of those before us, the bus is not open yet. */
  const awaited = new Set(pending);
  const changes: UnsavedStores = { dirty: new Set(), unsynced: new Set(), owners: new WeakMap() };

  const open = (ref: StateRef): StateStore => {
    const key = JSON.stringify([ref.kind, ref.kind === "global" ? null : (ref.planId ?? null), nameIn(ref)]);
    const known = stores.get(key);
    if (known) return known.store;
    const store = new StateStore(options.fileOf(ref), options.onProblem);
    stores.set(key, { ref, store });
    return store;
  };

  return {
    locks: new KeyLocks(),
    read: (ref) => structuredClone(open(ref).entries()),
    open,
    apply(scope, settlement, cursor) {
      const order = new Map(Object.entries(settlement.marks.stateSeq ?? {}));
      for (const [name, patch] of Object.entries(settlement.state ?? {})) {
        const ref = refOf(name, scope);
        if (!ref) continue;
        const store = open(ref);
        store.apply({ patch, bus: scope.planId ?? GLOBAL_BUS, cursor, seq: order.get(name) });
        if (ref.kind !== "global" && ref.planId !== undefined) changes.owners.set(store, ref.planId);
        if (store.dirty) changes.dirty.add(store);
        if (ref.kind === "global" && scope.planId !== undefined) awaited.delete(scope.planId);
      }
    },
    markPending(planId) {
      awaited.add(planId);
      if (pending.has(planId)) return;
      ensureDir(pendingDir);
      closeSync(openOwn(join(pendingDir, planId), TO_REWRITE));
      pending.add(planId);
    },
    pendingPlans() {
      const plans = [...pending].sort();
      // The caller opens their buses at once, and that tells us all they know.
      for (const planId of plans) awaited.delete(planId);
      return plans;
    },
    flush({ sync = true, planId } = {}) {
      writeStores(changes, { sync, planId });
      if (!sync) return;
      for (const planId of pending) {
        if (awaited.has(planId)) continue;
        rmSync(join(pendingDir, planId), { force: true });
        pending.delete(planId);
      }
    },
    release(planId) {
      for (const [key, { ref, store }] of stores) {
        if (ref.kind !== "global" && ref.planId === planId && !store.dirty) stores.delete(key);
      }
    },
  };
}

interface UnsavedStores {
  readonly dirty: Set<StateStore>;
  /** Written, and a power loss may take it back. */
  readonly unsynced: Set<StateStore>;
  /** The plan that values are of; those of all plans have no owner. */
  readonly owners: WeakMap<StateStore, string>;
}

function writeStores(
  { dirty, unsynced, owners }: UnsavedStores,
  { sync, planId }: { sync: boolean; planId: string | undefined },
): void {
  const failures: unknown[] = [];
  const attempt = (store: StateStore, act: () => void): void => {
    try {
      act();
    } catch (error) {
      const whose = owners.get(store);
      if (whose === undefined || whose === planId) failures.push(error);
    }
  };
  for (const store of dirty) {
    attempt(store, () => {
      store.write(sync);
      dirty.delete(store);
      if (store.unsynced) unsynced.add(store);
      crashPoint("state:file-written");
    });
  }
  for (const store of sync ? unsynced : []) {
    attempt(store, () => {
      store.sync();
      unsynced.delete(store);
      crashPoint("state:file-synced");
    });
  }
  if (failures.length > 0) throw failures[0];
}

function nameIn(ref: StateRef): string {
  return ref.kind === "bridge" ? ref.name : ref.plugin;
}

/** Which store a name means that was said on the bus of this scope. */
function refOf(name: string, { planId }: Scope): StateRef | undefined {
  const owner = parseStore(name);
  if (owner === undefined) return undefined;
  if (owner.kind === "bridge") return { ...owner, ...scopeOf(planId) };
  const { kind, plugin } = owner;
  if (kind === "global") return { kind, plugin };
  return planId === undefined ? undefined : { kind, planId, plugin };
}
