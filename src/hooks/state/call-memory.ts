import { storeName } from "../../bus/names.ts";
import type { Settlement } from "../../bus/types.ts";
import { copyJson, type JsonValue } from "../../kernel/json.ts";
import { type CallLife, misuse, showValue } from "../calls/misuse.ts";
import type { PluginMemory } from "../contexts/context-types.ts";
import { entryBytes, type StateStore, type StorePatch } from "./state-store.ts";
import type { StateStores } from "./state-stores.ts";

const MAX_KEY = 200;
const MAX_BYTES = 1_000_000;

export interface MemoryOptions {
  readonly stores: StateStores;
  readonly plugin: string;
  /** The plan that `getState` is about; absent for global plugins, whose state is the repository's. */
  readonly planId?: string | undefined;
  readonly life: CallLife;
}

/** The memory of a plugin during one call. */
export interface CallMemory {
  readonly memory: PluginMemory;
  /** Another call changed what this one read or writes: it must run again. */
  conflicts(): boolean;
  /** The keys that it writes, and those that it read or writes, of both stores. */
  written(): string[];
  touched(): string[];
  /** What the settlement says of it. */
  commit(): { readonly state?: NonNullable<Settlement["state"]>; readonly order?: Record<string, number> };
}

/** Makes the memory of one call: reads see the values of its beginning and its own writes. */
export function createMemory({ stores, plugin, planId, life }: MemoryOptions): CallMemory {
  const global = new Draft(stores.open({ kind: "global", plugin }), "");
  const own = planId === undefined ? global : new Draft(stores.open({ kind: "plan", planId, plugin }), planId);
  const get = (member: string, draft: Draft, key: string): JsonValue | undefined => {
    life.require(member);
    return draft.get(checkKey(member, key));
  };
  const set = (member: string, draft: Draft, [key, value]: [string, JsonValue | undefined]): void => {
    life.require(member);
    draft.set(member, checkKey(member, key), value);
  };
  return {
    memory: {
      getState: (key) => get("getState", own, key),
      setState: (key, value) => set("setState", own, [key, value]),
      getGlobalState: (key) => get("getGlobalState", global, key),
      setGlobalState: (key, value) => set("setGlobalState", global, [key, value]),
    },
    conflicts: () => own.conflicts() || global.conflicts(),
    written: () => [own, global].flatMap((draft) => draft.written),
    touched: () => [own, global].flatMap((draft) => [...draft.written, ...draft.read]),
    commit() {
      const mine = own === global ? undefined : own.patch();
      const shared = global.patch();
      if (!mine && !shared) return {};
      const [ownName, globalName] = [storeName({ kind: "plan", plugin }), storeName({ kind: "global", plugin })];
      const state = { ...(mine && { [ownName]: mine }), ...(shared && { [globalName]: shared }) };
      return { state, ...(shared && { order: { [globalName]: global.nextSeq } }) };
    },
  };
}

function checkKey(member: string, key: unknown): string {
  if (typeof key !== "string" || key === "" || key.length > MAX_KEY || key === "__proto__") {
    throw misuse(`${member}: ${showValue(key)} cannot be a key.`, `Keys are strings of 1 to ${MAX_KEY} characters.`);
  }
  return key;
}

/** Changes to one store that wait for their settlement. */
class Draft {
  readonly #store: StateStore;
  readonly #begin: number;
  readonly #writes = new Map<string, { readonly value: JsonValue | undefined; readonly more: number }>();
  /** Bytes that the writes add. */
  #more = 0;
  #readTooNew = false;
  readonly #reads = new Set<string>();
  /** Whose store it is, in the names of keys. */
  readonly #owner: string;

  constructor(store: StateStore, owner: string) {
    this.#store = store;
    this.#owner = owner;
    this.#begin = store.seq;
  }

  get nextSeq(): number {
    return this.#store.seq + 1;
  }

  get written(): string[] {
    return [...this.#writes.keys()].map((key) => JSON.stringify([this.#owner, key]));
  }

  get read(): string[] {
    return [...this.#reads].map((key) => JSON.stringify([this.#owner, key]));
  }

  get(key: string): JsonValue | undefined {
    this.#reads.add(key);
    const write = this.#writes.get(key);
    // What the hook is given does not fit what it read before; it runs again with values that fit.
    if (!write && this.#store.versionOf(key) > this.#begin) this.#readTooNew = true;
    return structuredClone(write ? write.value : this.#store.get(key));
  }

  set(member: string, key: string, given: unknown): void {
    const value = given === undefined ? undefined : copyJson(given, `${member}: ${key}`);
    const more = (value === undefined ? 0 : entryBytes(key, value)) - this.#store.bytesAt(key);
    const total = this.#store.bytes + this.#more - (this.#writes.get(key)?.more ?? 0) + more;
    if (more > 0 && total > MAX_BYTES) {
      const hint = "Remove keys with undefined, or keep large things elsewhere.";
      throw misuse(
        `${member}: with ${key} the plugin's state would have ${total} bytes; ${MAX_BYTES} is the most.`,
        hint,
      );
    }
    this.#more += more - (this.#writes.get(key)?.more ?? 0);
    this.#writes.set(key, { value, more });
  }

  conflicts(): boolean {
    if (this.#store.seq === this.#begin) return false;
    return this.#readTooNew || [...this.#writes.keys()].some((key) => this.#store.versionOf(key) > this.#begin);
  }

  patch(): StorePatch | undefined {
    if (this.#writes.size === 0) return undefined;
    return Object.fromEntries(
      [...this.#writes].map(([key, { value }]) => [key, value === undefined ? {} : { value }]),
    ) as StorePatch;
  }
}
