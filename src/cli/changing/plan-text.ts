import { PrloomError } from "../../kernel/errors.ts";
import { ensureTitle } from "../../plan/edit-plan.ts";
import { parsePlan } from "../../plan/markdown/markdown.ts";

export interface PlanWords {
  readonly title: string;
  readonly todos: readonly string[];
  /** The text that a file or standard input gave; absent: one is made from title and TODOs. */
  readonly given?: string;
}

/** The Markdown of a new plan. */
export function planTextFor({ title, todos, given }: PlanWords): string {
  const name = title.replace(/\s+/g, " ").trim();
  if (given !== undefined) {
    if (todos.length > 0)
      throw new PrloomError(
        "usage",
        "--todo cannot be added to a given text.",
        "Write the TODOs into the text, under `## TODO`.",
      );
    if (given.trim() === "")
      throw new PrloomError("plan-invalid", "The text of the plan is empty.", "Write at least what is to be done.");
    return name === "" ? given : ensureTitle(given, name);
  }
  if (name === "")
    throw new PrloomError(
      "usage",
      "The plan has no title.",
      'Type: prloom new "what to do"; or set EDITOR, and `prloom new` alone opens it.',
    );
  const text = ensureTitle(todos.length === 0 ? "" : `## TODO\n\n${todos.map(todoItem).join("")}`, name);
  const parsed = parsePlan(text).todos.length;
  if (parsed === todos.length) return text;
  throw new PrloomError(
    "plan-invalid",
    `The TODOs cannot be told apart as Markdown: ${todos.length} were given, ${parsed} would be read.`,
    "Write the plan into a file and give it with --file.",
  );
}

/** The first line is the TODO, what follows is its context. */
function todoItem(todo: string): string {
  const [first = "", ...more] = todo.trim().split(/\r?\n/);
  if (first === "")
    throw new PrloomError("usage", "A TODO is empty.", 'Say what is to be done: --todo "Write the form"');
  return [`- [ ] ${first}\n`, ...more.map((line) => (line.trim() === "" ? "\n" : `  ${line}\n`))].join("");
}
