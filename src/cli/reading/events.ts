import type { BusState } from "../../bus/bus-state.ts";
import { type LogAddress, type LogItem, type LogName, START } from "../../bus/ports.ts";
import { fateOf } from "../../bus/reading/fate.ts";
import { scopeOf } from "../../bus/types.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { requireRecord } from "../../dispatcher/records.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Call } from "../output.ts";
import { planIds, reading, suggesting } from "../plans.ts";
import { journalLine } from "../render/journal-lines.ts";
import { jsonText } from "../render/safe-text.ts";

export interface EventsOptions {
  readonly log: LogName;
  readonly limit?: number;
  readonly follow?: boolean;
}

/** Prints the records of a journal, oldest first. */
export async function events(call: Call, plan: string | undefined, options: EventsOptions): Promise<number> {
  return suggesting(call, plan ?? "", () =>
    reading(call, async (loom) => {
      if (plan !== undefined && !planIds(loom).includes(plan)) requireRecord(loom, plan);
      const address = { scope: scopeOf(plan), log: options.log };
      const { items, next } = loom.log.read(address, START, Number.MAX_SAFE_INTEGER);
      const shown = items.slice(options.limit === undefined ? 0 : -options.limit);
      const print = call.output.json ? printData : linePrinter(call, loom, plan, options);
      if (!options.follow) {
        call.output.data(shown.map(dataOf));
        if (!call.output.json) for (const item of shown) print(item);
        if (shown.length === 0) call.output.line(`The journal "${options.log}" is empty.`);
        return 0;
      }
      for (const item of shown) print(item);
      await follow(loom, { address, after: next, print });
      return 0;
    }),
  );
}

interface FollowedLog {
  readonly address: LogAddress;
  readonly after: string;
  print(item: LogItem): void;
}

async function follow(loom: Loom, { address, after: from, print }: FollowedLog): Promise<void> {
  const interrupted = new AbortController();
  const stop = (): void => interrupted.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  let after = from;
  while (!interrupted.signal.aborted) {
    await loom.log.wait(address, after, interrupted.signal);
    const { items, next } = loom.log.read(address, after, Number.MAX_SAFE_INTEGER);
    for (const item of items) print(item);
    after = next;
  }
  process.off("SIGINT", stop).off("SIGTERM", stop);
}

function dataOf({ cursor, record }: LogItem): Record<string, unknown> {
  return { cursor, ts: record.ts, kind: record.kind, data: record.data };
}

function printData(item: LogItem): void {
  process.stdout.write(`${jsonText(dataOf(item))}\n`);
}

/** What became of records is told where they were there already: of one that has just come, nothing is known. */
function linePrinter(
  { output }: Call,
  loom: Loom,
  plan: string | undefined,
  { log, follow: isFollowing }: EventsOptions,
): (item: LogItem) => void {
  const about = log === "events" ? "event" : log === "actions" ? "action" : undefined;
  const state = about === undefined || isFollowing ? undefined : stateOf(loom, plan);
  const left = plan === undefined ? [] : (loom.store.byId(plan)?.ignored?.newest ?? []);
  const ignored = new Map(log === "events" ? left.map(({ id, reason }) => [id, reason]) : []);
  return (item) => {
    const fate = state && about ? fateOf(state, about, item) : undefined;
    const entry = { log, record: item.record, fate, ignored: ignored.get(item.record.id ?? "") };
    output.line(journalLine(output, entry, loom.clock.now()));
  };
}

/** Records can be read where the state of their bus cannot. */
function stateOf(loom: Loom, plan: string | undefined): BusState | undefined {
  try {
    return (plan === undefined ? loom.globalBus() : loom.bus(plan)).state();
  } catch (error) {
    if (error instanceof PrloomError) return undefined;
    throw error;
  }
}
