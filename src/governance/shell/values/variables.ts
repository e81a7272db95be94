import { isOurSetting, judgeAssignment } from "../assignments.ts";
import type { Behaviour, ProgramCall } from "../call.ts";
import { readArguments } from "../options.ts";
import { absolutePaths, reads } from "../paths.ts";
import { noteEffect, noteUnknown } from "../state.ts";
import { lookAtSubscript } from "./arithmetic.ts";
import { cameFrom, type Flow, FROM, NOTHING, textOfFlow } from "./flow.ts";
import { printedByFormat } from "./printed.ts";
import { describeText, known, plainWord, type Text, textOf, unknown } from "./text.ts";

/** `export`, `declare`, `local`, `readonly` and their like. */
export const declareVariables: Behaviour = ({ name, args, spot }) => {
  const { shell } = spot;
  const given = readArguments(args, {});
  const exports = name === "export" || given.has("x");
  if (name !== "local" && (given.operands.length === 0 || given.has("p"))) return showVariables(spot);
  for (const operand of given.operands) {
    const [, variable, appends, value] = /^([A-Za-z_]\w*)(\+)?=(.*)$/s.exec(textOf(operand)) ?? [];
    if (variable === undefined) {
      if (exports && operand.type === "known") exportVariable(operand.text, spot);
      else if (operand.type !== "known")
        noteUnknown(spot, `sets a variable that cannot be told: ${describeText(operand)}`);
      continue;
    }
    if (given.has("n")) {
      shell.references.set(variable, value ?? "");
      continue;
    }
    if (value === "(…)") continue;
    if (given.has("i")) lookAtSubscript(operand, spot);
    const before = appends ? (shell.variables.get(variable) ?? []) : [];
    const cased = given.has("l") ? value?.toLowerCase() : given.has("u") ? value?.toUpperCase() : value;
    const made: Text = operand.type === "known" ? known(cased ?? "") : { type: "glob", text: cased ?? "" };
    if (name === "local") shell.locals.set(variable, true);
    if (name === "readonly" || given.has("r")) shell.fixed.set(variable, true);
    shell.variables.set(variable, [...before, made]);
    if (exports) exportVariable(variable, spot);
  }
  return NOTHING;
};

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
    lookAtSubscript(operand, spot);
    if (isOurSetting(textOf(operand)))
      noteEffect(spot, { kind: "ours", what: `takes away a setting of an agent or of prloom: ${textOf(operand)}` });
    if (given.has("f")) spot.shell.functions.delete(textOf(operand));
    else if (!spot.shell.fixed.has(textOf(operand))) spot.shell.variables.set(textOf(operand), [known("")]);
  }
  return NOTHING;
};

/** Variables get what is read: the whole of it, as far as that is known. */
export const read: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "a d i n N p t u" });
  const [descriptor] = given.values("u");
  const flow = descriptor ? (spot.shell.channels.get(textOf(descriptor))?.reads ?? cameFrom(FROM.program)) : spot.input;
  const value = textOfFlow(flow);
  for (const name of given.operands.length > 0 ? given.operands : [known("REPLY")]) {
    lookAtSubscript(name, spot);
    spot.shell.variables.set(textOf(name), [value]);
  }
  for (const name of given.values("a")) spot.shell.arrays.set(textOf(name), [value]);
  return NOTHING;
};

export const mapfile: Behaviour = ({ args, spot }) => {
  const { operands } = readArguments(args, { valued: "d n O s u C c" });
  spot.shell.arrays.set(textOf(operands[0] ?? known("MAPFILE")), [textOfFlow(spot.input)]);
  return NOTHING;
};

export const getopts: Behaviour = ({ args, spot }) => {
  const name = args[1];
  if (name) spot.shell.variables.set(textOf(name), [plainWord]);
  spot.shell.variables.set("OPTARG", [unknown("nothing tells what $OPTARG is")]);
  return NOTHING;
};

/** `printf -v` sets a variable. */
export const print: Behaviour = ({ args, spot }) => {
  const [option, name, ...rest] = args;
  if (!option || !name || textOf(option) !== "-v") return printedByFormat(args);
  lookAtSubscript(name, spot);
  spot.shell.variables.set(textOf(name), [textOfFlow(printedByFormat(rest))]);
  return NOTHING;
};
