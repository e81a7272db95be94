import type { AdapterSpec } from "../adapter-spec.ts";
import { runAdapter } from "../dialogue/run-events.ts";
import type { AgentAdapter, Invocation } from "../port.ts";

/** It knows nothing of a program's settings. */
type CommandSpec = Omit<AdapterSpec, "projectSettings">;

/** What to start: a command with blanks and without `args` is a line for the shell, anything else names a program. */
export function invocationOf(spec: Pick<CommandSpec, "command" | "args">): Invocation {
  if (spec.args === undefined && /\s/.test(spec.command.trim())) return { shell: spec.command };
  return { program: spec.command.trim(), args: spec.args ?? [] };
}

/** Runs any program as an agent: the prompt on stdin, PRLOOM_* in its environment, what it prints as text. */
export function commandAdapter(spec: CommandSpec): AgentAdapter {
  return {
    name: spec.name,
    resumes: false,
    start: (request) => {
      const model = request.model ?? spec.model;
      return runAdapter(request, {
        invocation: invocationOf(spec),
        ...(model === undefined ? {} : { env: { PRLOOM_MODEL: model } }),
        dialogue: { read: (line) => ({ events: [{ type: "text", text: line }] }) },
      });
    },
  };
}
