import { argumentShape, type GovernTool, isGovernTool } from "../../governance/tools/arguments.ts";
import { DESCRIPTIONS } from "../../governance/tools/descriptions.ts";
import type { Governor } from "../governor.ts";
import type { CallId } from "../host-call.ts";
import { runShell } from "../run-shell.ts";
import { quietly } from "../time-limit.ts";
import { notify } from "./notices.ts";
import type { OpenCodeClient, ToolDefinition } from "./types.ts";

/** Sessions may use the same ids. */
export const nameOf = ({ id, session }: CallId): string => `${session}:${id}`;

interface ToolParts {
  readonly governor: Governor;
  readonly client: OpenCodeClient;
  /** Commands that we ran, by their call, and whether they ended with 0. */
  readonly ended: Map<string, boolean>;
}

/** The governance tools that the run's role has, with the actions that it has. */
export function governTools(parts: ToolParts): Readonly<Record<string, ToolDefinition>> {
  const { role } = parts.governor.ownPolicy;
  const made = Object.entries(role.governs).flatMap(([tool, actions]) =>
    isGovernTool(tool) ? [[tool, toolOf(tool, actions, parts)] as const] : [],
  );
  return Object.fromEntries(made);
}

function toolOf(tool: GovernTool, actions: readonly string[], { governor, client, ended }: ToolParts): ToolDefinition {
  return {
    description: DESCRIPTIONS[tool],
    args: argumentShape(tool, actions),
    async execute(args, context) {
      const call = { id: context.callID ?? context.messageID, session: context.sessionID, tool, input: args };
      const answer = await governor.govern(call);
      if ("kind" in answer) {
        const { printed, ok } = await runShell(answer, governor.ownPolicy, context.abort);
        ended.set(nameOf(call), ok);
        return printed;
      }
      const { ends, isChange } = answer;
      if (isChange) notify(client, answer.text, "info");
      if (ends !== undefined) await quietly(() => client.session.abort({ path: { id: ends } }));
      return answer.text;
    },
  };
}
