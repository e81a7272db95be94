import { closeSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { isoTime } from "../../kernel/clock.ts";
import { readTail, writeRunFile } from "../../kernel/files.ts";
import { jsonIn } from "../../kernel/json-fields.ts";
import { readChecked } from "../../kernel/json-files.ts";
import { openOwn, TO_REWRITE } from "../../kernel/own-file.ts";
import { type AgentEvent, ERROR_KINDS } from "../port.ts";
import { addEvent, EMPTY_SUMMARY, type RunLogSummary } from "./run-summary.ts";

/** Beside a run's output: what it meant, one event a line, and the sum of it when the run has ended. */
export const EVENTS_FILE = "events.jsonl";
export const SUMMARY_FILE = "summary.json";
/** The sum so far of a run that tells much: whatever comes after a kill need not add everything up again. */
const PARTIAL_FILE = "partial-summary.json";
const PARTIAL_BYTES = 1024 * 1024;

/** Longer texts and inputs are cut: the whole is in the run's output. */
const MAX_TEXT = 16 * 1024;
/** Longer names are none that a program has. */
const MAX_NAME = 1000;
/** A program that floods us must not fill the disk a second time; its output is capped as well. */
const MAX_BYTES = 32 * 1024 * 1024;

/** One line of events.jsonl. */
export type LoggedEvent = AgentEvent & { readonly at: string };

export interface RunLog {
  add(event: AgentEvent, now: number): void;
  summary(): RunLogSummary;
  /** Writes the summary; nothing can be added afterwards. */
  close(): void;
}

/** Opens the log of a run that begins. What it has is made from the output, so it is not synced. */
export function openRunLog(runDir: string): RunLog {
  let summary = EMPTY_SUMMARY;
  let bytes = 0;
  let summed = 0;
  const fd = openOwn(join(runDir, EVENTS_FILE), TO_REWRITE, 0o600);
  return {
    add(event, now) {
      // The sum is written again and again, and has the errors in it.
      const told = { at: isoTime(now), ...shortened(event) };
      summary = addEvent(summary, told);
      const line = `${JSON.stringify(told)}\n`;
      if (bytes + line.length > MAX_BYTES) return;
      bytes += writeSync(fd, line);
      if (bytes - summed < PARTIAL_BYTES) return;
      summed = bytes;
      writeRunFile(join(runDir, PARTIAL_FILE), `${JSON.stringify({ ...summary, upTo: bytes })}\n`, 0o600);
    },
    summary: () => summary,
    close() {
      closeSync(fd);
      writeRunFile(join(runDir, SUMMARY_FILE), `${JSON.stringify(summary)}\n`, 0o600);
      if (summed > 0) rmSync(join(runDir, PARTIAL_FILE), { force: true });
    },
  };
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}… (${text.length - MAX_TEXT} more characters)`;
}

function cutName(name: string): string {
  return name.slice(0, MAX_NAME);
}

function shortened(event: AgentEvent): AgentEvent {
  switch (event.type) {
    case "text":
      return { ...event, text: cut(event.text) };
    case "tool_result":
      return { ...event, id: cutName(event.id), output: cut(event.output) };
    case "tool_call": {
      const input = JSON.stringify(event.input) ?? "";
      const call = { ...event, id: cutName(event.id), name: cutName(event.name) };
      return input.length <= MAX_TEXT ? call : { ...call, input: cut(input) };
    }
    case "error":
      return { ...event, message: cut(event.message) };
    case "usage":
      return { ...event, model: cutName(event.model) };
    case "waiting":
      return { ...event, question: cut(event.question) };
    default:
      return event;
  }
}

const usageSchema = z.object({
  input: z.number(),
  output: z.number(),
  cached: z.number(),
  costUsd: z.number().exactOptional(),
});

const errorSchema = z.object({
  kind: z.enum(ERROR_KINDS),
  message: z.string(),
  retryAfterMs: z.number().exactOptional(),
  retryAt: z.iso.datetime().exactOptional(),
});

const summarySchema = z.object({
  turns: z.number(),
  tools: z.record(z.string(), z.number()),
  failedTools: z.number(),
  models: z.record(z.string(), usageSchema),
  sessionId: z.string().exactOptional(),
  errors: z.array(errorSchema),
  trouble: errorSchema.exactOptional(),
});

const partialSchema = summarySchema.extend({ upTo: z.number() });

/** The sum of a run that has ended; of one that was cut off, the sum of the events that were written. */
export function readSummary(runDir: string): RunLogSummary {
  return readChecked(join(runDir, SUMMARY_FILE), summarySchema) ?? sumUp(runDir);
}

function sumUp(runDir: string): RunLogSummary {
  const partial = readChecked(join(runDir, PARTIAL_FILE), partialSchema);
  if (partial === undefined) return readEvents(runDir).reduce(addEvent, EMPTY_SUMMARY);
  const { upTo, ...summary } = partial;
  const size = statSync(join(runDir, EVENTS_FILE), { throwIfNoEntry: false })?.size ?? 0;
  return readEvents(runDir, Math.max(0, size - upTo)).reduce(addEvent, summary);
}

/** Many times what is asked for: a line may be mostly the result of a tool. */
const WORDS_BYTES = 1024 * 1024;

/** The last words of a run: what it said, and what went wrong; from a whole line on. */
export function lastWords(runDir: string, characters: number): string {
  const lines: string[] = [];
  let room = characters;
  for (const event of readEvents(runDir, WORDS_BYTES).reverse()) {
    const line = event.type === "text" ? event.text : event.type === "error" ? `(${event.kind}) ${event.message}` : "";
    if (line === "" && event.type !== "text") continue;
    if (line.length > room && lines.length > 0) break;
    lines.push(line.slice(-room));
    room -= line.length + 1;
    if (room <= 0) break;
  }
  return lines.reverse().join("\n");
}

/** The last `bytes` of the events of a run, as far as they were written; a torn first or last line is left out. */
export function readEvents(runDir: string, bytes = 2 * MAX_BYTES): LoggedEvent[] {
  const text = readTail(join(runDir, EVENTS_FILE), bytes);
  return text.split("\n").flatMap((line) => {
    const event = line === "" ? undefined : (jsonIn(line) as LoggedEvent | undefined);
    return event && typeof event.type === "string" ? [event] : [];
  });
}
