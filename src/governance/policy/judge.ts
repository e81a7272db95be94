import { resolve } from "node:path/posix";
import type { TaskGraph } from "../graph/schema.ts";
import { analyse } from "../shell/analyse.ts";
import type { EffectTree } from "../shell/effects.ts";
import type { ShellPlace } from "../shell/state/state.ts";
import type { Verdict } from "./denial.ts";
import { AskedOnce, type Files, type Ground, groundOf, realPath } from "./paths.ts";
import type { Policy } from "./policy-file.ts";
import { onlyLooks, type ToolRequest } from "./request.ts";
import { type PolicyRule, type Question, startFolder } from "./rule.ts";
import { activeTask } from "./rules/active-task.ts";
import { allowedTools } from "./rules/allowed-tools.ts";
import { assignment } from "./rules/assignment.ts";
import { delegation } from "./rules/delegation.ts";
import { door } from "./rules/door.ts";
import { pathScope } from "./rules/path-scope.ts";
import { protectedPaths } from "./rules/protected-paths.ts";
import { role } from "./rules/role.ts";
import { sessionOwnership } from "./rules/session-ownership.ts";
import { shellSafety } from "./rules/shell-safety.ts";
import { taskOrder } from "./rules/task-order.ts";
import { isSecretIn } from "./secrets.ts";

/** In this order: the first that denies is what the agent is told. */
export const POLICY_RULES: readonly PolicyRule[] = [
  door,
  role,
  activeTask,
  taskOrder,
  assignment,
  allowedTools,
  protectedPaths,
  pathScope,
  shellSafety,
  delegation,
  sessionOwnership,
];

export type Judge = (request: ToolRequest, graph: TaskGraph, policy: Policy, now: number) => Verdict;

/** Decides about one call of a tool. Everything it depends on is given to it. */
export function judgeWith(files: Files): Judge {
  const grounds = new WeakMap<Policy, Ground>();
  const groundFor = (policy: Policy): Ground => {
    const before = grounds.get(policy);
    if (before) return before;
    const made = groundOf(policy, files);
    grounds.set(policy, made);
    return made;
  };
  return (request, graph, policy, now) => {
    try {
      if (request.malformed !== undefined) return malformed(request, request.malformed, policy);
      let tree: EffectTree | undefined;
      const asked = new AskedOnce(files);
      const ground = groundFor(policy);
      const effects = () => (tree ??= effectsOf(request, policy, asked, ground));
      return firstDenial({
        request,
        graph,
        policy,
        now,
        files: asked,
        ground,
        effects,
        located: undefined,
        looks: undefined,
        answers: undefined,
        task: undefined,
      });
    } catch (error) {
      return ownFault(request, error);
    }
  };
}

function firstDenial(question: Question): Verdict {
  for (const { name, judge } of POLICY_RULES) {
    const refusal = judge(question);
    if (refusal) return { allow: false, denial: { rule: name, ...refusal } };
  }
  return { allow: true };
}

/** What a shell command does, where the run is. */
export function effectsOf(request: Partial<ToolRequest>, policy: Policy, files: Files, ground?: Ground): EffectTree {
  const place: ShellPlace = {
    folder: policy.root,
    start: startOf(request, policy, files),
    home: policy.home,
    temporary: policy.temporary,
    variables: policy.variables,
    look: (path) => files.kind(path),
    leads: (path) => realPath(path, "/", files, ground),
    isSecret: (path) => isSecretIn(path, policy),
  };
  return analyse(request.command ?? "", place);
}

/** Where a command starts, without `..`; undefined where a link makes that two places. */
function startOf(request: Partial<ToolRequest>, policy: Policy, files: Files): string | undefined {
  if (request.folder === undefined) return policy.root;
  const folder = startFolder(request, policy);
  return realPath(folder, "/", files) === undefined ? undefined : resolve(folder);
}

function malformed(request: ToolRequest, problem: string, { role: { governs } }: Policy): Verdict {
  const { tool } = request;
  const looks =
    Object.hasOwn(governs, tool) && governs[tool]?.find((action) => action === "status" || action === "list");
  const denial = {
    rule: "arguments",
    what: `The arguments of "${tool}" cannot be used: ${problem}.`,
    why: "What they mean must be clear before they are acted on.",
    useInstead: "Call the tool again with the arguments that it describes.",
    evidence: problem,
    ...(looks ? { calls: [{ tool, input: { action: looks } }] } : {}),
  };
  return { allow: false, denial };
}

/** A fault of ours denies what changes something, lets reading through, and says whose fault it is. */
function ownFault(request: ToolRequest, error: unknown): Verdict {
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  if (onlyLooks(request.kind))
    return { allow: true, note: `prloom could not judge this call, a fault of prloom: ${what}` };
  const denial = {
    rule: "internal",
    what: `"${request.tool}" could not be judged.`,
    why: "This is a fault of prloom, not of the call.",
    useInstead: "Try it in a simpler form. Reading still works.",
    evidence: what,
  };
  return { allow: false, denial };
}
