import { basename } from "node:path";
import { KNOWN_PROGRAMS, type KnownProgram } from "../../agents/adapters.ts";
import { inspectProgram, type ProgramFacts } from "../../agents/inspect-program.ts";
import type { AgentProgram } from "../../agents/program.ts";
import type { AgentFile } from "../../config/schema/agent-schema.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { absolutePath, findProgram } from "../../kernel/system/find-program.ts";
import type { Call } from "../output.ts";

export interface AgentWishes {
  readonly yes?: boolean;
  readonly agent?: string;
  readonly command?: string;
  readonly arg?: readonly string[];
}

export interface AgentChoice {
  readonly agentName: string;
  readonly agent: AgentFile;
  /** Why it is this one. */
  readonly why: string;
}

/** A known program that is installed here. */
export interface Installed {
  readonly known: KnownProgram;
  readonly facts: ProgramFacts;
}

const PLACEHOLDER = "agent";

/** What is written when no program is there; `init` may write over that, and over nothing else. */
export const NO_AGENT = { agentName: PLACEHOLDER, agent: { command: "your-agent" } } as const;

/** Refuses wishes that cannot be understood, before anything is written. */
export function checkWishes(wishes: AgentWishes): void {
  if (wishes.command !== undefined) {
    if (wishes.command.trim() === "")
      throw new PrloomError("usage", "--command is empty.", "Name the program to run: --command my-agent");
    return;
  }
  if (wishes.arg)
    throw new PrloomError(
      "usage",
      "--arg needs --command.",
      "Say which program gets the arguments: --command <program>",
    );
  if (wishes.agent !== undefined && !knownProgram(wishes.agent)) {
    throw new PrloomError(
      "usage",
      `prloom does not know how to start an agent called "${wishes.agent}".`,
      `Say which program it is with --command <program>; without it: ${KNOWN_PROGRAMS.map(({ name }) => name).join(", ")}.`,
    );
  }
}

function knownProgram(name: string): KnownProgram | undefined {
  return KNOWN_PROGRAMS.find((known) => known.name === name);
}

/** What the config says about a program that prloom knows; only what an adapter cannot know by itself. */
export function agentFileOf({ adapter, args, program }: KnownProgram): AgentFile {
  if (adapter !== "acp") return { adapter };
  return { adapter, command: program.command, ...(args === undefined ? {} : { args: [...args] }) };
}

/**
 * The known programs that are installed, in the order in which they are preferred. They are asked for their version, with all
 * rights, so relative folders of PATH do not count, as for runs: they may be an agent's.
 */
export async function installedPrograms(
  call: Pick<Call, "env">,
  mayAsk: (file: string) => boolean = () => true,
): Promise<Installed[]> {
  const path = absolutePath(call.env.PATH);
  const found = KNOWN_PROGRAMS.flatMap((known) => {
    const file = findProgram(known.program.command, path, "/");
    return file === undefined || !mayAsk(file) ? [] : [{ known, file }];
  });
  return Promise.all(
    found.map(async ({ known, file }) => ({ known, facts: await inspectProgram(call, known.program, { file }) })),
  );
}

const LOGIN_ORDER = { yes: 0, unknown: 1, no: 2 } as const;

/** Pure: those that can work first: new enough and logged in, then those that may be, then the others. */
export function byReadiness(installed: readonly Installed[]): Installed[] {
  const rank = ({ facts: { login, tooOld, broken } }: Installed): number =>
    LOGIN_ORDER[login.state] + (tooOld ? 3 : 0) + (broken === undefined ? 0 : 6);
  return installed.toSorted((a, b) => rank(a) - rank(b));
}

/** What keeps an installed program from working, as a sentence; undefined when nothing is known to. */
export function troubleOf({ title, version, least, tooOld, broken, login }: ProgramFacts): string | undefined {
  if (broken !== undefined) return `${title} does not work: ${broken}`;
  if (tooOld) return `${title} ${version} is older than ${least}, the oldest that prloom was tried with`;
  return login.state === "no" ? `${title} is not logged in: ${login.how}` : undefined;
}

/** The agent that was asked for, else one that is installed and logged in, else one that has to be filled in. */
export async function chooseInitialAgent(call: Call, wishes: AgentWishes): Promise<AgentChoice> {
  if (wishes.command !== undefined) {
    const agentName = wishes.agent ?? nameFor(wishes.command);
    return { agentName, agent: commandAgent(wishes.command, wishes.arg), why: "as --command says" };
  }
  const named = wishes.agent === undefined ? undefined : knownProgram(wishes.agent);
  if (named) return choiceOf(named, "as --agent says");
  const installed = byReadiness(await installedPrograms(call));
  if (!wishes.yes && call.output.terminal && process.stdin.isTTY) return askForAgent(installed);
  const [first] = installed;
  if (first) return choiceOf(first.known, whyFirst(installed));
  const why = `none of ${KNOWN_PROGRAMS.map(({ program }) => program.command).join(", ")} was found`;
  return { ...NO_AGENT, why };
}

function choiceOf(known: KnownProgram, why: string): AgentChoice {
  return { agentName: known.name, agent: agentFileOf(known), why };
}

function commandAgent(command: string, args: readonly string[] = []): AgentFile {
  return args.length === 0 ? { command } : { command, args: [...args] };
}

const READY = { yes: "installed and logged in", unknown: "installed", no: "installed" } as const;

/** Pure: why the first of a list that is sorted by readiness was taken. */
export function whyFirst(sorted: readonly Installed[]): string {
  const [first, ...others] = sorted;
  if (!first) return "";
  const ready = READY[first.facts.login.state];
  if (others.length === 0) return `the only one that is ${ready}`;
  return `${ready}; also here: ${others.map(({ known }) => known.name).join(", ")}`;
}

/** The program's own name, as far as the config takes it for one. */
function nameFor(command: string): string {
  const [program = ""] = command.trim().split(/\s+/);
  return (
    basename(program)
      .replace(/[^A-Za-z0-9._-]+/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "") || PLACEHOLDER
  );
}

async function askForAgent(installed: readonly Installed[]): Promise<AgentChoice> {
  const { orCancelled, select, text } = await import("../prompts.ts");
  const options = [
    ...installed.map(({ known, facts }) => ({
      value: known.name,
      label: known.name,
      hint: troubleOf(facts) ?? `${facts.title} ${facts.version ?? ""}`.trim(),
    })),
    { value: "", label: "another program", hint: "it gets the prompt on stdin" },
  ];
  const name = orCancelled(await select({ message: "Which agent should do the work?", options }));
  const chosen = installed.find(({ known }) => known.name === name);
  if (chosen) return choiceOf(chosen.known, "as you said");
  const line = orCancelled(
    await text({
      message: "The program, with its arguments",
      placeholder: "my-agent --quiet",
      validate: (answer) => ((answer ?? "").trim() === "" ? "Type the name of a program." : undefined),
    }),
  );
  // With blanks it is a line for the shell: quotes in it mean what they mean to the shell.
  return { agentName: nameFor(line), agent: { command: line.trim() }, why: "as you said" };
}

/** What to type about it. */
export function remedyOf({ tooOld, broken }: ProgramFacts, { install, login }: AgentProgram): string {
  return `Type: ${tooOld || broken !== undefined ? install : login}`;
}
