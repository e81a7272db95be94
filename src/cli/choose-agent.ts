import { basename } from "node:path";
import { findProgram } from "../agents/find-program.ts";
import { PrloomError } from "../kernel/errors.ts";
import type { Call } from "./output.ts";

export interface AgentWishes {
  readonly yes?: boolean;
  readonly agent?: string;
  readonly command?: string;
  readonly arg?: readonly string[];
}

export interface AgentChoice {
  readonly agentName: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly passEnv?: readonly string[];
}

/** Programs that take a prompt on stdin and work without asking, in the order in which they are looked for. */
const KNOWN_AGENTS: readonly AgentChoice[] = [
  {
    agentName: "claude",
    command: "claude",
    args: ["-p", "--permission-mode", "acceptEdits"],
    passEnv: ["ANTHROPIC_API_KEY"],
  },
  {
    agentName: "opencode",
    command: "opencode",
    args: ["run"],
    passEnv: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
  },
  {
    agentName: "codex",
    command: "codex",
    args: ["exec", "-s", "workspace-write", "-"],
    passEnv: ["OPENAI_API_KEY"],
  },
];

const PLACEHOLDER: AgentChoice = { agentName: "agent", command: "your-agent", args: [] };

/** Refuses wishes that cannot be understood, before anything is written. */
export function checkWishes(wishes: AgentWishes): void {
  if (wishes.command !== undefined) {
    if (wishes.command.trim() === "")
      throw new PrloomError("usage", "--command is empty.", "Name the program to run: --command claude");
    return;
  }
  if (wishes.arg)
    throw new PrloomError(
      "usage",
      "--arg needs --command.",
      "Say which program gets the arguments: --command <program>",
    );
  if (wishes.agent !== undefined && !knownAgent(wishes.agent)) {
    throw new PrloomError(
      "usage",
      `prloom does not know how to start an agent called "${wishes.agent}".`,
      `Say which program it is with --command <program>; without it: ${KNOWN_AGENTS.map(({ agentName }) => agentName).join(", ")}.`,
    );
  }
}

function knownAgent(name: string): AgentChoice | undefined {
  return KNOWN_AGENTS.find(({ agentName }) => agentName === name);
}

/** The agent that was asked for, else one that is installed, else one that has to be filled in. */
export async function chooseAgent(call: Call, wishes: AgentWishes): Promise<AgentChoice> {
  if (wishes.command !== undefined) {
    const name = wishes.agent ?? nameFor(wishes.command);
    return { agentName: name, command: wishes.command, args: wishes.arg ?? [] };
  }
  const named = wishes.agent === undefined ? undefined : knownAgent(wishes.agent);
  if (named) return named;
  const found = KNOWN_AGENTS.filter(({ command }) => findProgram(command, call.env.PATH, call.cwd) !== undefined);
  if (!wishes.yes && call.output.terminal && process.stdin.isTTY) return askForAgent(found);
  return found[0] ?? PLACEHOLDER;
}

/** The program's own name, as far as the config takes it for one. */
function nameFor(command: string): string {
  const [program = ""] = command.trim().split(/\s+/);
  return (
    basename(program)
      .replace(/[^A-Za-z0-9._-]+/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "") || PLACEHOLDER.agentName
  );
}

async function askForAgent(found: readonly AgentChoice[]): Promise<AgentChoice> {
  const { isCancel, select, text } = await import("@clack/prompts");
  const cancelled = () => new PrloomError("usage", "Nothing was written.", "`prloom init --yes` asks nothing.");
  const options = [
    ...found.map(({ agentName, command, args }) => ({
      value: agentName,
      label: agentName,
      hint: [command, ...args].join(" "),
    })),
    { value: "", label: "another program", hint: "it gets the prompt on stdin" },
  ];
  const name = await select({ message: "Which agent shall do the work?", options });
  if (isCancel(name)) throw cancelled();
  const known = found.find(({ agentName }) => agentName === name);
  if (known) return known;
  const line = await text({
    message: "The program, with its arguments",
    placeholder: "my-agent --quiet",
    validate: (answer) => ((answer ?? "").trim() === "" ? "Type the name of a program." : undefined),
  });
  if (isCancel(line)) throw cancelled();
  // With blanks it is a line for the shell: quotes in it mean what whoever typed them meant.
  return { agentName: nameFor(line), command: line.trim(), args: [] };
}
