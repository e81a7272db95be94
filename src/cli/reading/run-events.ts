import { closeSync } from "node:fs";
import { join } from "node:path";
import { EVENTS_FILE, type LoggedEvent, readEvents } from "../../agents/run-log/run-log.ts";
import { scanLines } from "../../bus/file/lines.ts";
import { watchDirectory } from "../../bus/file/watch.ts";
import type { Config } from "../../config/config.ts";
import type { RunSummary } from "../../dispatcher/report/read.ts";
import { isMissing } from "../../kernel/errors.ts";
import { ownJsonIn } from "../../kernel/json-fields.ts";
import { openOwn } from "../../kernel/own-file.ts";

/** Whether a run's program tells more than lines of text: then its events are what people want to read. */
export function isTelling(config: Config, run: RunSummary): boolean {
  const scopes = [config, ...Object.values(config.presets)];
  const adapters = scopes.flatMap(({ agents }) => agents[run.agent]?.adapter ?? []);
  if (adapters.length > 0) return adapters.some((adapter) => adapter !== "command");
  // The config has no such agent any more; what it left tells.
  return readEvents(run.dir).some(({ type }) => type !== "text" && type !== "done");
}

/** The events of a run as they are written, until `ended` settles and all were read. */
export async function* followEvents(runDir: string, ended: Promise<unknown>): AsyncGenerator<LoggedEvent> {
  const path = join(runDir, EVENTS_FILE);
  let wake = Promise.withResolvers<void>();
  const look = (): void => wake.resolve();
  const stopWatching = watchDirectory(runDir, look);
  let over = false;
  const end = (): void => {
    over = true;
    look();
  };
  ended.then(end, end);
  let from = 0;
  try {
    for (;;) {
      const last = over;
      wake = Promise.withResolvers<void>();
      const { events, end: reached } = eventsFrom(path, from);
      from = reached;
      yield* events;
      if (last) return;
      if (!over) await wake.promise;
    }
  } finally {
    stopWatching();
  }
}

function eventsFrom(path: string, from: number): { events: LoggedEvent[]; end: number } {
  const events: LoggedEvent[] = [];
  let fd: number;
  try {
    fd = openOwn(path);
  } catch (error) {
    if (isMissing(error)) return { events, end: from };
    throw error;
  }
  try {
    const end = scanLines({ fd, from, final: false }, ({ text }) => {
      const event = parseEvent(text);
      if (event) events.push(event);
      return true;
    });
    return { events, end };
  } finally {
    closeSync(fd);
  }
}

function parseEvent(line: string): LoggedEvent | undefined {
  const event = ownJsonIn(line) as LoggedEvent | null | undefined;
  return typeof event?.type === "string" ? event : undefined;
}
