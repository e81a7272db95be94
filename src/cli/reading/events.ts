import { type LogAddress, type LogItem, type LogName, START } from "../../bus/ports.ts";
import { scopeOf } from "../../bus/types.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { requireRecord } from "../../dispatcher/records.ts";
import type { Call } from "../output.ts";
import { planIds, reading, suggesting } from "../plans.ts";
import { jsonText, visible } from "../render/safe-text.ts";
import { cutToWidth } from "../render/table.ts";

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
      if (!options.follow) {
        call.output.data(shown.map(dataOf));
        for (const item of shown) printItem(call, item);
        if (shown.length === 0) call.output.line(`The journal "${options.log}" is empty.`);
        return 0;
      }
      for (const item of shown) streamItem(call, item);
      await follow(call, loom, { address, after: next });
      return 0;
    }),
  );
}

async function follow(call: Call, loom: Loom, from: { address: LogAddress; after: string }): Promise<void> {
  const interrupted = new AbortController();
  const stop = (): void => interrupted.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  let { after } = from;
  while (!interrupted.signal.aborted) {
    await loom.log.wait(from.address, after, interrupted.signal);
    const { items, next } = loom.log.read(from.address, after, Number.MAX_SAFE_INTEGER);
    for (const item of items) streamItem(call, item);
    after = next;
  }
  process.off("SIGINT", stop).off("SIGTERM", stop);
}

function dataOf({ cursor, record }: LogItem): Record<string, unknown> {
  return { cursor, ts: record.ts, kind: record.kind, data: record.data };
}

function streamItem(call: Call, item: LogItem): void {
  if (call.output.json) process.stdout.write(`${jsonText(dataOf(item))}\n`);
  else printItem(call, item);
}

function printItem({ output }: Call, { record }: LogItem): void {
  const line = `${record.ts}  ${visible(record.kind)}  ${visible(JSON.stringify(record.data))}`;
  output.line(output.terminal ? cutToWidth(line, output.width()) : line);
}
