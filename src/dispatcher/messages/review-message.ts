import { existsSync } from "node:fs";
import { join } from "node:path";
import { adapterOf } from "../../agents/adapters.ts";
import type { AgentMessage } from "../../agents/port.ts";
import { readEvents } from "../../agents/run-log/run-log.ts";
import { readExit } from "../../agents/runner/run-exit.ts";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import { readTail } from "../../kernel/files.ts";
import { MAX_FILE_BYTES } from "../../kernel/own-file.ts";
import { homeOf, type Located } from "../paths.ts";
import { planText, type Records } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import { readRunRecord } from "../runs/run-record.ts";
import type { Configured } from "../settings/pinned.ts";
import {
  type How,
  judgeMessage,
  type MessageEvidence,
  type MessageVerdict,
  type RunSigns,
  wasHeard,
} from "./judge-message.ts";
import type { KeptMessage } from "./message-file.ts";

/** What is known when a message is looked at, beyond the files of the run that it was given to. */
export interface MessageContext {
  /** The run that is about to begin; without one only what is certain already is told. */
  readonly next?: { readonly run: number; readonly sessionId: string | undefined };
  /** Another process dispatches: a run without an exit is at work there, as far as can be told from here. */
  readonly dispatchedElsewhere?: boolean;
}

/** The message as the files of the run that it was given to tell, and the plan's text. */
export function reviewed(
  loom: Located & Configured & Records & AtWork,
  planId: string,
  message: KeptMessage,
  context: MessageContext,
): KeptMessage {
  const { given, ...rest } = message;
  const { next } = context;
  if (!given || message.delivered) return message;
  const { verdict, heard } = verdictOf(loom, planId, { ...message, given }, context);
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

type GivenMessage = KeptMessage & { readonly given: NonNullable<KeptMessage["given"]> };

function verdictOf(
  loom: Located & Configured & Records & AtWork,
  planId: string,
  { id, text, given }: GivenMessage,
  { next, dispatchedElsewhere = false }: MessageContext,
): { verdict: MessageVerdict; heard: boolean } {
  const runDir = homeOf(loom.paths, planId).run(given.run);
  const signs = signsOf(loom, runDir, { id, text, how: given.how });
  const heard = given.heard || wasHeard({ id, how: given.how }, signs);
  const found = stateOf(loom, planId, runDir);
  const run = next && given.run >= next.run ? "none" : found;
  const isElsewhere = run === "interrupted" && dispatchedElsewhere;
  const accepted = run !== "none" && isAccepted(loom, planId, signs.about);
  const sessions = new Set([...signs.sessions, given.carriedIn]);
  const goesOn = next && next.sessionId !== undefined && sessions.has(next.sessionId);
  return { verdict: judgeMessage({ run: isElsewhere ? "live" : run, heard, accepted, goesOn }), heard };
}

function stateOf(loom: AtWork, planId: string, runDir: string): MessageEvidence["run"] {
  if (loom.occupancy.agentIn(planId)?.runDir === runDir) return "live";
  if (readExit(runDir)) return "ended";
  return existsSync(join(runDir, RUN_FILES.request)) ? "interrupted" : "none";
}

/** Whether what a run was about is done, whichever run did it in the end; a tick is set after the commit. */
function isAccepted(loom: Located & Records, planId: string, about: string | undefined): boolean {
  const record = loom.store.byId(planId);
  const todos = (record && planText(loom, record)?.doc.todos) ?? [];
  if (about === "design") return todos.length > 0;
  return todos.some((todo) => todo.id === about && todo.state === "done");
}

function signsOf(
  loom: Configured,
  runDir: string,
  message: AgentMessage & { how: How },
): RunSigns & { sessions: readonly string[]; about: string | undefined } {
  const events = readEvents(runDir);
  const started = readRunRecord(runDir);
  const exit = readExit(runDir);
  const agent = loom.config.agents[started?.agent ?? ""];
  const received = new Set(events.flatMap((event) => (event.type === "received" ? [event.messageId] : [])));
  if (agent && message.how === "live" && !received.has(message.id)) {
    // A dispatcher that was killed may not have read the last lines.
    const lines = readTail(join(runDir, RUN_FILES.output), MAX_FILE_BYTES).split("\n");
    const name = started?.agent ?? "";
    for (const id of adapterOf({ ...agent, name }).receivedIn?.(lines, [message]) ?? []) received.add(id);
  }
  const own = events.flatMap((event) => (event.type === "session" ? [event.sessionId] : []));
  return {
    events: new Set(events.map(({ type }) => type)),
    received,
    ran: exit !== undefined && exit.reason !== "spawn-failed",
    isCommand: agent?.adapter === "command",
    about: started?.about,
    sessions: started?.sessionId === undefined ? own : [...own, started.sessionId],
  };
}
