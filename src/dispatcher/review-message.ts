import { existsSync } from "node:fs";
import { join } from "node:path";
import { adapterOf } from "../agents/adapters.ts";
import type { AgentMessage } from "../agents/port.ts";
import { RUN_FILES } from "../agents/run-files.ts";
import { readEvents } from "../agents/run-log.ts";
import { readExit } from "../agents/runner.ts";
import { readTextIfExists } from "../kernel/files.ts";
import { type How, hasAnswered, judgeMessage, type MessageVerdict, type RunSigns, wasHeard } from "./judge-message.ts";
import type { Loom } from "./loom.ts";
import type { KeptMessage } from "./message-file.ts";
import { homeOf } from "./paths.ts";
import { readRunRecord } from "./run-record.ts";

/** The run that is about to begin. */
export interface NextRun {
  readonly run: number;
  readonly sessionId: string | undefined;
}

/** The message as the files of the run that it was given to tell; without a next run only what is certain already. */
export function reviewed(loom: Loom, planId: string, message: KeptMessage, next: NextRun | undefined): KeptMessage {
  const { given, ...rest } = message;
  if (!given || message.delivered) return message;
  const { verdict, heard } = verdictOf(loom, planId, message, next);
  switch (verdict) {
    case "delivered":
      return { ...rest, given: { ...given, heard }, delivered: true };
    case "carried":
      return {
        ...rest,
        given: { ...given, heard, ...(next ? { run: next.run, carriedIn: next.sessionId ?? "" } : {}) },
      };
    case "waits":
      return rest;
    case "open":
      return heard === given.heard ? message : { ...rest, given: { ...given, heard } };
  }
}

function verdictOf(
  loom: Loom,
  planId: string,
  { id, text, given }: KeptMessage,
  next: NextRun | undefined,
): { verdict: MessageVerdict; heard: boolean } {
  if (!given) return { verdict: "waits", heard: false };
  const runDir = homeOf(loom.paths, planId).run(given.run);
  const signs = signsOf(loom, runDir, { id, text, how: given.how });
  const heard = given.heard || wasHeard({ id, how: given.how }, signs);
  // A program that has forgotten the conversation ends without an answer, and the message is gone with it.
  const isAnswered = given.carriedIn === undefined || hasAnswered(signs);
  const state = stateOf(loom, planId, runDir);
  const run = next && given.run >= next.run ? "none" : state === "ended" && !isAnswered ? "interrupted" : state;
  const sessions = new Set([...signs.sessions, given.carriedIn]);
  const goesOn = next && next.sessionId !== undefined && sessions.has(next.sessionId);
  return { verdict: judgeMessage({ run, heard, goesOn }), heard };
}

function stateOf(loom: Loom, planId: string, runDir: string): "none" | "live" | "ended" | "interrupted" {
  if (loom.live.get(planId)?.runDir === runDir) return "live";
  if (readExit(runDir)) return "ended";
  return existsSync(join(runDir, RUN_FILES.request)) ? "interrupted" : "none";
}

function signsOf(
  loom: Loom,
  runDir: string,
  message: AgentMessage & { how: How },
): RunSigns & { sessions: readonly string[] } {
  const events = readEvents(runDir);
  const started = readRunRecord(runDir);
  const exit = readExit(runDir);
  const agent = loom.config.agents[started?.agent ?? ""];
  const received = new Set(events.flatMap((event) => (event.type === "received" ? [event.messageId] : [])));
  if (agent && message.how === "live" && !received.has(message.id)) {
    // A dispatcher that was killed may not have read the last lines.
    const lines = (readTextIfExists(join(runDir, RUN_FILES.output)) ?? "").split("\n");
    const name = started?.agent ?? "";
    for (const id of adapterOf({ ...agent, name }).receivedIn?.(lines, [message]) ?? []) received.add(id);
  }
  const own = events.flatMap((event) => (event.type === "session" ? [event.sessionId] : []));
  return {
    events: new Set(events.map(({ type }) => type)),
    received,
    ran: exit !== undefined && exit.reason !== "spawn-failed",
    isCommand: agent?.adapter === "command",
    sessions: started?.sessionId === undefined ? own : [...own, started.sessionId],
  };
}
