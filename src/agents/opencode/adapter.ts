import type { AdapterSpec } from "../adapter-spec.ts";
import { runAdapter } from "../dialogue/run-events.ts";
import type { AgentAdapter } from "../port.ts";
import { openCodeDialogue } from "./dialogue.ts";
import { openCodeEnvironment, openCodeInvocation } from "./invocation.ts";

/** Runs OpenCode. It takes no messages while it works: what is sent waits for the next turn. */
export function openCodeAdapter(spec: AdapterSpec): AgentAdapter {
  return {
    name: spec.name,
    resumes: true,
    start: (request) => {
      const { stage, sessionId, sandboxed = false } = request;
      const model = request.model ?? spec.model;
      return runAdapter(request, {
        invocation: openCodeInvocation(spec, { stage, model, sessionId, sandboxed }),
        env: openCodeEnvironment({
          projectSettings: spec.projectSettings,
          instructions: request.instructions?.file,
          configContent: request.env.OPENCODE_CONFIG_CONTENT,
          permission: request.env.OPENCODE_PERMISSION,
          governed: request.governed,
        }),
        dialogue: openCodeDialogue({
          program: spec.command,
          model: model ?? "default",
          now: Date.now,
          governedRun: request.governed ? request.runId : undefined,
        }),
      });
    },
  };
}
