import type { Brain } from "../graph/brain.ts";
import { anchorTool } from "./anchor-tool.ts";
import { answered, type Caller, nextCall, type Prepared } from "./answer.ts";
import { type GovernTool, parseCall } from "./arguments.ts";
import { delegateTool } from "./delegate-tool.ts";
import { planTool } from "./plan-tool.ts";
import { taskTool } from "./task-tool.ts";

/** A command that the host runs, and answers with what it printed. */
export interface ShellRun {
  readonly kind: "run";
  readonly command: string;
  readonly folder: string | undefined;
}

/** What one call of a governance tool comes to. Whether the caller may make it was judged before. */
export function governCall(
  { tool, input }: { tool: GovernTool; input: unknown },
  caller: Caller,
  brain: Brain,
): Prepared | ShellRun {
  const parsed = parseCall(tool, input);
  if ("problem" in parsed) {
    const refused = `REFUSED: The arguments of ${tool} cannot be used: ${parsed.problem}.`;
    return answered(`${refused}\n${nextCall(tool, parsed.example)}`);
  }
  const { call } = parsed;
  switch (call.tool) {
    case "govern_plan":
      return planTool(call.args, caller, brain);
    case "govern_task":
      return taskTool(call.args, caller, brain);
    case "govern_delegate":
      return delegateTool(call.args, caller, brain);
    case "anchor":
      return anchorTool(call.args, caller, brain);
    case "govern_shell":
      return { kind: "run", command: call.args.command, folder: call.args.folder };
  }
}
