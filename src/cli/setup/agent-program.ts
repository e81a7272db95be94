import { isAbsolute } from "node:path";
import { programOf } from "../../agents/adapters.ts";
import { invocationOf } from "../../agents/command/adapter.ts";
import { inspectProgram, type ProgramFacts } from "../../agents/inspect-program.ts";
import type { AgentProgram } from "../../agents/program.ts";
import type { AgentConfig } from "../../config/config.ts";
import { findProgram } from "../../kernel/system/find-program.ts";
import type { Call } from "../output.ts";

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
  agent: Pick<AgentConfig, "command" | "args"> & Partial<Pick<AgentConfig, "env" | "adapter">>,
  where: { readonly path: string | undefined; readonly root: string },
): ProgramCheck {
  // Only a `command` agent's line goes to a shell; the adapters start a program.
  const spoken = agent.adapter === undefined || agent.adapter === "command";
  const invocation = spoken ? invocationOf(agent) : { program: agent.command, args: [] };
  const program = "shell" in invocation ? programOfLine(invocation.shell) : invocation.program;
  if (program === undefined) return { kind: "unknown" };
  const file = findProgram(program, agent.env?.PATH ?? where.path, where.root);
  return file === undefined ? { kind: "missing", program } : { kind: "found", file };
}

function programOfLine(line: string): string | undefined {
  const [first = ""] = line.trim().split(/\s+/);
  return PLAIN_WORDS.test(line) && !SHELL_WORDS.has(first) ? first : undefined;
}

/** The same with what prloom knows about the program, and what that tells about itself. */
export type AgentCheck =
  | {
      readonly kind: "found";
      readonly file: string;
      readonly program?: AgentProgram;
      readonly facts?: ProgramFacts;
    }
  | { readonly kind: "missing"; readonly command: string; readonly program?: AgentProgram }
  | { readonly kind: "unknown" };

/** Looks for the program of an agent and, if it is one that prloom knows, asks it for its version. */
export async function checkAgent(call: Pick<Call, "env">, agent: AgentConfig, root: string): Promise<AgentCheck> {
  const found = checkProgram(agent, { path: call.env.PATH, root });
  if (found.kind === "unknown") return found;
  const program = programOf(agent);
  const known = program === undefined ? {} : { program };
  if (found.kind === "missing") return { kind: "missing", command: found.program, ...known };
  // A path like `./claude` is a file of the plan's worktree, where it runs enclosed: never with the rights of the caller here.
  const isInWorktree = agent.command.includes("/") && !isAbsolute(agent.command);
  if (program === undefined || isInWorktree) return found;
  const env = { ...call.env, ...agent.env };
  return { ...found, ...known, facts: await inspectProgram({ env }, program, { file: found.file }) };
}
