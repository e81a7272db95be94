import { blockersOf, nodesOf } from "./lookup.ts";
import { type Delegation, PUT_BACK, type TaskGraph, type TaskNode, type WorkPlan } from "./schema.ts";

export interface DrawOptions {
  /** The node of the one who looks. */
  readonly own?: string | null;
  /** So many of a node's checkpoints, the newest, and of those about what was put back. */
  readonly checkpoints?: number;
  /** So many nodes of a plan, around the own one, or the one that is next. */
  readonly nodes?: number;
  /** A node that waits is called that: to people, what is blocked needs help. */
  readonly isForPeople?: boolean;
}

const MAX_NODES = 200;

/** Agents chose some of the words. */
const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Plans, their nodes with what they wait for, what was done for them, and whom they were given to. */
export function drawGraph(graph: TaskGraph, options: DrawOptions = {}): string {
  const shown = graph.workPlans.filter(({ purgedAt }) => purgedAt === undefined);
  return shown.map((plan) => drawPlan(graph, plan, options)).join("\n") || "No plans.";
}

export function drawPlan(graph: TaskGraph, plan: WorkPlan, options: DrawOptions = {}): string {
  const all = nodesOf(plan);
  const tops = all.filter(({ parent }) => parent === undefined || !all.some(({ id }) => id === parent));
  const most = options.nodes ?? MAX_NODES;
  const at = tops.findIndex(({ id, status }) => (options.own == null ? status !== "completed" : id === options.own));
  const from = Math.max(0, Math.min(at - Math.floor(most / 2), tops.length - most));
  const lines = tops.slice(from, from + most).flatMap((node) => drawNode(graph, node, { options, all, depth: 1 }));
  const more = (count: number, what: string): string[] => (count > 0 ? [`  … ${count} more${what}`] : []);
  const named = plan.name === plan.id ? plan.id : `${plan.id}: ${plan.name}`;
  const head = oneLine(`${named} [${plan.status}]`);
  return [head, ...more(from, " before"), ...lines, ...more(tops.length - from - most, "")].join("\n");
}

interface Drawing {
  readonly options: DrawOptions;
  readonly all: readonly TaskNode[];
  readonly depth: number;
}

const MAX_DEPTH = 8;

function drawNode(graph: TaskGraph, node: TaskNode, drawing: Drawing): string[] {
  const { options, all, depth } = drawing;
  const indent = "  ".repeat(depth);
  const own = options.own == null ? undefined : all.find(({ id }) => id === options.own);
  const isBlocking = own !== undefined && blockersOf(graph, own).some(({ id }) => id === node.id);
  const mark = isBlocking ? " ← BLOCKING" : node === own ? " ← YOUR TASK" : "";
  const reason = node.reason === undefined ? "" : `: ${node.reason}`;
  const parts = depth < MAX_DEPTH ? all.filter(({ parent }) => parent === node.id) : [];
  return [
    `${indent}${oneLine(`${node.id}: ${node.name} [${stateOf(graph, node, options)}${reason}]`)}${mark}`,
    ...drawEvidence(node, options.checkpoints ?? 0).map((line) => `${indent}  ${line}`),
    ...drawTree(
      graph.delegations.filter((one) => one.node === node.id),
      "→ ",
    ).map((line) => `${indent}  ${line}`),
    ...parts.flatMap((part) => drawNode(graph, part, { ...drawing, depth: depth + 1 })),
  ];
}

function stateOf(graph: TaskGraph, node: TaskNode, { isForPeople = false }: DrawOptions): string {
  if (node.status !== "blocked") return node.status;
  const blockers = blockersOf(graph, node).map(({ id }) => id);
  return `${isForPeople ? "waiting" : "blocked, waits"} for ${blockers.join(", ")}`;
}

/** What comes later must not hide that something was put back, nor that there was more. */
function drawEvidence({ checkpoints }: TaskNode, most: number): string[] {
  if (most === 0) return [];
  const before = checkpoints.slice(0, -most);
  const shown = [
    ...before.filter(({ summary }) => summary.startsWith(PUT_BACK)).slice(-most),
    ...checkpoints.slice(-most),
  ];
  const left = checkpoints.length - shown.length;
  const lines = shown.map(({ tool, summary }) => `· ${oneLine(`${tool}: ${summary}`)}`);
  return left > 0 ? [`… ${left} more before`, ...lines] : lines;
}

/** Who was handed something by whom: those of a sub-agent stand below its own. */
export function drawTree(delegations: readonly Delegation[], mark = ""): string[] {
  const sessions = new Set(delegations.map(({ session }) => session));
  const drawn = new Set<Delegation>();
  const below = (parent: Delegation, depth: number): string[] => {
    // Facts can be forged into a circle.
    if (drawn.has(parent)) return [];
    drawn.add(parent);
    const parts = delegations.filter(({ parentSession }) => parentSession === parent.session);
    const line = `${"  ".repeat(Math.min(depth, MAX_DEPTH))}${mark}${drawDelegation(parent)}`;
    return [line, ...parts.flatMap((part) => below(part, depth + 1))];
  };
  const tops = delegations.filter(({ parentSession }) => !sessions.has(parentSession));
  return [...tops, ...delegations].flatMap((one) => below(one, 0));
}

function drawDelegation({ id, from, to, state, result }: Delegation): string {
  return oneLine(`${id}: ${from} to ${to} [${state}]${result === undefined ? "" : `: ${result}`}`);
}
