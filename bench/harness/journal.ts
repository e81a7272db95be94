import { createFileLog } from "../../src/bus/file/log.ts";
import { type Log, type LogAddress, type NewRecord, START } from "../../src/bus/ports.ts";
import type { BusEvent } from "../../src/bus/types.ts";
import { systemClock } from "../../src/kernel/clock.ts";

const BATCH = 10_000;
export const EVENTS: LogAddress = { scope: {}, log: "events" };
const SETTLED: LogAddress = { scope: {}, log: "settled" };

/** An event of ordinary size. */
export function sampleEvent(number: number): BusEvent {
  return {
    id: `comment-${number}`,
    source: "local",
    type: "comment",
    severity: "info",
    title: `Comment ${number}`,
    body: "Please also handle the case where the list is empty, and add a test for it. Thank you!",
    replyTo: { target: "local", token: "thread" },
    context: { author: { login: "someone", permission: "write" } },
  };
}

export function sampleRecords(from: number, count: number): NewRecord[] {
  return Array.from({ length: count }, (_, at) => {
    const event = sampleEvent(from + at);
    return { kind: "event", id: event.id, data: event };
  });
}

/** The journals in one folder. */
export function logIn(dir: string, options: { fsync?: boolean } = {}): Log {
  return createFileLog({ root: () => dir, clock: systemClock, ...options });
}

/** Fills a scope with this many events; when `settled`, each with the attempt and the settlement that followed it. */
export function fillScope(dir: string, events: number, settled = false): void {
  const log = logIn(dir, { fsync: false });
  let after = START;
  for (let from = 0; from < events; from += BATCH) {
    log.append(EVENTS, sampleRecords(from, Math.min(BATCH, events - from)));
    if (!settled) continue;
    const { items, next } = log.read(EVENTS, after, BATCH);
    after = next;
    log.append(
      SETTLED,
      items.flatMap(({ cursor, record }) => settlementOf(record.id ?? "", cursor)),
    );
  }
  log.close();
}

function settlementOf(record: string, cursor: string): NewRecord[] {
  const marks = { about: "event", moveCursor: cursor };
  return [
    { kind: "attempt", data: { record, handler: "intake" } },
    { kind: "settlement", data: { record, handler: "intake", outcome: "handled", marks } },
  ];
}
