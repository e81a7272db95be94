import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandAdapter } from "../../agents/command/adapter.ts";
import { agentEnvironment } from "../../agents/environment.ts";
import type { AgentAdapter, LiveRun, RunExit, Stage } from "../../agents/port.ts";
import { loadPrompt, renderPrompt } from "../../agents/prompts.ts";
import { probePidNamespace } from "../../agents/runner.ts";
import type { PlanConfig } from "../../config/presets.ts";
import { repairGitFile } from "../../git/repair.ts";
import { isoTime } from "../../kernel/clock.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { messageOf } from "../../kernel/errors.ts";
import { ensureDir, writeRunFile } from "../../kernel/files.ts";
import { type PlanDoc, type Todo, todoTitle } from "../../plan/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Loom } from "../loom.ts";
import { awaitedRun, planText, worktreeOf } from "../observe.ts";
import { homeOf, RUN_COPY, TRIAGE_RESULT } from "../paths.ts";
import { clearUnstarted } from "./begin.ts";
import { copyFiles } from "./copy-files.ts";
import { refuseStart } from "./interrupted.ts";
import { makeRunCopy } from "./run-copy.ts";

/** The text that the agent was given, beside the run's other files: claims are the difference to it. */
export const GIVEN = "given.md";

/** Starts the agent that the record waits for; returns as soon as it runs. */
export async function startAgentRun(loom: Loom, record: PlanRecord, config: PlanConfig): Promise<void> {
  const number = awaitedRun(record);
  const text = planText(loom, record);
  if (number === undefined || !text) return;
  const stage = record.current ? "worker" : (record.side?.stage ?? "worker");
  const runDir = homeOf(loom.paths, record.id).run(number);
  clearUnstarted(runDir);
  ensureDir(join(runDir, "agent"));
  await repairGitFile(worktreeOf(loom, record));
  await copyFiles(loom, worktreeOf(loom, record).path, false);
  makeRunCopy(loom, record, text.text);
  writeFileSync(join(runDir, GIVEN), text.text);
  const events = writeEvents(loom, record, runDir);
  const todo = text.doc.todos.find((candidate) => candidate.id === record.current?.todoId);
  const prompt = promptFor(loom, record, { stage, doc: text.doc, text: text.text, todo, events });
  const agent = config.stages[stage];
  const controller = new AbortController();
  const runId = `${record.uid}/${number}`;
  const vars = variables(loom, record, { stage, todo, runDir });
  const startedAt = isoTime(loom.clock.now());
  const attempt = record.current?.attempt ?? record.side?.attempt ?? 1;
  writeRunFile(join(runDir, "run.json"), JSON.stringify({ stage, agent: agent.name, attempt, startedAt }));
  crashPoint("run:prepared");
  const pidNamespace = await probePidNamespace();
  refuseStart(loom, record);
  const stream = adapterFor(agent).start({
    stage,
    prompt,
    cwd: worktreeOf(loom, record).path,
    runDir,
    runId,
    ...(agent.model === undefined ? {} : { model: agent.model }),
    env: agentEnvironment(loom.environment, {
      vars: { ...vars, PRLOOM_RUN_ID: runId },
      extra: agent.env,
      pass: agent.passEnv,
    }),
    limits: {
      deadlineMs: config.limits.runTimeoutMs,
      silenceMs: config.limits.silenceTimeoutMs,
      maxOutputBytes: config.limits.maxOutputBytes,
      graceMs: config.limits.stopGraceMs,
    },
    pidNamespace,
    signal: controller.signal,
  });
  const ended = follow(stream).catch((error) => {
    // Then the run has no exit that we know of; recovery ends what is left of it before anything else.
    loom.report({ planId: record.id, level: "bad", text: `following the agent failed: ${messageOf(error)}` });
    return "interrupted" as const;
  });
  const stop = async (): Promise<void> => {
    controller.abort();
    await ended;
  };
  const live: LiveRun = { runDir, ended, stop };
  loom.live.set(record.id, live);
  crashPoint("run:started");
  void ended.then((exit) => {
    loom.live.delete(record.id);
    if (exit !== "interrupted") loom.stranded.delete(record.id);
    else if (!loom.stopping) loom.stranded.set(record.id, (loom.stranded.get(record.id) ?? 0) + 1);
    loom.runEnded(record.id);
  });
  loom.report({ planId: record.id, level: "info", text: `${stage} started (run ${number}, agent ${agent.name})` });
}

async function follow(stream: ReturnType<AgentAdapter["start"]>): Promise<RunExit | "interrupted"> {
  for await (const event of stream) if (event.type === "done") return event.exit;
  return "interrupted";
}

function adapterFor(agent: PlanConfig["stages"]["worker"]): AgentAdapter {
  return commandAdapter(agent);
}

interface PromptParts {
  readonly stage: Stage;
  readonly doc: PlanDoc;
  readonly text: string;
  readonly todo: Todo | undefined;
  readonly events: string;
}

function promptFor(loom: Loom, record: PlanRecord, parts: PromptParts): string {
  const { stage, todo } = parts;
  const missing = record.current?.missing ?? record.side?.missing ?? "";
  const worktree = worktreeOf(loom, record).path;
  const values: Record<string, string> = {
    planId: record.id,
    planFile: join(worktree, RUN_COPY.plan),
    worktree,
    plan: parts.text,
    todo: todo ? todoTitle(todo) : "",
    todoNumber: todo ? String(todo.index + 1) : "",
    context: todo?.context ?? "",
    events: parts.events,
    resultFile: join(worktree, TRIAGE_RESULT),
    missing: missing === "" ? "" : `The last attempt was not accepted. What was missing:\n\n${missing}\n`,
  };
  return renderPrompt({ stage, template: loadPrompt(stage, loom.paths.prompts), values });
}

function writeEvents(loom: Loom, record: PlanRecord, runDir: string): string {
  if (record.side?.stage !== "triage") return "[]";
  const wanted = new Set(record.side.events);
  const events = loom
    .bus(record.id)
    .pendingTriage()
    .filter((event) => wanted.has(event.id));
  const json = JSON.stringify(events, null, 2);
  writeFileSync(join(runDir, "agent", "events.json"), json);
  return json;
}

function variables(
  loom: Loom,
  record: PlanRecord,
  run: { stage: Stage; todo: Todo | undefined; runDir: string },
): Record<string, string> {
  const worktree = worktreeOf(loom, record).path;
  return {
    PRLOOM_STAGE: run.stage,
    PRLOOM_PLAN_ID: record.id,
    PRLOOM_PLAN_FILE: join(worktree, RUN_COPY.plan),
    PRLOOM_WORKTREE: worktree,
    PRLOOM_RUN_DIR: join(run.runDir, "agent"),
    ...(run.todo ? { PRLOOM_TODO: todoTitle(run.todo), PRLOOM_TODO_INDEX: String(run.todo.index) } : {}),
    ...(run.stage === "triage"
      ? {
          PRLOOM_EVENTS_FILE: join(run.runDir, "agent", "events.json"),
          PRLOOM_RESULT_FILE: join(worktree, TRIAGE_RESULT),
        }
      : {}),
  };
}
