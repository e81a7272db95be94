import type { Behaviour, ProgramCall } from "../call.ts";
import { readArguments } from "../options.ts";
import { absolutePaths, reads } from "../paths.ts";
import { giveVariable, isOurSetting, judgeAssignment } from "../state/assignments.ts";
import { noteEffect, noteUnknown, SEVERAL, setArray, UNSURE } from "../state/state.ts";
import { lookAtNumber, lookAtSubscript } from "./arithmetic.ts";
import { cameFrom, type Flow, FROM, NOTHING, textOfFlow, textsOfFlow } from "./flow.ts";
import { lookAtRenaming } from "./hidden-commands.ts";
import { printedByFormat } from "./printed.ts";
import {
  addChoice,
  aNumber,
  describeText,
  fillIn,
  GAP,
  isPlain,
  known,
  plainWord,
  startOf,
  type Text,
  textOf,
  unknown,
} from "./text.ts";

/** `export`, `declare`, `local`, `readonly` and their like. */
export const declareVariables: Behaviour = ({ name, args, spot }) => {
  const { shell } = spot;
  const given = readArguments(args, {});
  const exports = name === "export" || given.has("x");
  if (name !== "local" && (given.operands.length === 0 || given.has("p"))) return showVariables(spot);
  // Which variable is meant afterwards depends on the branches and loops in which it was bound.
  if (given.has("n") && name !== "export") noteUnknown(spot, "makes a name stand for another variable");
  const isLocal = name === "local" || (spot.calls.length > 0 && /^(?:declare|typeset)$/.test(name) && !given.has("g"));
  for (const operand of given.operands) {
    const [start = "", variable, appends] = /^([A-Za-z_]\w*)(\+)?=/.exec(startOf(operand)) ?? [];
    lookAtRenaming(textOf(operand), spot);
    if (given.has("i")) shell.changing.set(variable ?? textOf(operand), "number");
    else if (given.has("l", "u", "c")) shell.changing.set(variable ?? textOf(operand), "letters");
    if (variable === undefined) {
      lookAtSubscript(operand, spot);
      if (textOf(operand).includes("[")) giveVariable(textOf(operand), [SEVERAL], spot);
      if (isLocal) {
        shell.locals.set(textOf(operand), true);
        giveVariable(textOf(operand), addChoice(shell.variables.get(textOf(operand)) ?? [], [known("")]), spot);
      }
      if (name === "readonly" || given.has("r")) shell.fixed.set(textOf(operand), true);
      if (exports && operand.type === "known") exportVariable(operand.text, spot);
      else if (operand.type !== "known")
        noteUnknown(spot, `sets a variable that cannot be told: ${describeText(operand)}`);
      continue;
    }
    const value = textOf(operand).slice(start.length);
    if (value === "(…)") {
      setArray(shell, variable, [unknown("it is one of a list")]);
      continue;
    }
    if (shell.changing.get(variable) === "number")
      lookAtNumber(operand.type === "unknown" ? operand : known(value), spot);
    const before = appends ? (shell.variables.get(variable) ?? []) : [];
    const cased = given.has("l") ? value.toLowerCase() : given.has("u") ? value.toUpperCase() : value;
    const made: Text =
      operand.type === "unknown"
        ? valueBehind(operand, start)
        : operand.type === "known"
          ? known(cased)
          : { type: "glob", text: cased, plain: isPlain(operand) };
    if (isLocal) shell.locals.set(variable, true);
    // Outside of functions there are none that are local.
    const kept = name === "local" && spot.calls.length === 0 ? (shell.variables.get(variable) ?? [known("")]) : before;
    giveVariable(variable, addChoice(kept, [made]), spot);
    if (name === "readonly" || given.has("r")) shell.fixed.set(variable, true);
    if (exports) exportVariable(variable, spot);
  }
  return NOTHING;
};

/** What stands behind `name=`, of which not all is known. */
function valueBehind(operand: Extract<Text, { type: "unknown" }>, start: string): Text {
  const { why, from, template, found } = operand;
  const rest: Text = { type: "unknown", why, from };
  return template?.startsWith(start) ? fillIn(template.slice(start.length), GAP, found ?? rest) : rest;
}

/** A file that sets variables: when it is secret, they are. */
export function takeSecrets(file: Text, spot: ProgramCall["spot"]): void {
  const secret = absolutePaths(file, spot).find((path) => spot.line.place.isSecret(path));
  if (secret) spot.line.sourced = secret;
}

/** `env`, `set`, `export -p`: all variables are printed, and those of a secret file with them. */
export function showVariables(spot: ProgramCall["spot"]): Flow {
  if (spot.line.sourced) reads(spot, spot.line.sourced);
  return cameFrom(FROM.program | FROM.secret);
}

function exportVariable(name: string, spot: ProgramCall["spot"]): void {
  spot.shell.exported.set(name, true);
  for (const value of spot.shell.variables.get(name) ?? []) judgeAssignment(name, value, spot);
}

