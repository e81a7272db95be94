import type { AgentEvent, RunExit, Stage } from "./port.ts";

/** What can be said about the run that a plan waits for. `none`: nothing runs, and nothing is wrong about that. */
export const ACTIVITY_STATES = [
  "none",
  "working",
  "waiting-for-input",
  "silent",
  "stuck",
  "crashed",
  "finished-without-result",
] as const;
export type ActivityState = (typeof ACTIVITY_STATES)[number];

/** The state, and what makes us say so. */
export interface Activity {
  readonly state: ActivityState;
  readonly evidence: string;
}

/** Pure: what an agent does now, as far as its events tell, in the fewest words. */
export function lastAction({ question, retrying, openTool, last }: EventEvidence): string | undefined {
  if (question !== undefined) return `asks: ${question}`;
  return retrying === undefined ? (openTool ?? last) : `tries again: ${retrying}`;
}

/** Why a plan is not expected to move, whatever its agent does. */
export type Rest = "gated" | "blocked" | "paused" | "hidden" | "opened";

/** What the newest events of a run tell. */
export interface EventEvidence {
  /** The newest thing that says something: a tool with its important argument, text, an error. */
  readonly last?: string;
  /** The program has asked, and nothing came after it. */
  readonly question?: string;
  /** A call whose result has not come. */
  readonly openTool?: string;
  /** The same call that failed again and again, with nothing else tried in between. */
  readonly repeated?: { readonly tool: string; readonly times: number };
  /** The program itself tries again to reach its provider. */
  readonly retrying?: string;
}

export interface ObservedRun {
  readonly stage: Stage;
  readonly agent: string;
  readonly startedAt: string;
  /** Whether the very process lives that the run was given to; unknown before it has told who it is. */
  readonly process: "alive" | "gone" | "unknown";
  readonly lastOutputAt?: string;
  /** It printed more than is kept: whether it prints on is not known here. */
  readonly isCut?: boolean;
  readonly events: EventEvidence;
  readonly exit?: RunExit;
  /** What came of what it left; undefined while that is being looked at. */
  readonly accepted?: boolean;
}

export interface ActivityEvidence {
  /** The newest run that the plan waits for, or waited for. */
  readonly run?: ObservedRun;
  /** Whether a dispatcher runs that goes on after it. */
  readonly dispatcher: boolean;
  readonly rest?: Rest;
  /** `limits.silenceTimeout`. */
  readonly silenceMs: number;
}

/** Models think for minutes; an agent that says nothing for longer is called silent. */
const SILENT_MS = 5 * 60_000;
/** The runner ends a silent run by itself; only when it could not for so long something is wrong. */
const OVERDUE_MS = 60_000;
/** How often the same call may fail before it counts as a loop. */
const MAX_REPEATS = 3;

/** Pure: what the agent of a plan is doing. A plan that rests is never stuck, and neither silence nor a long call is. */
export function judgeActivity(evidence: ActivityEvidence, now: number): Activity {
  const { run, rest } = evidence;
  if (!run) return { state: "none", evidence: rest ? `nothing runs; the plan is ${REST_WORDS[rest]}` : "nothing runs" };
  if (run.exit) return judgeEnd(run, run.exit, evidence);
  if (run.process === "alive") return judgeLife(evidence, run, now);
  if (!evidence.dispatcher)
    return { state: "none", evidence: "interrupted with its dispatcher; `prloom start` goes on" };
  if (run.process === "unknown") return { state: "working", evidence: `${run.agent} is being started` };
  return { state: "crashed", evidence: after(run, "its process is gone and left no exit") };
}

const REST_WORDS: Readonly<Record<Rest, string>> = {
  gated: "waiting for an approval",
  blocked: "blocked",
  paused: "paused",
  hidden: "hidden",
  opened: "in a person's hands (`prloom open`)",
};

function judgeEnd(run: ObservedRun, exit: RunExit, { rest, dispatcher }: ActivityEvidence): Activity {
  const end = endInWords(exit);
  if (run.accepted === true) return { state: "none", evidence: `${end}; what it left was accepted` };
  if (rest !== undefined && run.accepted === undefined)
    return { state: "none", evidence: `${end}; the plan is ${REST_WORDS[rest]}` };
  if (run.accepted === undefined && !dispatcher)
    return { state: "none", evidence: `${end}; interrupted before what it left was checked; \`prloom start\` goes on` };
  if (run.accepted === undefined) return { state: "working", evidence: `${end}; what it left is being checked` };
  const crashed = exit.reason === "spawn-failed" || (exit.reason === "exited" && exit.code !== 0);
  if (crashed) return { state: "crashed", evidence: after(run, end) };
  return { state: "finished-without-result", evidence: after(run, `${end}, and nothing that could be accepted`) };
}

