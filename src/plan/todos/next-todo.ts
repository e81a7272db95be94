import { reasonInLines, reasonInText, type Todo } from "./todo.ts";

export type NextTodo =
  | { readonly kind: "todo"; readonly todo: Todo }
  | { readonly kind: "blocked"; readonly todo: Todo; readonly reason: string }
  | { readonly kind: "all-done" }
  | { readonly kind: "none" };

/**
 * The first open TODO, in order, whose `after` are done. What comes before it and cannot go on by itself (`[b]`, an
 * unknown number, a circle) blocks, so that nothing is skipped unnoticed.
 */
export function nextTodo(doc: { readonly todos: readonly Todo[] }): NextTodo {
  const { todos } = doc;
  if (todos.length === 0) return { kind: "none" };
  for (const todo of todos) {
    if (todo.state === "done") continue;
    if (todo.state === "blocked") return { kind: "blocked", todo, reason: blockedReason(todo) };
    const after = todo.settings.after ?? [];
    const unknown = after.find((number) => todos[number - 1] === undefined);
    if (unknown !== undefined) {
      const reason = `TODO ${todo.index + 1} is after TODO ${unknown}, and there is no TODO ${unknown}.`;
      return { kind: "blocked", todo, reason };
    }
    if (after.every((number) => todos[number - 1]?.state === "done")) return { kind: "todo", todo };
    if (waitsForItself(todo, todos)) {
      const reason = `TODO ${todo.index + 1} waits for itself: its "after: ${after.join(", ")}" is circular.`;
      return { kind: "blocked", todo, reason };
    }
  }
  return { kind: "all-done" };
}

function blockedReason(todo: Todo): string {
  const stated = reasonInLines(todo.context.split("\n")) ?? reasonInText(todo.text);
  return stated ?? `TODO ${todo.index + 1} is marked as blocked: ${todo.text}`;
}

/**
 * Whether a TODO comes round to itself, from each to the first that it still waits for. One that leads elsewhere first
 * waits for what is there; when that is done, or blocks, its own circle is next. So each walk takes no more steps than there are TODOs.
 */
function waitsForItself(todo: Todo, todos: readonly Todo[]): boolean {
  const seen = new Set<Todo>();
  let at: Todo | undefined = todo;
  while (at !== undefined && !seen.has(at)) {
    seen.add(at);
    at = (at.settings.after ?? []).map((number) => todos[number - 1]).find((other) => other?.state === "open");
  }
  return at === todo;
}
