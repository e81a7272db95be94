import type { AgentEvent } from "../../src/agents/port.ts";

/** An event in one short line, for tables of what is expected. */
export function eventLine(event: AgentEvent): string {
  switch (event.type) {
    case "text":
      return `text ${event.text}`;
    case "tool_call":
      return `call ${event.name} ${JSON.stringify(event.input)}`;
    case "tool_result":
      return `${event.failed ? "failed" : "result"} ${event.output.split("\n")[0]}`;
    case "usage": {
      const cost = event.costUsd === undefined ? "" : ` $${event.costUsd.toFixed(6)}`;
      return `usage ${event.model} ${event.input}/${event.cached ?? 0}/${event.output}${cost}`;
    }
    case "session":
      return "session";
    case "waiting":
      return `waiting ${event.question}`;
    case "received":
      return `received ${event.messageId}`;
    case "error": {
      const wait = event.retryAfterMs === undefined ? "" : ` in ${event.retryAfterMs}`;
      return `error ${event.kind}${event.retrying ? ", again" : ""}${wait}: ${event.message}`;
    }
    default:
      return event.type;
  }
}
