import { type Command, InvalidArgumentError } from "commander";
import { parseDuration } from "../../config/schema/units.ts";
import { type Call, createCall } from "../output.ts";

export interface JsonOption {
  readonly json?: boolean;
}

/** Adds a command that takes --json, with examples under its help; an example that says `prloom` itself is a whole line. */
export function declare(
  program: Command,
  name: string,
  text: { about: string; examples: readonly string[]; hidden?: true },
): Command {
  const examples = text.examples.map((line) => `  $ ${/\bprloom /.test(line) ? line : `prloom ${line}`}`).join("\n");
  return program
    .command(name, { hidden: text.hidden ?? false })
    .description(text.about)
    .option("--json", "print the result as JSON")
    .addHelpText("after", `\nExamples:\n${examples}`);
}

/** Calls a command's function and makes what it returns the exit code. */
export async function performCommand(options: JsonOption, act: (call: Call) => Promise<number>): Promise<void> {
  process.exitCode = await act(createCall(options));
}

/** Collects the values of an option that may be given several times. */
export function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** A whole number from `least` on. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,9}$/.test(text) || Number(text) < least)
      throw new InvalidArgumentError(`Give a whole number from ${least} on.`);
    return Number(text);
  };
}

/** Milliseconds of "90s", "30m", "2h" or "7d". */
export function durationArgument(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError('Write a number and a unit: "90s", "30m", "2h" or "7d".');
  return ms;
}
