import type { Rule, ScriptStep, ToolUse, Turn } from "./script.ts";
import { quoted } from "./tools.ts";

/** Ticks the first open TODO of the plan copy and says so in its log, as prloom's prompt asks. */
export const tick: ToolUse = {
  shell: [
    `sed -i '0,/^- \\[ \\]/s//- [x]/' "$PRLOOM_PLAN_FILE"`,
    `{ grep -q '^## Progress Log' "$PRLOOM_PLAN_FILE" || printf '\\n## Progress Log\\n\\n' >> "$PRLOOM_PLAN_FILE"; }`,
    `printf -- '- did it\\n' >> "$PRLOOM_PLAN_FILE"`,
  ].join(" && "),
};

/** The change that a worker of these scripts makes for a TODO: a file of its own. */
const change: ScriptStep = ({ prompt }) => ({
  say: `I do TODO ${prompt.todoNumber ?? ""}.`,
  write: fileOfTodo(prompt.todoNumber),
  content: `${prompt.todo ?? "something"}\n`,
});

/** Name of the file that `change` writes. */
export function fileOfTodo(number: number | undefined): string {
  return `todo-${number ?? 0}.txt`;
}

const DONE = { say: "It is done." };

type When = (turn: Turn) => boolean;
const always: When = () => true;

/** A prompt of one stage, the first of a conversation or a later one. */
export function promptOf(stage: string, also: When = always): When {
  return (turn) => turn.prompt.stage === stage && also(turn);
}

/** A worker that does each TODO well; `when` narrows it down to some prompts of the worker. */
export function worksTodos(when?: When): Rule {
  return { when: promptOf("worker", when), steps: [change, tick, DONE] };
}

/** A worker that makes a change, but does not tick: the attempt is not accepted. */
export function forgetsTick(when?: When): Rule {
  return { when: promptOf("worker", when), steps: [change, { say: "I believe that I am done." }] };
}

/** A designer that writes these TODOs. */
export function designs(todos: readonly string[]): Rule {
  const text = `\n## TODO\n\n${todos.map((todo) => `- [ ] ${todo}\n`).join("")}\n## Progress Log\n\n- looked around\n`;
  const shell = `printf %s ${quoted(text)} >> "$PRLOOM_PLAN_FILE"`;
  return { when: promptOf("designer"), steps: [{ read: "README.md" }, { shell }, { say: "The TODOs are there." }] };
}

/** Triage that answers and adds TODOs. */
export function triages(reply: string, todos: readonly string[] = []): Rule {
  const result = { reply_markdown: reply, todos: todos.map((text) => ({ text })), rebase_requested: false };
  return { when: promptOf("triage"), steps: [writesResult(result), { say: "I have answered." }] };
}

export function writesResult(result: unknown): ToolUse {
  return { shell: `printf %s ${quoted(JSON.stringify(result))} > "$PRLOOM_RESULT_FILE"` };
}
