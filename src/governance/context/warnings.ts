import { counted } from "../../kernel/text/words.ts";
import { isOver } from "../graph/lifecycle.ts";
import { findNode } from "../graph/lookup.ts";
import type { TaskGraph, TaskNode, WorkPlan } from "../graph/schema.ts";
import { HOUR_MS, STALE_HOURS } from "./anchors.ts";
import { short } from "./fit.ts";

/** Output of a tool that the model still sees, and the node that it was for. */
export interface SeenOutput {
  readonly node: string | null;
}

export interface Wear {
  /** Changing calls since the last anchor or checkpoint. */
  readonly drift: number;
  readonly outputs: readonly SeenOutput[];
  /** Anchors that are left out because they are stale. */
  readonly stale: number;
  readonly now: number;
}

const MAX_DRIFT = 10;
const LOW_SHARE = 0.25;
const HIGH_SHARE = 0.5;

export type Poisoning = "low" | "medium" | "high";

/** Whether what was said for a node is past: it is done or given up, or not there. What was for no task is over with none. */
export function isPast(graph: TaskGraph, node: string | null): boolean {
  if (node === null) return false;
  const found = findNode(graph, node);
  return !found || isOver(found.plan.status) || found.node.status === "completed" || found.node.status === "failed";
}

/** A node that was not worked on for so long is as good as given up, unless it is what is worked on. */
function isStale(graph: TaskGraph, id: string | null, now: number): boolean {
  const node = id === null ? undefined : findNode(graph, id)?.node;
  return node !== undefined && node.status !== "active" && now - node.modifiedAt > STALE_HOURS * HOUR_MS;
}

export function poisoningOf(
  graph: TaskGraph,
  { outputs, now }: Pick<Wear, "outputs" | "now">,
): { level: Poisoning; past: number } {
  const past = outputs.filter(({ node }) => isPast(graph, node) || isStale(graph, node, now)).length;
  const share = outputs.length === 0 ? 0 : past / outputs.length;
  return { level: share < LOW_SHARE ? "low" : share > HIGH_SHARE ? "high" : "medium", past };
}

/** Nodes that wait for something that is not there or was given up: nothing will ever free them. */
function brokenChains(graph: TaskGraph, plan: WorkPlan): readonly { node: TaskNode; missing: string }[] {
  return [...plan.tasks, ...plan.planAhead].flatMap((node) => {
    const gate = node.temporalGate ? [node.temporalGate.afterTaskId] : [];
    const missing = [...node.dependsOn, ...gate].find((id) => {
      const found = findNode(graph, id);
      return !found || found.plan.status === "abandoned";
    });
    return missing === undefined || node.status === "completed" ? [] : [{ node, missing }];
  });
}

const driftLine = ({ drift }: Wear): string =>
  `DRIFT: ${counted(drift, "changing call")} since the last checkpoint or anchor.`;

const poisoningLine = (graph: TaskGraph, wear: Wear): string => {
  const { level, past } = poisoningOf(graph, wear);
  return `POISONING: ${level}; ${past} of ${wear.outputs.length} outputs are of tasks that are over or stale.`;
};

/** The state of an agent's own context, whatever it is: told where it tries what is not its turn. */
export const wearLines = (graph: TaskGraph, wear: Wear): readonly string[] => [
  driftLine(wear),
  poisoningLine(graph, wear),
];

/** What an agent is told about the state of its own context, as far as it is a reason to do something. */
export function warningsOf(graph: TaskGraph, plan: WorkPlan | undefined, wear: Wear): readonly string[] {
  const broken = plan ? brokenChains(graph, plan) : [];
  const { drift, stale } = wear;
  return [
    ...(drift >= MAX_DRIFT ? [driftLine(wear)] : []),
    ...(poisoningOf(graph, wear).level === "low" ? [] : [poisoningLine(graph, wear)]),
    ...(stale === 0 ? [] : [`STALE: ${counted(stale, "anchor")} left out, older than ${STALE_HOURS} hours.`]),
    ...broken.map(
      ({ node, missing }) =>
        `BROKEN CHAIN: "${short(node.name, 80)}" waits for "${short(missing, 80)}", which is gone.`,
    ),
  ];
}
