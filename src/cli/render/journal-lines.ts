import type { Envelope, LogName } from "../../bus/ports.ts";
import type { Fate } from "../../bus/reading/fate.ts";
import type { Output } from "../output.ts";
import type { Style } from "./colour.ts";
import { firstLine, visible } from "./safe-text.ts";
import { cutToWidth } from "./tables/table.ts";
import { displayWidth } from "./tables/width.ts";
import { dayAndTime, timeUntil } from "./time.ts";

/** Of words that may be long where no terminal limits the line. */
const MAX_WORDS = 160;
const LEAST_WORDS = 20;
const MAX_NAME = 40;

/** A record of a journal for people. */
export interface JournalEntry {
  readonly log: LogName;
  readonly record: Envelope;
  /** Of events and actions. */
  readonly fate?: Fate | undefined;
  /** Why an event was left without effect. */
  readonly ignored?: string | undefined;
}

/** One record in one line: when, what, by whom, its first words, and what became of it. */
export function journalLine(output: Pick<Output, "width" | "paint">, entry: JournalEntry, now: number): string {
  const { what, who, words } = told(entry);
  const head = [dayAndTime(entry.record.ts), what, ...(who === "" ? [] : [who])].map((part) =>
    cutToWidth(visible(part), MAX_NAME),
  );
  const end = endOf(entry, now);
  const taken = displayWidth([...head, end.text].join("  ")) + 2;
  const room = Math.max(LEAST_WORDS, Math.min(MAX_WORDS, output.width() - taken));
  const [time = "", ...names] = head;
  const parts = [
    output.paint("dim", time),
    ...names,
    cutToWidth(firstLine(words), room),
    ...(end.text === "" ? [] : [output.paint(end.style, end.text)]),
  ];
  return parts.filter((part) => part !== "").join("  ");
}

interface JournalLine {
  readonly what: string;
  readonly who: string;
  readonly words: string;
}

function told({ log, record: { kind, data } }: JournalEntry): JournalLine {
  if (log === "events") {
    const type = field(data, "type") || kind;
    const who = field(data, "context", "author", "login") || field(data, "source");
    // The title of a comment only says that it is one.
    const [first, second] = type === "comment" ? ["body", "title"] : ["title", "body"];
    return { what: type, who, words: field(data, first) || field(data, second) };
  }
  if (log === "actions") {
    const to = field(data, "target", "target");
    const who = `${field(data, "emitter") || "prloom"}${to === "" ? "" : ` → ${to}`}`;
    return { what: field(data, "payload", "type") || kind, who, words: payloadWords(data) };
  }
  if (log === "thread" && field(data, "body") !== "")
    return { what: "reply", who: field(data, "author"), words: field(data, "body") };
  if (log === "settled" && field(data, "record") !== "") {
    const reason = field(data, "reason");
    const words = `${field(data, "record")}${reason === "" ? "" : `: ${reason}`}`;
    return { what: field(data, "outcome") || kind, who: field(data, "handler"), words };
  }
  return { what: kind, who: "", words: JSON.stringify(data) };
}

function payloadWords(action: unknown): string {
  const texts = [
    ["payload", "message"],
    ["payload", "title"],
    ["payload", "review", "summary"],
  ];
  const found = texts.map((path) => field(action, ...path)).find((text) => text !== "");
  return found ?? JSON.stringify((action as { payload?: unknown } | null)?.payload ?? null);
}

/** The string at a path; "" where there is none: journals have what other versions wrote. */
function field(value: unknown, ...path: readonly string[]): string {
  let found: unknown = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return "";
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  return typeof found === "string" ? found : "";
}

const MAX_REASON = 80;

/** What a person said was taken up. What prloom or another program told of itself asks for nothing, so nothing is said of it. */
function doneWith(log: LogName, { data }: Envelope): string {
  if (log !== "events") return "[done]";
  return field(data, "type") === "comment" ? "[taken up]" : "";
}

function endOf({ log, record, fate, ignored }: JournalEntry, now: number): { text: string; style: Style } {
  const because = (reason: string): string => cutToWidth(firstLine(reason), MAX_REASON);
  if (ignored !== undefined) return { text: `[ignored: ${because(ignored)}]`, style: "dim" };
  switch (fate?.kind) {
    case "new":
      return { text: log === "events" ? "[not read yet]" : "[not sent yet]", style: "yellow" };
    case "handled":
      return { text: doneWith(log, record), style: "dim" };
    case "triage":
      return { text: "[waits for triage]", style: "yellow" };
    case "waits": {
      const when = timeUntil(new Date(fate.until).toISOString(), now);
      return { text: `[${visible(fate.handler)} tries again ${when}: ${because(fate.reason)}]`, style: "yellow" };
    }
    case "dead":
      return { text: `[given up by ${visible(fate.handler)}: ${because(fate.reason)}]`, style: "red" };
    default:
      return { text: "", style: "dim" };
  }
}
