import { localComment } from "../../bridges/local/thread.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { sha256 } from "../../kernel/ids.ts";
import { parsePlan } from "../../plan/markdown.ts";
import { type Loom, requireRecord } from "../loom.ts";
import { planText, textPath } from "../observe.ts";

/** A person's words, to the whole plan or to one TODO (counted from 1, as people do). */
export function commentOn(
  loom: Loom,
  id: string,
  comment: { body: string; author: string; todo?: number },
): { eventId: string } {
  const record = requireRecord(loom, id);
  if (record.status === "done") {
    throw new PrloomError(
      "plan-state",
      `${id} is done; nobody would read the comment.`,
      "`prloom new` makes a new plan.",
    );
  }
  if (comment.body.trim() === "")
    throw new PrloomError("usage", "The comment is empty.", `Type: prloom comment ${id} "what you want to say"`);
  const todoId = comment.todo === undefined ? undefined : todoAt(loom, id, comment.todo);
  const eventId = `local-${loom.ids.ulid(loom.clock.now())}`;
  const { body, author } = comment;
  loom
    .bus(id)
    .appendEvents([
      localComment({ id: eventId, planId: id, author, body, ...(todoId === undefined ? {} : { todo: todoId }) }),
    ]);
  return { eventId };
}

function todoAt(loom: Loom, id: string, number: number): string {
  const todos = planText(loom, requireRecord(loom, id))?.doc.todos ?? [];
  const todo = todos[number - 1];
  if (todo?.state === "done") {
    const hint = `Say it to the whole plan: prloom comment ${id} "what you want to say"`;
    throw new PrloomError("usage", `TODO ${number} of ${id} is done; nobody will work on it again.`, hint);
  }
  if (todo) return todo.id;
  throw new PrloomError(
    "usage",
    `${id} has no TODO ${number}; it has ${todos.length}.`,
    `\`prloom show ${id}\` numbers them.`,
  );
}

/** Replaces the text of a plan, if it is still the one that the editor was given. */
export function editPlan(
  loom: Loom,
  id: string,
  edit: { text: string; basedOn?: string },
): { problems: readonly string[] } {
  const record = requireRecord(loom, id);
  if (record.status === "done") throw new PrloomError("plan-state", `${id} is done.`, "`prloom new` makes a new plan.");
  const now = planText(loom, record)?.text;
  if (edit.basedOn !== undefined && now !== undefined && sha256(now) !== edit.basedOn) {
    throw new PrloomError(
      "revision-conflict",
      `The text of ${id} changed while you were editing it (an agent's tick, or another edit).`,
      `Your version was kept; run \`prloom edit ${id}\` again and put your change into the new text.`,
    );
  }
  if (edit.text.trim() === "")
    throw new PrloomError(
      "plan-invalid",
      "The new text is empty.",
      `Nothing was changed. \`prloom delete ${id}\` removes a plan.`,
    );
  if (edit.text !== now) loom.texts.write(textPath(loom, record), edit.text);
  return { problems: parsePlan(edit.text).problems };
}
