import { reasonInLines, reasonInText, type Todo, todoTitle } from "./todo.ts";

/** What keeps a TODO from being done: its mark, that it says nothing, or its `after:`. */
export type BlockCause = "marked" | "empty" | "order";

export type NextTodo =
  | { readonly kind: "todo"; readonly todo: Todo }
  | { readonly kind: "blocked"; readonly todo: Todo; readonly cause: BlockCause; readonly reason: string }
  | { readonly kind: "all-done" }
  | { readonly kind: "none" };

/**
 * The first open TODO, in order, whose `after` are done. What comes before it and cannot go on by itself (`[b]`, an
 * unknown number, a circle) blocks, so that nothing is skipped unnoticed.
 */
export function nextTodo(doc: { readonly todos: readonly Todo[] }): NextTodo {
  const { todos } = doc;
  if (todos.length === 0) return { kind: "none" };
  const known = new Map<Todo, boolean>();
  for (const todo of todos) {
    if (todo.state === "done") continue;
    if (todo.state === "blocked") return { kind: "blocked", todo, cause: "marked", reason: blockedReason(todo) };
    if (isEmpty(todo))
      return {
        kind: "blocked",
        todo,
        cause: "empty",
        reason: `TODO ${todo.index + 1} is empty: nothing says what to do.`,
      };
    const after = todo.settings.after ?? [];
    if (after.length > 0) {
      const reason = orderProblem(todo, { after, todos, known });
      if (reason !== undefined) return { kind: "blocked", todo, cause: "order", reason };
    }
    if (after.every((number) => todos[number - 1]?.state === "done")) return { kind: "todo", todo };
  }
  return { kind: "all-done" };
}

function isEmpty(todo: Todo): boolean {
  return todoTitle(todo) === "" && todo.context === "";
}

/** What of `after:` will block the plan sooner or later: told when the plan is written, and not only when it stands still. */
export function orderProblems(todos: readonly Todo[]): string[] {
  const known = new Map<Todo, boolean>();
  return todos.flatMap((todo) => {
    const { after } = todo.settings;
    return todo.state === "open" && after ? (orderProblem(todo, { after, todos, known }) ?? []) : [];
  });
}

interface Order {
  readonly after: readonly number[];
  readonly todos: readonly Todo[];
  /** What walks over the same TODOs found out. */
  readonly known: Map<Todo, boolean>;
}

function orderProblem(todo: Todo, { after, todos, known }: Order): string | undefined {
  const unknown = after.find((number) => todos[number - 1] === undefined);
  if (unknown !== undefined) return `TODO ${todo.index + 1} is after TODO ${unknown}, and there is no TODO ${unknown}.`;
  if (!waitsForItself(todo, todos, known)) return undefined;
  return `TODO ${todo.index + 1} waits for itself: its "after: ${after.join(", ")}" is circular.`;
}

function blockedReason(todo: Todo): string {
  const stated = reasonInLines(todo.context.split("\n")) ?? reasonInText(todo.text);
  return stated ?? `TODO ${todo.index + 1} is marked as blocked: ${todo.text}`;
}

/**
 * Whether a TODO comes round to itself, from each to the first that it still waits for. One that leads elsewhere first
 * waits for what is there; when that is done, or blocks, its own circle is next. What one walk found out is `known` to the
 * next, so that all of them together pass each TODO once.
 */
function waitsForItself(todo: Todo, todos: readonly Todo[], known: Map<Todo, boolean>): boolean {
  const walked = new Set<Todo>();
  let at: Todo | undefined = todo;
  while (at !== undefined && !known.has(at) && !walked.has(at)) {
    walked.add(at);
    at = (at.settings.after ?? []).map((number) => todos[number - 1]).find((other) => other?.state === "open");
  }
  let isCircle = false;
  for (const one of walked) {
    isCircle ||= one === at;
    known.set(one, isCircle);
  }
  return known.get(todo) === true;
}
