import { recordedResult } from "../evidence/result.ts";
import type { Brain, FactOutcome } from "../graph/brain.ts";
import { drawGraph, drawPlan } from "../graph/draw.ts";
import { expectedInWords } from "../graph/expected-output.ts";
import { findNode } from "../graph/lookup.ts";
import type { TaskNode } from "../graph/schema.ts";
import { answered, type Caller, common, nextCall, type Prepared, told } from "./answer.ts";
import type { GovernCall } from "./arguments.ts";

type TaskArguments = Extract<GovernCall, { tool: "govern_task" }>["args"];

const STATUS = nextCall("govern_task", { action: "status" });
const SHOWN_CHECKPOINTS = 10;

/** The life of one task. Without an id it is the caller's own. */
export function taskTool(args: TaskArguments, caller: Caller, brain: Brain): Prepared {
  const id = args.node ?? caller.node;
  if (args.action === "status") return answered(taskStatus(id, caller, brain));
  if (id === null) return answered(`REFUSED: No task is started, and none is named.\n${STATUS}`);
  const found = findNode(brain.graph, id);
  if (!found) return answered(`REFUSED: There is no task "${id}".\n${STATUS}`);
  const moved = { type: "node_moved", ...common(caller), node: id, move: args.action } as const;
  const { name } = found.node;
  switch (args.action) {
    case "start": {
      // That an agent tried it before its time is on record with the gate.
      const isEarly = found.node.temporalGate !== null && found.node.status === "blocked";
      const fact = isEarly ? ({ type: "gate_kept", ...common(caller), node: id } as const) : moved;
      return { kind: "fact", fact, answer: (outcome) => startTold(outcome, found.node, isEarly) };
    }
    case "review":
      return { kind: "fact", fact: moved, answer: (outcome) => reviewTold(outcome, found.node) };
    case "fail": {
      const answer = (outcome: FactOutcome) => told(outcome, `"${name}" is marked as failed: ${args.reason}`, STATUS);
      return { kind: "fact", fact: { ...moved, reason: args.reason }, answer };
    }
    case "complete": {
      const anchorsCreated = brain.anchoredBy(caller.session);
      const result = { ...recordedResult(found.node), anchorsCreated, evidence: args.evidence };
      return { kind: "fact", fact: { ...moved, result }, answer: (outcome) => completeTold(outcome, found.node) };
    }
  }
}

function startTold(outcome: FactOutcome, { id, name }: TaskNode, isEarly: boolean): string {
  if (isEarly) return `REFUSED: "${name}" waits for another task.\n${STATUS}`;
  if (outcome.kind === "known") return `"${name}" is started already, by the dispatcher. Go on with it.`;
  return told(outcome, `"${name}" is started. What you change is recorded for it.\n${completeCall(id)}`, STATUS);
}

const completeCall = (node: string): string =>
  `When it is done: govern_task ${JSON.stringify({ action: "complete", node, evidence: "What shows it." })}`;

function completeTold(outcome: FactOutcome, { name }: TaskNode): string {
  if (outcome.kind === "claimed")
    return `Noted. The dispatcher looks at "${name}" itself when this run ends, and decides.`;
  return told(
    outcome,
    `"${name}" is completed. What waited for it is free.\n${STATUS}`,
    "Do what is missing, then try again.",
  );
}

function reviewTold(outcome: FactOutcome, node: TaskNode): string {
  const shown = node.checkpoints.slice(-SHOWN_CHECKPOINTS).map(({ tool, summary }) => `  · ${tool}: ${summary}`);
  const head =
    outcome.kind === "claimed"
      ? `Noted. The dispatcher reviews "${node.name}" when this run ends.`
      : `"${node.name}" waits for its review.`;
  return told(outcome, [head, ...shown].join("\n"), "Do what is missing, then try again.");
}

function taskStatus(id: string | null, { node: own }: Caller, { graph }: Brain): string {
  const found = id === null ? undefined : findNode(graph, id);
  if (!found)
    return [
      id === null ? "No task is started." : `There is no task "${id}".`,
      drawGraph(graph, { own, nodes: 12 }),
    ].join("\n");
  const terms = `Expects ${expectedInWords(found.node)}; assigned to ${found.node.assignedTo}.`;
  return `${drawPlan(graph, found.plan, { own: id, nodes: 12, checkpoints: SHOWN_CHECKPOINTS })}\n${terms}`;
}
