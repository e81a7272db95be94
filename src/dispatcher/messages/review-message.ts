import { existsSync } from "node:fs";
import { join } from "node:path";
import { adapterOf } from "../../agents/adapters.ts";
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
import { judgeMessage, type MessageEvidence, type MessageVerdict, type RunSigns, wasHeard } from "./judge-message.ts";
import { type KeptMessage, readMessageFile } from "./message-file.ts";

/** What is known when a message is looked at, beyond the files of the run that it was given to. */
export interface MessageContext {
  /** The run that is about to begin; without one only what is certain already is told. */
  readonly next?: { readonly run: number; readonly sessionId: string | undefined };
  /** Another process dispatches: a run without an exit is at work there, as far as can be told from here. */
  readonly dispatchedElsewhere?: boolean;
}

/**
 * What a message is by the files of the run that it was given to, and the plan's text. Those of a run are read once for all
 * messages: an agent can make them so long that reading them for each would hold up everything else.
 */
export function reviewer(
  loom: Located & Configured & Records & AtWork,
  planId: string,
  context: MessageContext,
): (message: KeptMessage) => KeptMessage {
  const seen = new Map<number, SeenRun>();
  const runOf = (run: number): SeenRun => {
    const known = seen.get(run) ?? seenRun(loom, planId, run);
    seen.set(run, known);
    return known;
  };
  return (message) => {
    const { given } = message;
    if (!given || message.delivered) return message;
    return reviewed(loom, planId, { ...message, given }, { ...context, seen: runOf(given.run) });
  };
}

type Seeing = MessageContext & { readonly seen: SeenRun };

function reviewed(
  loom: Located & Configured & Records & AtWork,
  planId: string,
  message: GivenMessage,
  context: Seeing,
): KeptMessage {
  const { given, ...rest } = message;
  const { next } = context;
  const { verdict, heard } = verdictOf(loom, planId, message, context);
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
  { id, given }: GivenMessage,
  { next, dispatchedElsewhere = false, seen: signs }: Seeing,
): { verdict: MessageVerdict; heard: boolean } {
  const runDir = homeOf(loom.paths, planId).run(given.run);
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

/** What the files of a run tell. */
type SeenRun = RunSigns & { readonly sessions: readonly string[]; readonly about: string | undefined };

function seenRun(loom: Located & Configured, planId: string, run: number): SeenRun {
  const runDir = homeOf(loom.paths, planId).run(run);
  const events = readEvents(runDir);
  const started = readRunRecord(runDir);
  const exit = readExit(runDir);
  const name = started?.agent ?? "";
  const agent = loom.config.agents[name];
  const received = new Set(events.flatMap((event) => (event.type === "received" ? [event.messageId] : [])));
  const sent = readMessageFile(loom.paths, planId).filter(
    ({ id, given, delivered }) => given?.run === run && given.how === "live" && !delivered && !received.has(id),
  );
  if (agent && sent.length > 0) {
    // A dispatcher that was killed may not have read the last lines.
    const output = readTail(join(runDir, RUN_FILES.output), MAX_FILE_BYTES);
    for (const id of adapterOf({ ...agent, name }).receivedIn?.(output, sent) ?? []) received.add(id);
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
