import { nextTodo, type Todo, todoTitle } from "../../plan/markdown/markdown.ts";
import type { NodeStatus, TaskGraph, TaskNode, WorkPlan } from "./types.ts";

/** What of a plan its graph is made from. */
export interface PlanTodos {
  readonly id: string;
  readonly title: string;
  readonly status: WorkPlan["status"];
  readonly todos: readonly Todo[];
}

export interface PlanGraph {
  readonly graph: TaskGraph;
  /** The TODO that is worked on next; undefined when there is none. */
  readonly current: Todo | undefined;
}

/** The graph of a plan's TODOs, with the one that the dispatcher would work on as the one that is started. */
export function graphOfPlan({ id, title, status, todos }: PlanTodos): PlanGraph {
  const next = nextTodo({ todos });
  const current = next.kind === "todo" ? next.todo : undefined;
  const tasks = todos.map((todo) => nodeOf(todo, todos, todo === current));
  return { graph: { workPlans: [{ id, name: title, status, tasks }], delegations: [] }, current };
}

const STATUSES: Readonly<Record<Todo["state"], NodeStatus>> = {
  open: "planned",
  done: "completed",
  blocked: "blocked",
};

function nodeOf(todo: Todo, todos: readonly Todo[], isCurrent: boolean): TaskNode {
  const { after, by = "executor", tools = [] } = todo.settings;
  // One that names nothing is after the one before; what the dispatcher took up waits for nothing.
  const before = after?.map((number) => todos[number - 1]) ?? (isCurrent ? [] : [todos[todo.index - 1]]);
  return {
    id: todo.id,
    name: todoTitle(todo),
    status: isCurrent ? "active" : STATUSES[todo.state],
    delegatedBy: "coordinator",
    assignedTo: by,
    allowedTools: tools,
    dependsOn: before.flatMap((one) => one?.id ?? []),
    temporalGate: null,
  };
}
