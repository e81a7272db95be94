import { CLOSED_CIRCUIT, failCircuit } from "../../bridges/circuit.ts";
import type { LoadedBridge } from "../../bridges/load.ts";
import { type PollOutcome, pollBridge } from "../../bridges/polls/poll.ts";
import type { Bus } from "../../bus/bus.ts";
import { retryDelay } from "../../bus/limits.ts";
import { parseHandler } from "../../bus/names.ts";
import { scopeOf } from "../../bus/types.ts";
import { allPlanModules } from "../../config/presets.ts";
import { messageOf } from "../../kernel/errors.ts";
import { Loop } from "../../kernel/loop.ts";
import type { Reporting, Stopping, Timing } from "../capabilities.ts";
import type { Configured } from "../settings/pinned.ts";
import type { Bridging, PollReport } from "./bridging.ts";
import type { Extended } from "./extensions.ts";

/** Revived items of polls go back where they were when their bridge is gone: no poll would ever judge them. */
export function giveBackAbsent({ config }: Pick<Configured, "config">, bus: Bus): void {
  const names = new Set([...config.globalBridges, ...allPlanModules(config).bridges].map(({ name }) => name));
  for (const { record, handler, revived } of bus.deadLetters()) {
    const parsed = parseHandler(handler);
    if (!revived || parsed?.kind !== "poll" || names.has(parsed.bridge)) continue;
    const reason = `bridge ${parsed.bridge} is not in the config, so it cannot be tried again`;
    bus.settle({ record, handler, outcome: "threw", reason, marks: { about: "event", dead: true } });
  }
}

export interface Poller {
  readonly bridge: string;
  /** Polls now; a poll under way is joined. */
  poll(): Promise<PollReport>;
  /** Nothing is under way, and the last poll brought nothing, or failed and is not due again before `horizon`. */
  quiet(horizon: number): boolean;
  stop(): void;
}

export interface PollerOptions {
  readonly loom: Timing & Configured & Extended & Bridging & Reporting & Stopping;
  readonly bus: Bus;
  readonly loaded: LoadedBridge;
  readonly planId?: string;
  /** Polls wait for this: what is on the bus already may be what a bridge is to see. */
  readonly ready?: Promise<void>;
  /** There is something new on the bus. */
  onNews(): void;
  /** A poll is over. */
  onQuiet(): void;
}

/** A bridge that has something new each time must not become a hot loop; a long backlog may come item by item. */
const MAX_IN_A_ROW = 1000;

/** After so many in a row `--until-idle` does not wait for a bridge to come back. */
const ENOUGH_FAILURES = 3;

/** Polls one bridge for one scope: at once, then at its interval; one that brought something is followed by another. */
export function createPoller(options: PollerOptions): Poller {
  const { loom, bus, loaded } = options;
  const whose = scopeOf(options.planId);
  let report: PollReport = { bridge: loaded.name, ...whose, events: 0, actions: 0, refused: [] };
  let circuit = CLOSED_CIRCUIT;
  let inARow = 0;
  let news = true;

  const retryLimits = () => loom.bridgeServices.retryLimits();
  const tellHealth = (failed: string | undefined): void =>
    loom.health.polled({ bridge: loaded.name, ...whose }, failed);
  const nextAt = ({ failed, retryAfterMs }: PollOutcome): number => {
    const now = loom.clock.now();
    circuit =
      failed === undefined ? CLOSED_CIRCUIT : failCircuit(circuit, { now, retryAfterMs, limits: retryLimits() });
    if (failed !== undefined) return circuit.openUntil;
    return news && inARow <= MAX_IN_A_ROW ? now : now + (loaded.pollEveryMs ?? loom.config.bus.pollEveryMs);
  };
  const pass = async (): Promise<number | undefined> => {
    await options.ready;
    const { failed } = report;
    const outcome = await pollBridge(loom.bridgeServices, { bus, ...whose }, loaded, failed);
    if (failed !== undefined && outcome.failed === undefined && !loom.stopping)
      loom.report({ ...whose, level: "info", text: `bridge ${loaded.name} can be polled again` });
    news = outcome.events + outcome.actions > 0;
    inARow = news ? inARow + 1 : 0;
    const next = nextAt(outcome);
    report = { bridge: loaded.name, ...whose, ...outcome };
    tellHealth(outcome.failed);
    if (news) options.onNews();
    return loom.stopping ? undefined : next;
  };
  const loop = new Loop({
    clock: loom.clock,
    pass,
    backoffMs: (failures) => retryDelay(failures, retryLimits()),
    onFailure: (error) =>
      loom.report({ ...whose, level: "bad", text: `polling ${loaded.name} failed: ${messageOf(error)}` }),
    onIdle: () => options.onQuiet(),
  });
  if (loom.health.isBlocking(loaded.name)) {
    const text = `${loaded.name} is not polled: it blocked the last dispatcher. Fix it, then \`prloom poll ${loaded.name}\``;
    loom.report({ ...whose, level: "bad", text });
    tellHealth(text);
    news = false;
  } else loop.wake();
  return {
    bridge: loaded.name,
    async poll() {
      // One that is under way is joined.
      if (loop.idle()) loop.hurry();
      await loop.settled();
      return report;
    },
    quiet(horizon) {
      if (!loop.idle()) return false;
      if (circuit.failures > 0) return circuit.failures >= ENOUGH_FAILURES || circuit.openUntil > horizon;
      return !news || inARow > MAX_IN_A_ROW;
    },
    stop: () => loop.stop(),
  };
}
