import type { Command, Option } from "commander";

/** What may be typed next, with a few words about it. */
export interface Candidate {
  readonly word: string;
  readonly about: string;
}

/** What may stand in the place of the last of these words. Plans are looked up only where one is expected. */
export async function candidatesFor(
  program: Command,
  words: readonly string[],
  plans: (command: string) => Promise<readonly Candidate[]>,
): Promise<Candidate[]> {
  const last = words.at(-1) ?? "";
  const before = words.slice(0, -1).filter((word) => word !== "--json");
  return (await allFor(program, { before, last }, plans)).filter(({ word }) => word.startsWith(last));
}

async function allFor(
  program: Command,
  { before, last }: { before: readonly string[]; last: string },
  plans: (command: string) => Promise<readonly Candidate[]>,
): Promise<readonly Candidate[]> {
  const [name, ...rest] = before;
  if (name === undefined || name === "help") return commandsOf(program);
  const command = program.commands.find((one) => one.name() === name || one.aliases().includes(name));
  if (!command) return [];
  const open = optionOf(command, rest.at(-1));
  if (open?.required) return (open.argChoices ?? []).map((word) => ({ word, about: "" }));
  if (last.startsWith("-")) return optionsOf(command);
  const given = rest.filter((word, at) => !word.startsWith("-") && !optionOf(command, rest[at - 1])?.required).length;
  const argument =
    command.registeredArguments.at(given) ?? command.registeredArguments.findLast(({ variadic }) => variadic);
  if (!argument) return [];
  if (/^plans?$/.test(argument.name())) return plans(command.name());
  return (argument.argChoices ?? []).map((word) => ({ word, about: "" }));
}

function commandsOf(program: Command): Candidate[] {
  const { commands } = program;
  const shown = new Set(program.createHelp().visibleCommands(program));
  return commands
    .filter((command) => shown.has(command))
    .map((command) => ({ word: command.name(), about: command.description() }));
}

function optionOf(command: Command, word: string | undefined): Option | undefined {
  return command.options.find(({ long, short }) => word !== undefined && (word === long || word === short));
}

function optionsOf(command: Command): Candidate[] {
  return command.options.flatMap(({ long, description }) => (long ? [{ word: long, about: description }] : []));
}
