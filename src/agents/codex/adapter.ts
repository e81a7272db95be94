import { realpathSync } from "node:fs";
import { errnoOf } from "../../kernel/errors.ts";
import type { AdapterSpec } from "../adapter-spec.ts";
import { withInstructions } from "../dialogue/repository-instructions.ts";
import { runAdapter } from "../dialogue/run-events.ts";
import { asSessionId } from "../dialogue/session-id.ts";
import type { AgentAdapter, AgentRequest } from "../port.ts";
import { earlierUsage } from "../run-log/earlier-usage.ts";
import { codexDialogue } from "./dialogue.ts";
import { codexInvocation } from "./invocation.ts";

/** Runs OpenAI's Codex. */
export function codexAdapter(spec: AdapterSpec): AgentAdapter {
  return {
    name: spec.name,
    resumes: true,
    start: (request) => {
      const { sandboxed = false } = request;
      const sessionId = asSessionId(request.sessionId);
      const model = request.model ?? spec.model;
      const folders = [request.cwd, realPath(request.cwd)];
      return runAdapter(request, {
        invocation: codexInvocation(spec, { folders, model, sessionId, sandboxed }),
        stdin: promptOf(request, spec),
        dialogue: codexDialogue({
          program: spec.command,
          model: model ?? "default",
          before: earlierUsage(request.runDir, sessionId),
          now: Date.now,
        }),
      });
    },
  };
}

/** Of a project that is not trusted Codex does not even read the instructions; a conversation that goes on has them. */
function promptOf({ prompt, sessionId, instructions }: AgentRequest, { projectSettings }: AdapterSpec): string {
  const hasThem = projectSettings || asSessionId(sessionId) !== undefined;
  return hasThem ? prompt : withInstructions(prompt, instructions);
}

/** A folder that is not there is reported by the shim, which starts in it. */
function realPath(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    if (errnoOf(error) !== undefined) return folder;
    throw error;
  }
}
