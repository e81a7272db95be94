import type { Category } from "../../config/governance-words.ts";
import { nextTodo, type Todo, todoTitle } from "../../plan/markdown/markdown.ts";
import { changesThings, type RoleSettings, roleNamed, usualRole } from "../policy/roles.ts";
import { mcpName } from "../policy/tools/mcp-name.ts";
import { settleWaiting } from "./changes.ts";
import { A_CHANGE, FINDINGS } from "./expected-output.ts";
import { makeGraph, makeNode, makeWorkPlan } from "./make-graph.ts";
import { asName, asNames, type NodeStatus, type TaskGraph, type TaskNode, type WorkPlan } from "./schema.ts";

/** What of a plan its graph is made from. */
export interface PlanTodos {
  readonly id: string;
  readonly title: string;
  readonly status: WorkPlan["status"];
  readonly todos: readonly Todo[];
  readonly category?: Category | undefined;
  /** When it counts as done, in words for people. */
  readonly acceptance?: readonly string[];
  /** When it was last changed. */
  readonly at: number;
  /** Plans that must be merged before. */
  readonly before?: readonly PlanBefore[];
  /** The TODO that the dispatcher took up, wherever it stands by now: people put others in front of it while it is under way. */
  readonly inHand?: string | undefined;
  /** What is worked on besides the TODOs, and is none of them. */
  readonly asked?: Pick<TaskNode, "id" | "name">;
  /** Those of the config. */
  readonly roles?: Readonly<Record<string, RoleSettings>>;
  /** It is not begun, not approved, or over: no TODO is worked on. */
  readonly isHeld?: boolean;
}

export interface PlanBefore {
  readonly id: string;
  readonly status: WorkPlan["status"];
}

export interface PlanGraph {
  readonly graph: TaskGraph;
  /** The TODO that is worked on, or next; undefined when there is none. */
  readonly current: Todo | undefined;
}

/** The graph of a plan's TODOs, with the one that the dispatcher would work on as the one that is started. */
export function graphOfPlan({
  id,
  title,
  status,
  todos,
  category = "feature",
  acceptance = [],
  at,
  before = [],
  inHand,
  asked,
  roles = {},
  isHeld = false,
}: PlanTodos): PlanGraph {
  const next = nextTodo({ todos });
  const takenUp = todos.find((todo) => todo.id === inHand && todo.state === "open");
  const current = takenUp ?? (next.kind === "todo" ? next.todo : undefined);
  const nodes = todos.map((todo) =>
    nodeOf(todo, todos, { plan: id, category, at, roles, isCurrent: todo === current && !isHeld }),
  );
  const ahead = current ? current.index + 1 : nodes.length;
  const besides = asked ? [makeNode({ ...asked, workPlanId: id, status: "active" }, at)] : [];
  const lists = { tasks: [...nodes.slice(0, ahead), ...besides], planAhead: nodes.slice(ahead) };
  const dependsOn = before.map((one) => one.id);
  const words = { name: asName(title, id), acceptance: asNames(acceptance) };
  const plan = makeWorkPlan({ id, ...words, category, status, dependsOn, ...lists }, at);
  const others = before.map((one) => makeWorkPlan({ ...one, name: one.id }, at));
  const graph = { ...makeGraph([plan, ...others]), activeWorkPlanId: status === "active" ? id : null };
  return { graph: settleWaiting(graph), current };
}

const STATUSES: Readonly<Record<Todo["state"], NodeStatus>> = {
  open: "planned",
  done: "completed",
  // An agent or a person said that it cannot be done.
  blocked: "failed",
};

function nodeOf(
  todo: Todo,
  todos: readonly Todo[],
  {
    plan,
    category,
    at,
    roles,
    isCurrent,
  }: Required<Pick<PlanTodos, "category" | "at" | "roles">> & {
    readonly plan: string;
    readonly isCurrent: boolean;
  },
): TaskNode {
  const { after, by = usualRole(category), tools = [] } = todo.settings;
  const role = roleNamed(by, roles);
  const isLooking = category === "research" || (role !== undefined && !changesThings(role));
  const { expects = isLooking ? FINDINGS : A_CHANGE } = todo.settings;
  // One that names nothing is after the one before; what the dispatcher took up waits for nothing, whatever was changed since.
  const named = after?.map((number) => todos[number - 1]) ?? (isCurrent ? [] : [todos[todo.index - 1]]);
  const before = isCurrent ? named.filter((one) => one?.state === "done") : named;
  const node = {
    id: todo.id,
    workPlanId: plan,
    name: asName(todoTitle(todo), `TODO ${todo.index + 1}`),
    status: isCurrent ? "active" : STATUSES[todo.state],
    expectedOutput: expects,
    delegatedBy: "the plan",
    assignedTo: by,
    allowedTools: tools.map(mcpName),
    dependsOn: before.flatMap((one) => one?.id ?? []),
  } as const;
  return makeNode(node, at);
}
