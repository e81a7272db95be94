import { expectedInWords } from "../graph/expected-output.ts";
import { blockersOf, findNode, nodesOf } from "../graph/lookup.ts";
import type { Delegation, TaskGraph, TaskNode, WorkPlan } from "../graph/schema.ts";
import type { ShownAnchor } from "./anchors.ts";
import { fit, type Part, short } from "./fit.ts";
import { type Wear, warningsOf } from "./warnings.ts";

/** What one turn of one session is about. */
export interface TurnView {
  readonly phase: string;
  readonly graph: TaskGraph;
  /** The node in hand; null when no task is started. */
  readonly node: string | null;
  /** The terms under which it was handed over. */
  readonly delegation?: Delegation | undefined;
  /** The best first. */
  readonly anchors: readonly ShownAnchor[];
  readonly wear: Wear;
  /** What concerns the files and tasks that the prompt names. */
  readonly concerns: readonly string[];
}

const TURN_BUDGET = 1500;
const MAX_NEXT = 2;
const MAX_WHOLES = 3;
const OPEN = "<prloom-governance>";
const CLOSE = "</prloom-governance>";

/** What the model is told at each turn, at the end of the last message. */
export function renderTurn(view: TurnView): string {
  const { graph, phase, delegation } = view;
  const found = view.node === null ? undefined : findNode(graph, view.node);
  const parts: Part[] = [
    { yields: 0, lines: [`PHASE: ${short(phase, 60)}`, ...(found ? [workPlanLine(found.plan)] : [])] },
    { yields: 0, lines: taskLines(graph, found?.node) },
    { yields: 0, lines: delegation ? delegationLines(delegation) : [] },
    { yields: 1, lines: warningsOf(graph, visible(found?.plan), view.wear) },
    { yields: 3, lines: found ? nextLines(graph, found.plan, found.node) : [] },
    ...anchorParts(view.anchors),
    { yields: 4, lines: view.concerns.map((one) => `ABOUT: ${short(one)}`) },
  ];
  return `${OPEN}\n${fit(parts, TURN_BUDGET - OPEN.length - CLOSE.length - 2)}\n${CLOSE}`;
}

/** A plan that was purged is in no context any more. */
const visible = (plan: WorkPlan | undefined): WorkPlan | undefined => (plan?.purgedAt === undefined ? plan : undefined);

function taskLines(graph: TaskGraph, node: TaskNode | undefined): string[] {
  if (!node) return ["TASK: none is started. Only what you answer with can be written: the plan, a result file."];
  const blockers = blockersOf(graph, node);
  return [
    `TASK: ${node.id} "${short(node.name)}" [${node.status}]`,
    ...wholesOf(graph, node).map(({ id, name, status }) => `PART OF: ${id} "${short(name, 80)}" [${status}]`),
    `EXPECTS: ${short(expectedInWords(node))}`,
    ...blockers.map(({ id, found, reason }) => {
      const state = found ? `"${short(found.name, 80)}" [${found.status}]` : "which is not there";
      return `WAITS FOR: ${id} ${state}${reason === undefined ? "" : ` (${short(reason, 80)})`}`;
    }),
  ];
}

/** What a task is a part of, from near to far. */
function wholesOf(graph: TaskGraph, { parent }: TaskNode): readonly TaskNode[] {
  const wholes: TaskNode[] = [];
  for (let id = parent; id !== undefined && wholes.length < MAX_WHOLES; id = wholes.at(-1)?.parent) {
    const whole = findNode(graph, id)?.node;
    if (!whole) break;
    wholes.push(whole);
  }
  return wholes;
}

/** What kind of change is wanted; a feature is what every plan is that does not say otherwise. */
const ABOUT: Readonly<Record<WorkPlan["category"], string>> = {
  feature: "",
  fix: "a fix: nothing else changes; ",
  refactor: "a refactoring: it behaves as before; ",
  research: "research: nothing is changed; ",
  docs: "documentation: no code changes; ",
  chore: "a chore: no user sees a change; ",
};

export function workPlanLine(plan: WorkPlan): string {
  const all = nodesOf(plan);
  const done = all.filter(({ status }) => status === "completed").length;
  return `PLAN: "${short(plan.name)}" (${ABOUT[plan.category]}${done}/${all.length} tasks done)`;
}

function delegationLines({ from, tools, expectedOutput }: Delegation): string[] {
  const terms = tools.length > 0 ? `tools ${tools.join(", ")}` : "the tools of your role";
  return [`HANDED OVER by ${short(from, 60)}: ${short(terms)}; bring back: ${short(expectedOutput)}`];
}

function nextLines(graph: TaskGraph, plan: WorkPlan, node: TaskNode): string[] {
  const open = nodesOf(plan).filter((one) => one !== node && (one.status === "planned" || one.status === "blocked"));
  return open.slice(0, MAX_NEXT).map((one) => {
    const waits = blockersOf(graph, one).some(({ id }) => id === node.id) ? ", after yours" : "";
    return `NEXT: ${one.id} "${short(one.name, 80)}" [${one.status}${waits}]`;
  });
}

/** One part each: the least important ones make room first, critical ones after all but warnings. */
export function anchorParts(anchors: readonly ShownAnchor[]): Part[] {
  return anchors.map(({ anchor, isStale }) => ({
    yields: anchor.priority === "critical" ? 2 : 5,
    lines: [
      `ANCHOR [${anchor.priority.toUpperCase()}/${anchor.entityType}${isStale ? ", stale" : ""}]: ${short(anchor.content)}`,
    ],
  }));
}
