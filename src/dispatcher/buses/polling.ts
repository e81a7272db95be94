import type { LoadedBridge } from "../../bridges/load.ts";
import { type PollOutcome, pollBridge } from "../../bridges/polls/poll.ts";
import type { Bus } from "../../bus/bus.ts";
import { retryDelay } from "../../bus/bus-state.ts";
import { parseHandler } from "../../bus/names.ts";
import { allPlanModules } from "../../config/presets.ts";
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
  /** There is something new on the bus. */
  onNews(): void;
  /** A poll is over. */
  onQuiet(): void;
}

/** A bridge that has something new each time must not become a hot loop. */
const MAX_IN_A_ROW = 20;

/** After so many in a row `--until-idle` does not wait for a bridge to come back. */
const ENOUGH_FAILURES = 3;

/** Polls one bridge for one scope: at once, then at its interval; one that brought something is followed by another. */
export function createPoller(options: PollerOptions): Poller {
  const { loom, loaded, planId } = options;
  let running: Promise<PollReport> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let inARow = 0;
  let news = true;
  let stopped = false;

  const intervalMs = (): number => loaded.pollEveryMs ?? loom.config.bus.pollEveryMs;
  let nextAt = 0;
  const after = (ms: number): void => {
    clearTimeout(timer);
    nextAt = loom.clock.now() + ms;
    if (!stopped && !loom.stopping) timer = setTimeout(() => void poll(), ms);
  };
  const next = (outcome: PollOutcome): void => {
    const { retryMinMs: minMs, retryMaxMs: maxMs } = loom.config.bus;
    failures = outcome.failed === undefined ? 0 : failures + 1;
    news = outcome.events + outcome.actions > 0;
    inARow = news ? inARow + 1 : 0;
    tellHealth(outcome);
    if (failures > 0) after(retryDelay(failures, { minMs, maxMs }));
    else after(news && inARow <= MAX_IN_A_ROW ? 0 : intervalMs());
  };
  const tellHealth = ({ failed }: PollOutcome): void =>
    loom.health.polled({ bridge: loaded.name, ...(planId === undefined ? {} : { planId }) }, failed);
  const once = async (): Promise<PollReport> => {
    const scope = { bus: options.bus, ...(planId === undefined ? {} : { planId }) };
    const outcome = await pollBridge(loom.bridgeServices, scope, loaded);
    next(outcome);
    if (news) options.onNews();
    return { bridge: loaded.name, ...(planId === undefined ? {} : { planId }), ...outcome };
  };
  const poll = (): Promise<PollReport> => {
    clearTimeout(timer);
    running ??= once().finally(() => {
      running = undefined;
      options.onQuiet();
    });
    return running;
  };
  if (loom.health.isBlocking(loaded.name)) {
    const text = `${loaded.name} is not polled: it blocked the last dispatcher. Fix it, then \`prloom poll ${loaded.name}\``;
    loom.report({ ...(planId === undefined ? {} : { planId }), level: "bad", text });
    tellHealth({ events: 0, actions: 0, refused: [], failed: text });
    news = false;
  } else after(0);
  return {
    bridge: loaded.name,
    poll,
    quiet(horizon) {
      if (running !== undefined) return false;
      if (failures > 0) return failures >= ENOUGH_FAILURES || nextAt > horizon;
      return !news || inARow > MAX_IN_A_ROW;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
