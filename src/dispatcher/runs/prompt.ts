import { join } from "node:path";
import type { Stage } from "../../agents/port.ts";
import { loadPrompt, renderPrompt } from "../../agents/prompts.ts";
import type { BusEvent } from "../../bus/types.ts";
import { placeFile } from "../../kernel/held/files.ts";
import { type PlanDoc, type Todo, titleOf, todoTitle } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { withoutProvenance } from "../../plan/todos/provenance.ts";
import { type Located, RUN_COPY, TRIAGE_RESULT, worktreeOf } from "../paths.ts";
import { conflictOf } from "../perform/resolution.ts";
import { missingIn } from "../perform/review.ts";
import type { Configured } from "../settings/pinned.ts";
import { portVariables } from "../worktree/ports.ts";

export interface PromptParts {
  readonly stage: Stage;
  readonly doc: PlanDoc;
  readonly text: string;
  readonly todo: Todo | undefined;
  /** The events that triage is given, as JSON. */
  readonly events: string;
  /** What people said to the agent, ready to be read: messages, and to the designer also comments. */
  readonly messages: string;
  /** The conversation goes on where it stopped: the rules are known. */
  readonly goesOn: boolean;
  /** Values that only one stage has. */
  readonly more: Readonly<Record<string, string>>;
}

/** The prompt of a run. */
export function promptFor(loom: Located & Configured, record: PlanRecord, parts: PromptParts): string {
  const { stage, todo } = parts;
  const missing = missingIn(record);
  const worktree = worktreeOf(loom, record).path;
  const common = {
    planId: record.id,
    planFile: join(worktree, RUN_COPY.plan),
    worktree,
    messages: parts.messages,
    ...parts.more,
  };
  if (parts.goesOn) {
    const about = todo ? `Your TODO is still number ${todo.index + 1} of the plan.` : "The plan is still this one.";
    const words = todo ? todoTitle(todo) : titleOf(parts.text, record.id);
    const values = { ...common, stage, about, todo: words, missing: missing ? notAccepted(missing) : INTERRUPTED };
    return renderPrompt({ stage: "resume", template: loadPrompt("resume", loom.pinned.prompt("resume")), values });
  }
  const values: Record<string, string> = {
    ...common,
    plan: parts.text,
    todo: todo ? todoTitle(todo) : "",
    todoNumber: todo ? String(todo.index + 1) : "",
    context: todo ? withoutProvenance(todo) : "",
    events: parts.events,
    resultFile: parts.more.resultFile ?? join(worktree, TRIAGE_RESULT),
    missing: missing ? notAccepted(missing) : "",
  };
  const name = stage === "worker" && conflictOf(record) ? "resolve" : stage;
  return renderPrompt({ stage: name, template: loadPrompt(name, loom.pinned.prompt(name)), values });
}

const INTERRUPTED = "Your last run was interrupted from outside. That was not your fault; go on where you were.";

function notAccepted(missing: string): string {
  return `The last attempt was not accepted. What was missing:\n\n${missing}\n`;
}

/** The events that triage or the designer is given, also as a file of the run. */
export function writeEvents(events: readonly BusEvent[], runDir: string): string {
  const json = JSON.stringify(events, null, 2);
  placeFile(runDir, join("agent", "events.json"), json);
  return json;
}

/** Stages that are given what was said. */
const HEARING: ReadonlySet<Stage> = new Set(["triage", "designer"]);

export interface RunOf {
  readonly stage: Stage;
  readonly todo: Todo | undefined;
  readonly runDir: string;
  readonly resultFile: string | undefined;
}

/** PRLOOM_* of a run. */
export function variables(loom: Located & Configured, record: PlanRecord, run: RunOf): Record<string, string> {
  const worktree = worktreeOf(loom, record).path;
  const resultFile = run.resultFile ?? (run.stage === "triage" ? join(worktree, TRIAGE_RESULT) : undefined);
  return {
    PRLOOM_STAGE: run.stage,
    PRLOOM_PLAN_ID: record.id,
    PRLOOM_PLAN_FILE: join(worktree, RUN_COPY.plan),
    PRLOOM_WORKTREE: worktree,
    ...portVariables(record),
    PRLOOM_RUN_DIR: join(run.runDir, "agent"),
    ...(run.stage === "worker" ? { PRLOOM_OUTCOME_FILE: join(worktree, RUN_COPY.outcome) } : {}),
    ...(run.stage === "worker" ? conflictVariables(record) : {}),
    ...(run.todo ? { PRLOOM_TODO: todoTitle(run.todo), PRLOOM_TODO_INDEX: String(run.todo.index) } : {}),
    ...(HEARING.has(run.stage) ? { PRLOOM_EVENTS_FILE: join(run.runDir, "agent", "events.json") } : {}),
    ...(resultFile === undefined ? {} : { PRLOOM_RESULT_FILE: resultFile }),
  };
}

function conflictVariables(record: PlanRecord): Record<string, string> {
  const conflict = conflictOf(record);
  return conflict ? { PRLOOM_CONFLICTS: conflict.files.join("\n") } : {};
}
