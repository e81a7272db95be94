import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Circuits, createCircuits } from "../../src/bridges/circuit.ts";
import type { Bridge, BridgeContext } from "../../src/bridges/contract.ts";
import type { LoadedBridge } from "../../src/bridges/load.ts";
import { Outbox, type OutboxOptions } from "../../src/bridges/outbox/outbox.ts";
import { buildRegistry } from "../../src/bridges/registry.ts";
import type { BridgeServices } from "../../src/bridges/services.ts";
import { type Bus, openBus } from "../../src/bus/bus.ts";
import { createFileLog } from "../../src/bus/file/log.ts";
import type { Log } from "../../src/bus/ports.ts";
import type { Action, Scope } from "../../src/bus/types.ts";
import { openStores, type StateStores } from "../../src/hooks/state/state-stores.ts";

export const HOUR = 3_600_000;

/** What a bridge gets that has nothing to say to its log. */
export const quietContext: BridgeContext = {
  repoRoot: "/nowhere",
  signal: new AbortController().signal,
  log: { info: assert.fail, warn: assert.fail, error: assert.fail },
  config: {},
  readPlan: async () => undefined,
  listPlans: async () => [],
};

/** A bus on real files under a clock that the test moves. */
export class Bench {
  readonly dir: string;
  now = Date.parse("2026-03-02T10:00:00Z");
  readonly clock = { now: () => this.now };
  readonly reports: string[] = [];
  readonly stop = new AbortController();
  readonly scope: Scope;
  timeoutMs = 5000;
  retryLimits = { minMs: 1000, maxMs: 300_000 };
  log: Log;
  stores: StateStores;
  bus: Bus;
  circuits: Circuits = createCircuits();
  /** Reads of the journals, by name. */
  readonly reads: Record<string, number> = {};
  outbox: Outbox | undefined;
  /** The buses of plans, where this is the repository's own. */
  readonly plans = new Map<string, Bench>();
  readonly woken: string[] = [];
  #records = 0;

  constructor(scope: Scope = { planId: "login" }, dir = mkdtempSync(join(tmpdir(), "prloom-bridges-"))) {
    this.scope = scope;
    this.dir = dir;
    ({ log: this.log, stores: this.stores, bus: this.bus } = this.#open());
  }

  #open(): { log: Log; stores: StateStores; bus: Bus } {
    const { clock, scope } = this;
    const file = createFileLog({ root: () => this.dir, clock, fsync: false });
    const log: Log = {
      ...file,
      read: (address, after, limit) => {
        this.reads[address.log] = (this.reads[address.log] ?? 0) + 1;
        return file.read(address, after, limit);
      },
    };
    const stores = openStores({
      fileOf: (ref) => join(this.dir, "state", `${ref.kind}.${ref.kind === "bridge" ? ref.name : ref.plugin}.json`),
      pendingDir: join(this.dir, "pending"),
      onProblem: ({ message }) => this.reports.push(message),
    });
    const limits = { maxAttempts: 3, retryMinMs: 1000, retryMaxMs: 300_000 };
    const stateFile = join(this.dir, "state", "dispatcher.json");
    const onWon = stores.apply.bind(undefined, scope);
    const bus = openBus({ log, scope, clock, limits, stateFile, onWon });
    return { log, stores, bus };
  }

  /** As after kill -9: nothing is saved, everything is opened again. */
  reopen(): void {
    this.outbox?.stop();
    this.log.close();
    this.circuits = createCircuits();
    ({ log: this.log, stores: this.stores, bus: this.bus } = this.#open());
  }

  get services(): BridgeServices {
    return {
      repoRoot: this.dir,
      clock: this.clock,
      stores: this.stores,
      bridgeTimeoutMs: () => this.timeoutMs,
      maxAgeMs: () => 72 * HOUR,
      retryLimits: () => this.retryLimits,
      stopSignal: this.stop.signal,
      findPlan: (name) => {
        const id = "id" in name ? name.id : name.source.id;
        return this.plans.has(id) ? id : undefined;
      },
      planBus: (id) => this.plans.get(id)?.bus ?? assert.fail(`no plan ${id}`),
      wakePlan: (id) => void this.woken.push(id),
      readPlan: (id) => (id === "login" ? { content: "# Login", progress: { total: 2, completed: 1 } } : undefined),
      listPlans: () => [],
      planFacts: () => ({ worktree: "/worktrees/login", changeRequestRef: "local/login" }),
      report: ({ level, text }) => void this.reports.push(`${level}: ${text}`),
      entering: () => 0,
      left: () => undefined,
    };
  }

  /** Opens the outbox for these bridges and lets it work until it has to wait. */
  async deliver(bridges: readonly LoadedBridge[], more: Partial<OutboxOptions> = {}): Promise<Outbox> {
    const registry = buildRegistry(bridges);
    this.outbox = new Outbox({
      bus: this.bus,
      scope: this.scope,
      bridgeFor: registry.byTarget,
      targets: () => registry.targets,
      circuits: this.circuits,
      services: this.services,
      route: async (action) => ({ kind: "deliver", target: action.target }),
      ...more,
    });
    await this.settle();
    return this.outbox;
  }

  async settle(): Promise<void> {
    this.outbox?.wake();
    await this.outbox?.settled();
  }

  async later(ms: number): Promise<void> {
    this.now += ms;
    await this.settle();
  }

  /** Puts actions on the bus, as a hook that answers an event would. */
  put(...actions: Action[]): void {
    this.#records += 1;
    const record = `event-${this.now}-${this.#records}`;
    this.bus.settle({ record, handler: "test", outcome: "handled", actions, marks: { about: "event" } });
  }

  lines(name: string): { kind: string; data: Record<string, unknown> }[] {
    const files = readdirSync(this.dir).filter((file) => file.startsWith(name) && file.endsWith(".jsonl"));
    return files
      .flatMap((file) => readFileSync(join(this.dir, file), "utf8").split("\n"))
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  }

  /** What was settled about an action, as `handler outcome`. */
  settlements(id: string): string[] {
    return this.lines("settled")
      .filter(({ kind, data }) => kind === "settlement" && data.record === id)
      .map(({ data }) => `${data.handler} ${data.outcome}`);
  }

  dead(): string[] {
    return this.bus.deadLetters().map(({ record, handler, reason }) => `${record} ${handler}: ${reason}`);
  }

  end(): void {
    this.outbox?.stop();
    this.log.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Runs a test with a bench of its own. */
export async function onBench(test: (bench: Bench) => Promise<void>, scope?: Scope): Promise<void> {
  const bench = new Bench(scope);
  try {
    await test(bench);
  } finally {
    bench.end();
  }
}

export function comment(id: string, token = "a", target = "desk"): Action {
  return { id, type: "respond", target: { target, token }, payload: { type: "comment", message: id } };
}

export function loadedBridge(
  bridge: Partial<Bridge>,
  { name = "desk", kind = "plan" }: { name?: string; kind?: LoadedBridge["kind"] } = {},
): LoadedBridge {
  const targets = bridge.actions ? { targets: [name] } : {};
  return { name, kind, bridge: { name, ...targets, ...bridge }, config: { colour: "red" } };
}

/** A call that the test ends. */
export function pending<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { promise, resolve };
}
