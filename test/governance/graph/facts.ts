import type { Fact, FactOf } from "../../../src/governance/graph/facts.ts";
import type { PlannedNode } from "../../../src/governance/graph/schema.ts";

let written = 0;

type Said<Type extends Fact["type"]> = Omit<FactOf<Type>, "type" | "key" | "at" | "session" | "role"> &
  Partial<FactOf<Type>>;

/** A fact with a key of its own, one millisecond after the one before. */
export function fact<Type extends Fact["type"]>(type: Type, said: Said<Type>): FactOf<Type> {
  written += 1;
  return { type, key: `s:${written}`, at: written, session: "s", role: "executor", ...said } as unknown as FactOf<Type>;
}

export const planned = (id: string, changes: Partial<PlannedNode> = {}): PlannedNode => ({
  id,
  name: `Task ${id}`,
  expectedOutput: "a change",
  delegatedBy: "coordinator",
  assignedTo: "executor",
  allowedTools: [],
  dependsOn: [],
  temporalGate: null,
  ...changes,
});

export const plan = (id: string, dependsOn: readonly string[] = []) =>
  fact("plan_made", {
    plan: { id, name: `Plan ${id}`, acceptance: [], category: "feature", dependsOn, ownedBy: "coordinator" },
  });

export const nodes = (planId: string, ...all: PlannedNode[]) =>
  fact("nodes_planned", { plan: planId, nodes: all, ahead: false });

export const move = (node: string, how: FactOf<"node_moved">["move"], reason?: string) =>
  fact("node_moved", { node, move: how, reason });

export function checkpoint(
  node: string,
  files: readonly string[],
  changes: Partial<FactOf<"checkpoint">["checkpoint"]> = {},
) {
  written += 1;
  return fact("checkpoint", {
    checkpoint: {
      id: `c${written}`,
      taskNodeId: node,
      tool: "write",
      timestamp: written,
      summary: "Wrote.",
      filesModified: files,
      kind: "change",
      ok: true,
      ...changes,
    },
  });
}
