import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach } from "node:test";
import type { AgentEvent, AgentMessage, LiveRun } from "../../../src/agents/port.ts";
import { localComment } from "../../../src/bridges/local/thread.ts";
import type { Loom } from "../../../src/dispatcher/loom.ts";
import { keepMessage, readMessages } from "../../../src/dispatcher/messages/messages.ts";
import { updateRecord } from "../../../src/dispatcher/records.ts";
import { writeRunRecord } from "../../../src/dispatcher/runs/run-record.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";
import { makeProject } from "../../testing/project.ts";

interface Left {
  readonly agent?: string;
  readonly sessionId?: string;
  readonly events?: readonly AgentEvent[];
  readonly output?: string;
  readonly exit?: boolean;
  readonly about?: string;
}

export const turn: AgentEvent = { type: "turn" };
export const session: AgentEvent = { type: "session", sessionId: "s-1" };

/** A plan `p` whose runs are only files, for a suite that looks at the messages to it; each test begins without any. */
export function messageBench() {
  const rest = { command: process.execPath, env: {} };
  const agents = { test: { adapter: "command", ...rest }, talker: { adapter: "claude", ...rest } };
  const project = makeProject({ config: { agents } });
  project.plan("p", ["one"], { status: "draft" });
  const planFile = join(project.inbox, "p.md");
  const todoId = parsePlan(readFileSync(planFile, "utf8")).todos[0]?.id ?? "";
  const messageFile = join(project.authority, "plans", "p", "messages.json");
  const runDir = (run: number): string => join(project.authority, "plans", "p", "runs", String(run));
  let id = 0;

  before(() => project.cli(["hide", "p"]));
  beforeEach(() => {
    setDone(false);
    rmSync(join(project.authority, "plans", "p", "runs"), { recursive: true, force: true });
    rmSync(messageFile, { force: true });
  });
  after(() => project.remove());

  /** What the tick says that is set when the TODO has been committed. */
  function setDone(isDone: boolean): void {
    const text = readFileSync(planFile, "utf8");
    writeFileSync(planFile, isDone ? text.replace("[ ]", "[x]") : text.replace("[x]", "[ ]"));
  }

  /** The plan's worker is at its first run. */
  function atWork(loom: Loom, run: number): PlanRecord {
    const current = { todoId, attempt: 1, baseSha: "a", stage: "running" as const, run };
    return updateRecord(loom, "p", () => ({ current, runs: run }));
  }

  function say(loom: Loom, text: string): string {
    id += 1;
    const event = localComment({ id: `local-${id}`, planId: "p", author: "Ada", body: text });
    keepMessage(loom, "p", event, "Ada");
    return event.id;
  }

  /** A run as its files tell of it. */
  function leave(run: number, left: Left): void {
    const { agent = "talker", sessionId, events = [], output = "", exit = false, about = todoId } = left;
    mkdirSync(runDir(run), { recursive: true });
    const startedAt = "2026-01-01T00:00:00.000Z";
    const session = sessionId === undefined ? {} : { sessionId };
    writeRunRecord(runDir(run), { stage: "worker", agent, attempt: 1, startedAt, about, ...session });
    writeFileSync(join(runDir(run), "request.json"), "{}");
    writeFileSync(join(runDir(run), "output.log"), output);
    writeFileSync(join(runDir(run), "events.jsonl"), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    const ended = { reason: "exited", code: 0, signal: null, startedAt, endedAt: startedAt };
    const rest = { outputBytes: 0, truncated: false, leftBehind: 0 };
    if (exit) writeFileSync(join(runDir(run), "exit.json"), JSON.stringify({ ...ended, ...rest }));
  }

  let end = (): void => undefined;
  /** The run that is at work is no longer. */
  const endLive = (): void => end();

  /** A run that is at work and takes messages, or does not. */
  function live(loom: Loom, run: number, takes: boolean): AgentMessage[] {
    const sent: AgentMessage[] = [];
    const send = (message: AgentMessage): boolean => takes && sent.push(message) > 0;
    const never = new Promise<never>(() => undefined);
    const atRun: LiveRun = { runDir: runDir(run), ended: never, stop: async () => undefined, send };
    end = loom.occupancy.enter("p", "agent", { run: atRun });
    return sent;
  }

  const states = (loom: Loom): string[] => readMessages(loom, "p").map(({ state, run }) => `${state} ${run ?? "-"}`);
  return { project, planFile, messageFile, setDone, atWork, say, leave, live, endLive, states };
}
