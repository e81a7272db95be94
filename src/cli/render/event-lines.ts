import { toolInWords } from "../../agents/activity.ts";
import type { AgentEvent } from "../../agents/port.ts";
import { addEvent, EMPTY_SUMMARY, type RunLogSummary, spendingOf } from "../../agents/run-log/run-summary.ts";
import { counted } from "../../kernel/text/words.ts";
import { type Paint, plain } from "./colour.ts";
import { firstLine, visible } from "./safe-text.ts";
import { dollars, tokensInWords } from "./spending.ts";

/** Of a call that failed; the rest is in `prloom logs --raw`. */
const FAILURE_LINES = 5;

/** The events of one run, told line by line. Strings come as they are: the caller makes them harmless. */
export interface EventLines {
  lines(event: AgentEvent): string[];
}

/** Begins to tell a run. It remembers what was called, so that a failure can be named, and sums up at the end. */
export function eventLines(paint: Paint = plain): EventLines {
  const calls = new Map<string, string>();
  let summary: RunLogSummary = EMPTY_SUMMARY;
  return {
    lines(event) {
      summary = addEvent(summary, event);
      if (event.type === "tool_call") calls.set(event.id, toolInWords(event.name, event.input));
      if (event.type !== "tool_result") return plainEvent(event, paint, summary);
      const call = calls.get(event.id) ?? "a call";
      calls.delete(event.id);
      return event.failed ? failure(call, event.output, paint) : [];
    },
  };
}

function plainEvent(
  event: Exclude<AgentEvent, { type: "tool_result" }>,
  paint: Paint,
  summary: RunLogSummary,
): string[] {
  switch (event.type) {
    case "text":
      return textLines(event.text);
    case "tool_call":
      return [paint("cyan", `→ ${visible(toolInWords(event.name, event.input))}`)];
    case "waiting":
      return [paint("yellow", `? ${visible(event.question)}`)];
    case "received":
      return [paint("green", "← your message was received")];
    case "error": {
      const more = event.retrying ? " (it tries again)" : "";
      return [paint("red", `! ${event.kind}: ${firstLine(event.message)}${more}`)];
    }
    case "done":
      return sumLines(summary, paint);
    case "turn":
    case "usage":
    case "session":
      return [];
    default:
      // Written by a newer prloom, which knows more kinds.
      return [];
  }
}

function textLines(text: string): string[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines;
}

function failure(call: string, output: string, paint: Paint): string[] {
  const lines = textLines(output.trimEnd());
  const shown = lines.slice(0, FAILURE_LINES).map((line) => `    ${line}`);
  const more = lines.length - FAILURE_LINES;
  if (more > 0) shown.push(`    … ${counted(more, "more line")}`);
  return [paint("red", `✗ ${visible(call)}`), ...(output.trim() === "" ? [] : shown)];
}

/** What the run did and cost; nothing for a program that only prints. */
function sumLines(summary: RunLogSummary, paint: Paint): string[] {
  const { turns, tools, failedTools, models } = summary;
  const calls = Object.values(tools).reduce((sum, one) => sum + one, 0);
  const { tokens, usd } = spendingOf(summary);
  if (turns === 0 && calls === 0 && tokens === 0) return [];
  const parts = [
    counted(turns, "turn"),
    `${counted(calls, "tool call")}${failedTools === 0 ? "" : `, ${failedTools} failed`}`,
    ...(tokens === 0 ? [] : [`${tokensInWords(tokens)} tokens`]),
    ...(usd === 0 ? [] : [dollars(usd)]),
  ];
  const names = Object.keys(models).map(visible).join(", ");
  return [paint("dim", `--- ${parts.join(", ")}${names === "" ? "" : ` (${names})`} ---`)];
}
