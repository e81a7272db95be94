import type { AdapterSpec } from "../adapter-spec.ts";
import { runAdapter } from "../dialogue/run-events.ts";
import { asSessionId } from "../dialogue/session-id.ts";
import type { AgentAdapter } from "../port.ts";
import { earlierUsage } from "../run-log/earlier-usage.ts";
import { acpDialogue } from "./dialogue.ts";
import { acpEnvironment, acpInvocation, acpPrompt, acpSessionMeta } from "./invocation.ts";

/** Runs any agent that speaks the Agent Client Protocol. */
export function acpAdapter(spec: AdapterSpec): AgentAdapter {
  return {
    name: spec.name,
    resumes: true,
    start: (request) => {
      const { cwd, env, prompt, runDir, instructions, sandboxed = false } = request;
      const sessionId = asSessionId(request.sessionId);
      const place = { cwd, env, projectSettings: spec.projectSettings, instructions };
      return runAdapter(request, {
        invocation: acpInvocation(spec),
        env: acpEnvironment(spec.command, place),
        dialogue: acpDialogue({
          program: spec.command,
          cwd,
          prompt: sessionId === undefined ? acpPrompt(spec.command, place, prompt) : prompt,
          sessionId,
          sandboxed,
          model: request.model ?? spec.model,
          costUsd: earlierUsage(runDir, sessionId).costUsd,
          meta: acpSessionMeta(spec.command, place),
          now: Date.now,
        }),
      });
    },
  };
}
