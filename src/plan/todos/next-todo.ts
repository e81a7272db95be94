import { reasonInLines, reasonInText, type Todo } from "./todo.ts";

export type NextTodo =
  | { readonly kind: "todo"; readonly todo: Todo }
  | { readonly kind: "blocked"; readonly todo: Todo; readonly reason: string }
  | { readonly kind: "all-done" }
  | { readonly kind: "none" };

/**
 * The first open TODO, in order, whose `after` are done. What stands before it and cannot go on by itself (`[b]`, an
 * unknown number, a circle) blocks, so that nothing is skipped unnoticed.
 */
export function nextTodo(doc: { readonly todos: readonly Todo[] }): NextTodo {
  const { todos } = doc;
  if (todos.length === 0) return { kind: "none" };
  let circular: ReadonlySet<number> | undefined;
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
    circular ??= inCircles(todos);
    if (circular.has(todo.index)) {
      const reason = `TODO ${todo.index + 1} waits for itself: its "after: ${after.join(", ")}" goes round in a circle.`;
      return { kind: "blocked", todo, reason };
    }
  }
  return { kind: "all-done" };
}

function blockedReason(todo: Todo): string {
  const stated = reasonInLines(todo.context.split("\n")) ?? reasonInText(todo.text);
  return stated ?? `TODO ${todo.index + 1} is marked as blocked: ${todo.text}`;
}

/** Indexes of open TODOs that reach themselves over `after`: those in a strongly connected component (Tarjan, iterative). */
function inCircles(todos: readonly Todo[]): ReadonlySet<number> {
  const order = new Map<number, number>();
  const low = new Map<number, number>();
  const stack: number[] = [];
  const onStack = new Set<number>();
  const circular = new Set<number>();
  const edges = (index: number) => (todos[index]?.settings.after ?? []).map((number) => number - 1);
  const enter = (index: number) => {
    order.set(index, order.size);
    low.set(index, order.get(index) ?? 0);
    stack.push(index);
    onStack.add(index);
    return { index, edges: edges(index), at: 0 };
  };
  const lower = (index: number, value: number) => low.set(index, Math.min(low.get(index) ?? value, value));
  const leave = (index: number) => {
    if (low.get(index) !== order.get(index)) return;
    const members = stack.splice(stack.lastIndexOf(index));
    for (const member of members) onStack.delete(member);
    if (members.length > 1 || edges(index).includes(index)) for (const member of members) circular.add(member);
  };
  for (const root of todos) {
    if (root.state !== "open" || order.has(root.index)) continue;
    const path = [enter(root.index)];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const next = top.edges[top.at];
      top.at += 1;
      if (next === undefined) {
        path.pop();
        leave(top.index);
        const parent = path.at(-1);
        if (parent) lower(parent.index, low.get(top.index) ?? 0);
      } else if (todos[next]?.state === "open" && !order.has(next)) path.push(enter(next));
      else if (onStack.has(next)) lower(top.index, order.get(next) ?? 0);
    }
  }
  return circular;
}
