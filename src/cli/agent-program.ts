import { invocationOf } from "../agents/command/adapter.ts";
import { findProgram } from "../agents/find-program.ts";
import type { AgentConfig } from "../config/config.ts";

/** What is known about the program of an agent before it is started; `unknown`: only the shell can tell. */
export type ProgramCheck =
  | { readonly kind: "found"; readonly file: string }
  | { readonly kind: "missing"; readonly program: string }
  | { readonly kind: "unknown" };

/** Words that the shell itself understands; no file has to be there for them. */
const SHELL_WORDS: ReadonlySet<string> = new Set(
  ". : [ case cd command eval exec export for if read set source test time trap ulimit umask unset until while".split(
    " ",
  ),
);
/** Words without any of the signs that mean something to a shell. */
const PLAIN_WORDS = /^[\w@%+:,./\s-]+$/;

/** Looks for the program that an agent's `command` and `args` name, as starting it would. */
export function checkProgram(
  agent: Pick<AgentConfig, "command" | "args"> & Partial<Pick<AgentConfig, "env">>,
  where: { readonly path: string | undefined; readonly root: string },
): ProgramCheck {
  const invocation = invocationOf(agent);
  const program = "shell" in invocation ? programOfLine(invocation.shell) : invocation.program;
  if (program === undefined) return { kind: "unknown" };
  const file = findProgram(program, agent.env?.PATH ?? where.path, where.root);
  return file === undefined ? { kind: "missing", program } : { kind: "found", file };
}

function programOfLine(line: string): string | undefined {
  const [first = ""] = line.trim().split(/\s+/);
  return PLAIN_WORDS.test(line) && !SHELL_WORDS.has(first) ? first : undefined;
}
