import type { AdapterSpec } from "../adapter-spec.ts";
import { receivedIn } from "../dialogue/received.ts";
import { runAdapter } from "../dialogue/run-events.ts";
import type { AgentAdapter } from "../port.ts";
import { claudeDialogue } from "./dialogue.ts";
import { claudeEnvironment, claudeInvocation } from "./invocation.ts";
import { uuidOf } from "./messages.ts";

/** Runs Claude Code. What is sent to a run reaches it before its next answer. */
export function claudeAdapter(spec: AdapterSpec): AgentAdapter {
  return {
    name: spec.name,
    resumes: true,
    receivedIn: (output, sent) => {
      const dialogue = claudeDialogue({ program: spec.command, prompt: "", now: Date.now });
      return receivedIn(dialogue, { output, sent, nameOf: uuidOf });
    },
    start: (request) => {
      const { prompt, sessionId, sandboxed = false, overseer } = request;
      const model = request.model ?? spec.model;
      const instructions = request.instructions?.file;
      return runAdapter(request, {
        invocation: claudeInvocation(spec, { model, sessionId, sandboxed, instructions, overseer }),
        env: claudeEnvironment(request.env, { sandboxed, overseer }),
        dialogue: claudeDialogue({ program: spec.command, prompt, overseen: overseer !== undefined, now: Date.now }),
      });
    },
  };
}
