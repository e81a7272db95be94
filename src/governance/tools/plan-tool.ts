import type { Brain, FactOutcome } from "../graph/brain.ts";
import { drawGraph } from "../graph/draw.ts";
import type { PlannedNode } from "../graph/schema.ts";
import { answered, type Caller, common, nextCall, type Prepared, told } from "./answer.ts";
import type { GovernCall } from "./arguments.ts";

type PlanArguments = Extract<GovernCall, { tool: "govern_plan" }>["args"];

const DONE = { archive: "archived", abandon: "abandoned" } as const;
const STATUS = nextCall("govern_plan", { action: "status" });

/** The life of plans. Under the dispatcher they are its own: tasks are then proposed. */
export function planTool(args: PlanArguments, caller: Caller, brain: Brain): Prepared {
  switch (args.action) {
    case "status":
      return answered(drawGraph(brain.graph, { own: caller.node, checkpoints: 3 }));
    case "create":
      return create(args, caller);
    case "plan_tasks":
      return planTasks(args, caller, brain);
    case "archive":
    case "abandon": {
      const fact = { type: "plan_moved", ...common(caller), plan: args.plan, move: args.action } as const;
      return {
        kind: "fact",
        fact,
        answer: (outcome) => told(outcome, `The plan "${args.plan}" is ${DONE[args.action]}.`, STATUS),
      };
    }
  }
}

function create(args: Extract<PlanArguments, { action: "create" }>, caller: Caller): Prepared {
  if (caller.isDispatched)
    return answered(
      "REFUSED: Plans are made by people and the dispatcher here.\nPropose tasks with plan_tasks, or write into your plan.",
    );
  const { name, acceptance, category, dependsOn } = args;
  const id = `wp-${caller.newId()}`;
  const plan = { id, name, acceptance, category, dependsOn, ownedBy: caller.role };
  const next = nextCall("govern_plan", {
    action: "plan_tasks",
    plan: id,
    tasks: [{ name: "…", expectedOutput: "a change" }],
  });
  return {
    kind: "fact",
    fact: { type: "plan_made", ...common(caller), plan },
    answer: (outcome) => told(outcome, `The plan "${name}" is made: ${id}.\n${next}`, STATUS),
  };
}

function planTasks(args: Extract<PlanArguments, { action: "plan_tasks" }>, caller: Caller, { graph }: Brain): Prepared {
  const plan = args.plan ?? graph.activeWorkPlanId ?? graph.workPlans.at(-1)?.id;
  if (plan === undefined) return answered(`REFUSED: There is no plan to add tasks to.\n${STATUS}`);
  const nodes = args.tasks.map((task): PlannedNode => {
    const { name, expectedOutput, assignedTo, allowedTools, dependsOn, after, file, line } = task;
    const temporalGate = after ? { afterTaskId: after.task, reason: after.reason } : null;
    const location = file !== undefined ? { location: { file, line: line ?? 1 } } : {};
    const terms = { name, expectedOutput, assignedTo, allowedTools, dependsOn, temporalGate };
    return { id: `tn-${caller.newId()}`, delegatedBy: caller.role, ...terms, ...location };
  });
  const added = nodes.map(({ id, name }) => `  ${id}: ${name}`).join("\n");
  const done = caller.isDispatched ? "Proposed; a person decides about them" : "Planned";
  return {
    kind: "fact",
    fact: { type: "nodes_planned", ...common(caller), plan, nodes, ahead: args.ahead },
    answer: (outcome: FactOutcome) => told(outcome, `${done}:\n${added}`, STATUS),
  };
}
