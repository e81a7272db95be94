import { known, startOf, type Text } from "./values/text.ts";

/** An option as it was given, without its dashes. */
export interface Option {
  readonly name: string;
  readonly value?: Text | undefined;
}

const NONE: readonly Text[] = [];

/** What was given to a program. Made for every command: its questions are methods, not functions of their own. */
export class Arguments {
  readonly options: readonly Option[];
  readonly operands: readonly Text[];

  constructor(options: readonly Option[], operands: readonly Text[]) {
    this.options = options;
    this.operands = operands;
  }

  has(this: Arguments, ...names: string[]): boolean {
    return this.hasOneOf(names);
  }

  hasOneOf(this: Arguments, names: readonly string[]): boolean {
    for (const { name } of this.options) if (names.includes(name)) return true;
    return false;
  }

  values(this: Arguments, ...names: string[]): readonly Text[] {
    if (this.options.length === 0) return NONE;
    const values: Text[] = [];
    for (const { name, value } of this.options) if (value !== undefined && names.includes(name)) values.push(value);
    return values;
  }
}

export interface OptionRules {
  /** Names that take a value, separated by spaces: `o output`. */
  readonly valued?: string;
  /** Long names that may be shortened, without a value: `recursive force`. */
  readonly long?: string;
  /** The first operand ends the options, as for `env` and `xargs`. */
  readonly stopsAtOperand?: boolean;
  /** `-name` is one option, as for `find` and `java`. */
  readonly singleDash?: boolean;
}

interface Compiled {
  readonly valued: ReadonlySet<string>;
  readonly longs: readonly string[];
}

const compiled = new Map<string, Map<string, Compiled>>();

/** Lists are written as strings in the programs' own code: there are only so many. */
function compile({ valued: names = "", long = "" }: OptionRules): Compiled {
  const before = compiled.get(names)?.get(long);
  if (before) return before;
  const valued = new Set(names.split(" ").filter(Boolean));
  const longs = [...valued, ...long.split(" ")].filter((name) => name.length > 1);
  const made = { valued, longs };
  compiled.set(names, (compiled.get(names) ?? new Map<string, Compiled>()).set(long, made));
  return made;
}

/** GNU programs take a beginning of a long name, if only one fits. Of several here the program may have one only: each may be meant. */
function wholeNames(name: string, longs: readonly string[]): readonly string[] {
  if (longs.includes(name)) return [name];
  const fitting = longs.filter((long) => long.startsWith(name));
  return fitting.length === 1 ? fitting : [...fitting, name];
}

/** Reads arguments as getopt does. An argument that is not known is an operand: it may be an option, too. */
export function readArguments(args: readonly Text[], rules: OptionRules): Arguments {
  const { valued, longs } = compile(rules);
  const options: Option[] = [];
  const operands: Text[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as Text;
    const text = startOf(arg);
    if (text === "--") {
      operands.push(...args.slice(at + 1));
      break;
    }
    if (text === "-" || !text.startsWith("-")) {
      operands.push(arg);
      if (rules.stopsAtOperand) {
        operands.push(...args.slice(at + 1));
        break;
      }
      continue;
    }
    const isLong = text.startsWith("--") || rules.singleDash === true;
    if (isLong) readLong(arg, { longs, options, next: args[at + 1] });
    else readShort(arg, valued, options);
    const last = options.at(-1);
    if (last && last.value === undefined && valued.has(last.name) && at + 1 < args.length) {
      at += 1;
      options[options.length - 1] = { name: last.name, value: args[at] };
    }
  }
  return new Arguments(options, operands);
}

/** The end of an argument, which is known as well as the argument is. */
function withText(from: Text, text: string): Text {
  if (from.type === "glob") return { type: "glob", text };
  return from.type === "unknown" ? { ...from, starts: text } : known(text);
}

interface LongNames {
  readonly longs: readonly string[];
  readonly options: Option[];
  /** What may be the value, for names of which it cannot be told whether they take one. */
  readonly next: Text | undefined;
}

function readLong(arg: Text, { longs, options, next }: LongNames): void {
  const given = startOf(arg);
  const text = given.slice(given.startsWith("--") ? 2 : 1);
  const equals = text.indexOf("=");
  const names = wholeNames(equals < 0 ? text : text.slice(0, equals), longs);
  const value = equals < 0 ? undefined : withText(arg, text.slice(equals + 1));
  const may = value ?? next;
  for (let at = 0; at < names.length - 1; at += 1) options.push({ name: names[at] as string, value: may });
  options.push({ name: names.at(-1) as string, value });
}

/** `-xvf file`, `-ofile`, `-i.bak`: letters up to the first that takes a value. */
function readShort(arg: Text, valued: ReadonlySet<string>, options: Option[]): void {
  const letters = startOf(arg).slice(1);
  for (let at = 0; at < letters.length; at += 1) {
    const name = letters[at] as string;
    if (!valued.has(name)) {
      options.push({ name });
      continue;
    }
    const rest = letters.slice(at + 1);
    options.push(
      rest === "" && arg.type === "known" ? { name } : { name, value: withText(arg, rest.replace(/^=/, "")) },
    );
    return;
  }
}
