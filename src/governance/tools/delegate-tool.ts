import { TOOL_KINDS } from "../../config/governance-words.ts";
import type { Brain } from "../graph/brain.ts";
import { drawTree } from "../graph/draw.ts";
import { findNode } from "../graph/lookup.ts";
import type { PlannedNode } from "../graph/schema.ts";
import { namesOfNone } from "../policy/tools/listed.ts";
import { answered, type Caller, common, nextCall, type Prepared, told } from "./answer.ts";
import type { GovernCall } from "./arguments.ts";

type DelegateArguments = Extract<GovernCall, { tool: "govern_delegate" }>["args"];

const STATUS = nextCall("govern_delegate", { action: "status" });

/** Handing over parts of the caller's own task. */
export function delegateTool(args: DelegateArguments, caller: Caller, brain: Brain): Prepared {
  switch (args.action) {
    case "status":
      return answered(drawTree(brain.graph.delegations).join("\n") || "Nothing was handed over.");
    case "assign":
      return assign(args, caller, brain);
    case "recall": {
      const found = brain.graph.delegations.findLast(
        ({ id, node, parentSession }) =>
          parentSession === caller.session && (id === args.delegation || node === args.delegation),
      );
      if (!found) return answered(`REFUSED: You handed over nothing called "${args.delegation}".\n${STATUS}`);
      const move = { type: "delegation_moved", ...common(caller), delegation: found.id, move: "recall" } as const;
      return {
        kind: "fact",
        fact: { ...move, result: args.reason },
        ends: found.session,
        answer: (outcome) => told(outcome, `"${found.id}" is recalled, and its session is ended.`, STATUS),
      };
    }
  }
}

/** A part of the caller's task, which a sub-agent then takes up by its id. */
function assign(args: Extract<DelegateArguments, { action: "assign" }>, caller: Caller, { graph }: Brain): Prepared {
  const own = caller.node === null ? undefined : findNode(graph, caller.node);
  if (!own) return answered('REFUSED: You have no task to hand over a part of.\nNext: govern_task {"action":"status"}');
  const { to, name, expectedOutput, tools } = args;
  const [unknown] = namesOfNone(tools);
  if (unknown !== undefined)
    return answered(`REFUSED: There is no tool "${unknown}". Name kinds (${TOOL_KINDS.join(", ")}) or tools of yours.`);
  const id = `tn-${caller.newId()}`;
  const node: PlannedNode = {
    id,
    name,
    expectedOutput,
    delegatedBy: caller.role,
    assignedTo: to,
    allowedTools: tools,
    dependsOn: [],
    temporalGate: null,
    parent: own.node.id,
  };
  const start = `Now start a sub-agent with your tool for that, and name the task in its prompt: ${id}. It is ${to} then.`;
  // Programs do not let each sub-agent start others.
  const next = `${start} If you have no such tool, do it yourself.`;
  return {
    kind: "fact",
    fact: { type: "nodes_planned", ...common(caller), plan: own.plan.id, nodes: [node], ahead: false },
    answer: (outcome) => told(outcome, `"${name}" is a task for ${to}: ${id}.\n${next}`, STATUS),
  };
}