function endInWords(exit: RunExit): string {
  if (exit.reason === "deadline") return "ended because it took longer than limits.runTimeout";
  if (exit.reason === "silence") return "ended because it was silent for limits.silenceTimeout";
  if (exit.reason === "policy") return `ended by the policy: ${exit.error ?? "no reason is known"}`;
  if (exit.reason === "refused") return "ended because its provider refused it for a while";
  if (exit.reason === "spawn-failed") return `could not be started: ${exit.error ?? "no reason is known"}`;
  return exit.signal === null ? `ended with exit code ${exit.code ?? "?"}` : `ended by ${exit.signal}`;
}

function judgeLife({ rest, silenceMs }: ActivityEvidence, run: ObservedRun, now: number): Activity {
  const { question, repeated, openTool, retrying } = run.events;
  const quietMs = now - lastSign(run);
  const quiet = `no output for ${inMinutes(quietMs)}`;
  if (run.isCut) return { state: "working", evidence: "printed more than limits.maxOutput; the rest is not seen" };
  if (question !== undefined) return { state: "waiting-for-input", evidence: `asks: ${question}` };
  if (rest === undefined) {
    if (repeated && repeated.times >= MAX_REPEATS)
      return { state: "stuck", evidence: `the same call failed ${repeated.times} times in a row: ${repeated.tool}` };
    if (quietMs >= silenceMs + OVERDUE_MS)
      return { state: "stuck", evidence: after(run, `${quiet}, longer than limits.silenceTimeout allows`) };
  }
  if (quietMs >= Math.min(SILENT_MS, silenceMs / 2)) {
    if (openTool === undefined) return { state: "silent", evidence: after(run, quiet) };
    return { state: "silent", evidence: `${quiet}; still running: ${openTool}` };
  }
  if (retrying !== undefined) return { state: "working", evidence: `tries again: ${retrying}` };
  if (openTool !== undefined) return { state: "working", evidence: `running: ${openTool}` };
  return { state: "working", evidence: after(run, `last output ${inMinutes(quietMs)} ago`) };
}

/** When it was last heard of; a run that has printed nothing was there when it started. */
function lastSign(run: ObservedRun): number {
  const times = [run.startedAt, run.lastOutputAt].map((iso) => Date.parse(iso ?? "")).filter(Number.isFinite);
  return Math.max(...times, 0);
}

function after({ events }: ObservedRun, words: string): string {
  return events.last === undefined ? words : `${words}; last: ${events.last}`;
}

function inMinutes(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

const MAX_LINE = 100;

function short(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > MAX_LINE ? `${line.slice(0, MAX_LINE - 1)}…` : line;
}

/** Arguments in which programs put what a call is about, the most telling first. */
const TELLING = [
  ["command", "cmd", "script"],
  ["file_path", "filePath", "path", "filename", "notebook_path", "absolute_path"],
  ["pattern", "query", "url", "description", "prompt", "name"],
].flat();

/** A tool call in one line: its name and the argument that says most. */
export function toolInWords(name: string, input: unknown): string {
  return short(`${name} ${tellingPart(input)}`);
}

function tellingPart(input: unknown): string {
  if (typeof input === "string") return input;
  if (Array.isArray(input)) return input.filter((part) => typeof part === "string").join(" ");
  if (typeof input !== "object" || input === null) return "";
  const fields = new Map<string, unknown>(Object.entries(input));
  for (const key of TELLING) {
    const words = tellingPart(fields.get(key));
    if (words !== "") return words;
  }
  return fields.size === 0 ? "" : JSON.stringify(input);
}

/** Pure: what the newest events of a run tell; the oldest first, and they need not begin at the run's start. */
export function eventEvidence(events: readonly AgentEvent[]): EventEvidence {
  const calls = new Map<string, { words: string; key: string }>();
  const open = new Map<string, string>();
  let found: { last?: string; question?: string; retrying?: string } = {};
  let failing = { key: "", words: "", times: 0 };
  for (const event of events) {
    // Any sign of life after a question, or after an error that is tried again, answers it.
    if (event.type !== "usage" && event.type !== "session") {
      const { last } = found;
      found = last === undefined ? {} : { last };
    }
    if (event.type === "text" && event.text.trim() !== "") found = { ...found, last: short(event.text) };
    else if (event.type === "waiting") found = { ...found, question: short(event.question) };
    else if (event.type === "error") {
      const words = short(event.message);
      found = { ...found, last: words, ...(event.retrying ? { retrying: words } : {}) };
    } else if (event.type === "tool_call") {
      const words = toolInWords(event.name, event.input);
      calls.set(event.id, { words, key: JSON.stringify([event.name, event.input]) });
      open.set(event.id, words);
      found = { ...found, last: words };
    } else if (event.type === "tool_result") {
      open.delete(event.id);
      const { key = "", words = "" } = calls.get(event.id) ?? {};
      const again = event.failed && key !== "" && key === failing.key;
      failing = again ? { key, words, times: failing.times + 1 } : { key, words, times: event.failed ? 1 : 0 };
    }
  }
  const openTool = [...open.values()].at(-1);
  return {
    ...found,
    ...(openTool === undefined ? {} : { openTool }),
    ...(failing.times < 2 ? {} : { repeated: { tool: failing.words, times: failing.times } }),
  };
}
