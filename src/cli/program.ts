import { Command, CommanderError } from "commander";
import { PrloomError } from "../kernel/errors.ts";
import { declareChanging } from "./declare/changing.ts";
import { declareReading } from "./declare/reading.ts";
import { declareSetup } from "./declare/setup.ts";
import { declareTalking } from "./declare/talking.ts";
import { currentFolder } from "./output.ts";
import { version } from "./setup/version.ts";

/** In the order of the help. */
const GROUPS = [declareSetup, declareReading, declareChanging, declareTalking];

/**
 * All commands with their options and help, or with `name` only those that are declared together with it: declaring all takes longer
 * than some commands need for their work. What they do is loaded when one is called.
 */
export function createProgram(name?: string): Command {
  // Those that only look are called most often. What completes a line must know them all.
  for (const group of name === undefined || name === "complete" ? [] : [declareReading, ...GROUPS]) {
    const program = withGroups([group]);
    if (program.commands.some((command) => command.name() === name)) return program;
  }
  return withGroups(GROUPS);
}

function withGroups(groups: readonly ((program: Command) => void)[]): Command {
  const program = new Command("prloom")
    .description(
      "Turns a Markdown plan into a reviewed branch: coding agents do the work, each in its own git worktree.",
    )
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "show this help")
    .helpCommand("help [command]", "show the help of a command")
    .showSuggestionAfterError()
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  for (const declareGroup of groups) declareGroup(program);
  program.addHelpText("after", FIRST_STEPS);
  program.hook("preAction", async (_program, command) => {
    if (command.registeredArguments.length > 0)
      await (await import("./plan-names.ts")).completePlanNames(command, currentFolder());
  });
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}

const FIRST_STEPS = `
Examples:
  $ prloom demo                                  see it work in a throw-away repository
  $ prloom init --yes                            set up this repository
  $ prloom new "Add a login page" --queue        write a plan
  $ prloom start --until-idle                    work on all queued plans
  $ prloom status                                see how far they are

Exit codes: 0 done, 1 failed, 2 called wrongly. Every command takes --json.`;

/** Runs the command that the arguments name; throws what went wrong, as an error with a hint. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  const program = createProgram(argv[0]);
  if (argv.length === 0) {
    program.outputHelp();
    return;
  }
  try {
    await program.parseAsync(commandFirst(argv), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw calledWrongly(program, argv, error);
  }
}

/** Every command takes --json; it may stand before the command, too. */
function commandFirst(argv: readonly string[]): string[] {
  const [first, name, ...rest] = argv;
  return first === "--json" && name !== undefined ? [name, first, ...rest] : [...argv];
}

/** Words of other programs for what prloom does; by their letters alone the suggestion would be another command. */
const MEANT: Readonly<Record<string, string>> = {
  accept: "approve",
  add: "new",
  cancel: "pause or delete",
  continue: "resume",
  create: "new",
  deny: "reject",
  kill: "stop, or pause --now",
  list: "ls",
  log: "logs",
  remove: "delete",
  rm: "delete",
  run: "start",
  stat: "status",
  unpause: "resume",
};

/** Commander's complaint as one of ours: what is wrong, what was probably meant, and where to read on. */
function calledWrongly(program: Command, argv: readonly string[], error: CommanderError): PrloomError {
  const [complaint = "", ...more] = error.message.replace(/^error: /, "").split("\n");
  const meant = error.code === "commander.unknownCommand" ? MEANT[argv[0] ?? ""] : undefined;
  const suggestion =
    meant === undefined
      ? more.join(" ").replace(/^\(Did you mean (?:one of )?(.*)\?\)$/, "Did you mean $1? ")
      : `Did you mean ${meant}? `;
  const name = argv.find((word) => program.commands.some((command) => command.name() === word));
  const { registeredArguments = [] } = program.commands.find((command) => command.name() === name) ?? {};
  const { argChoices } = registeredArguments.find((argument) => complaint.endsWith(` '${argument.name()}'`)) ?? {};
  const choices = argChoices ? `One of ${argChoices.join(", ")}. ` : "";
  const help =
    name === undefined ? "`prloom --help` lists the commands." : `\`prloom ${name} --help\` shows how to call it.`;
  const message = error.code === "commander.help" ? "there is no such command" : complaint;
  return new PrloomError("usage", message, `${suggestion}${choices}${help}`, error);
}