export const unset: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {});
  for (const operand of given.operands) {
    if (isOurSetting(textOf(operand)))
      noteEffect(spot, { kind: "ours", what: `takes away a setting of an agent or of prloom: ${textOf(operand)}` });
    // Without -v it is the function, where no variable is called like that.
    const body = given.has("v") ? undefined : spot.shell.functions.get(textOf(operand));
    if (body) UNSURE.add(body);
    if (given.has("f")) spot.shell.functions.delete(textOf(operand));
    else if (!spot.shell.fixed.has(textOf(operand))) setNamed(operand, [known("")], spot);
  }
  return NOTHING;
};

/** A variable that is set by its name: of another one, what it was would be told. */
function setNamed(name: Text, choices: readonly Text[], spot: ProgramCall["spot"]): void {
  lookAtSubscript(name, spot);
  if (name.type === "known") giveVariable(name.text, choices, spot);
  else noteUnknown(spot, `sets a variable that cannot be told: ${describeText(name)}`);
}

function setList(name: Text, elements: readonly Text[], spot: ProgramCall["spot"]): void {
  setNamed(name, elements, spot);
  if (name.type === "known") setArray(spot.shell, name.text, elements);
}

/** Where a builtin reads from: its input, or the descriptor that `-u` names. */
function inputOf(descriptor: Text | undefined, { shell, input }: ProgramCall["spot"]): Flow {
  return descriptor ? (shell.channels.get(textOf(descriptor))?.reads ?? cameFrom(FROM.program)) : input;
}

/** Lines that are known, or one text for all of them. Unless they are raw, a backslash takes what follows it as it is. */
function linesOf(flow: Flow, isRaw = true): Text[] {
  return textsOfFlow(flow).flatMap((value) => {
    if (value.type !== "known") return [value];
    const text = isRaw ? value.text : value.text.replace(/\\([\s\S])/g, (_, next) => (next === "\n" ? "" : next));
    return text.split("\n").map(known);
  });
}

/** What one of several variables gets of a line: a word, and the last one all that is left. */
function fieldOf(line: Text, at: number, isLast: boolean): Text {
  if (line.type !== "known") return line;
  const words = line.text.split(/\s+/).filter(Boolean);
  return known(isLast ? words.slice(at).join(" ") : (words[at] ?? ""));
}

const partOf = (text: Text): Text => (text.type === "known" ? unknown("only a part of it is read") : text);

/** Variables get what is read, each of the lines: in a loop, all of them in turn. */
export const read: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "a d i n N p t u" });
  const flow = inputOf(given.values("u")[0], spot);
  // With another separator, words and lines are not these.
  const { variables, arrays } = spot.shell;
  const separators = arrays.get("IFS") ?? variables.get("IFS") ?? [known("")];
  const isPlain =
    separators.every((text) => text.type === "known" && text.text === "") && given.values("d", "n", "N").length === 0;
  const isRaw = given.has("r");
  const lines = isPlain ? addChoice([], linesOf(flow, isRaw)) : textsOfFlow(flow).map(partOf);
  const names = given.operands.length > 0 ? given.operands : [known("REPLY")];
  const divides = names.length > 1 && !variables.has("IFS") && !arrays.has("IFS");
  for (const [at, name] of names.entries()) {
    const isLast = at === names.length - 1;
    const values = divides ? lines.map((line) => fieldOf(line, at, isLast)) : lines;
    setNamed(name, addChoice([], values), spot);
  }
  const words = isPlain ? lines.flatMap((line) => (line.type === "known" ? wordsOf(line.text) : [line])) : lines;
  for (const name of given.values("a")) setList(name, words, spot);
  return NOTHING;
};

const wordsOf = (line: string): Text[] => line.split(/\s+/).filter(Boolean).map(known);

export const mapfile: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "d n O s u C c" });
  for (const command of given.values("C")) spot.line.engine.runSource(command, spot);
  const flow = inputOf(given.values("u")[0], spot);
  // Where others are left out, or those before stay, it is not told which is which.
  const isWhole = !given.has("O", "s", "n");
  const lines = !isWhole ? [SEVERAL] : given.values("d").length > 0 ? textsOfFlow(flow) : linesOf(flow);
  setList(given.operands[0] ?? known("MAPFILE"), lines, spot);
  return NOTHING;
};

export const getopts: Behaviour = ({ args, spot }) => {
  const name = args[1];
  if (name) setNamed(name, [plainWord], spot);
  spot.shell.variables.set("OPTARG", [unknown("nothing tells what $OPTARG is")]);
  return NOTHING;
};

/** `wait -p` tells in a variable which process it was. */
export const waits: Behaviour = ({ args, spot }) => {
  for (const name of readArguments(args, { valued: "p" }).values("p")) setNamed(name, [aNumber], spot);
  return NOTHING;
};

/** `printf -v` sets a variable. */
export const print: Behaviour = ({ args, spot }) => {
  const [option, name, ...rest] = args;
  if (!option || !name || textOf(option) !== "-v") return printedByFormat(args);
  setNamed(name, [textOfFlow(printedByFormat(rest))], spot);
  return NOTHING;
};
