import type { Names } from "../values/names.ts";
import { addChoice } from "../values/text.ts";
import { NOT_SET, SEVERAL, SEVERAL_BODIES, type Shell, UNSURE } from "./state.ts";

/** Afterwards the shell is in one state or the other. */
export function joinShells(shell: Shell, other: Shell): void {
  if (!shell.variables.isSame(other.variables)) {
    for (const [name, choices] of other.variables) {
      const own = shell.variables.get(name) ?? NOT_SET;
      if (own !== choices) shell.variables.set(name, addChoice(own, choices));
    }
    for (const [name, own] of shell.variables)
      if (!other.variables.has(name)) shell.variables.set(name, addChoice(own, NOT_SET));
  }
  joinArrays(shell, other.arrays);
  addNames(shell.exported, other.exported);
  joinFunctions(shell.functions, other.functions);
  addNames(shell.channels, other.channels);
  addNames(shell.locals, other.locals);
  addNames(shell.fixed, other.fixed);
  addNames(shell.changing, other.changing);
  if (shell.made !== other.made) shell.made = madeInBoth(shell.made, other.made);
  if (shell.folders !== other.folders) shell.folders = [...new Set([...shell.folders, ...other.folders])];
  if (shell.left !== other.left) shell.left = [...new Set([...shell.left, ...other.left])];
  if (shell.stack !== other.stack) shell.stack = [];
  joinPositional(shell, other);
}

/** Of two lists of which one is the end of the other, it is the longer one, or an end of that. */
function joinPositional(shell: Shell, other: Shell): void {
  shell.isShifted ||= other.isShifted;
  const [one, two] = [shell.positional, other.positional];
  if (one === two) return;
  const [short, long] = one.length < two.length ? [one, two] : [two, one];
  const isEnd = short.every((text, at) => text === long[long.length - short.length + at]);
  shell.positional = isEnd ? long : [SEVERAL];
  if (short.length < long.length) shell.isShifted = true;
}

/** A list to which something was added may be the longer one; others cannot be told. Behind the shorter one there may be nothing. */
function joinArrays({ arrays, variables }: Shell, others: Shell["arrays"]): void {
  if (arrays.isSame(others)) return;
  for (const name of new Set([...arrays, ...others].map(([one]) => one))) {
    const [one, two] = [arrays.get(name) ?? [], others.get(name) ?? []];
    if (one === two) continue;
    const [short, long] = one.length < two.length ? [one, two] : [two, one];
    arrays.set(name, short.every((text, at) => text === long[at]) ? long : [SEVERAL]);
    variables.set(name, addChoice(variables.get(name) ?? [], NOT_SET));
  }
}

/** A function that may not be defined, or otherwise, is called with what else has its name. */
function joinFunctions(own: Shell["functions"], others: Shell["functions"]): void {
  if (own.isSame(others)) return;
  for (const [name, body] of own) if (!others.has(name)) UNSURE.add(body);
  for (const [name, body] of others) {
    const before = own.get(name);
    if (before === body) continue;
    if (!before) UNSURE.add(body);
    own.set(name, before ? SEVERAL_BODIES : body);
  }
}

function addNames<V>(own: Names<V>, others: Names<V>): void {
  if (!own.isSame(others)) for (const [name, value] of others) own.set(name, value);
}

/** Only that is sure to be there, if nothing is gone since the first of them. */
function madeInBoth(own: Shell["made"], others: Shell["made"]): Shell["made"] {
  const made = new Map<string, number>();
  for (const [name, at] of own) {
    const other = others.get(name);
    if (other !== undefined) made.set(name, Math.min(at, other));
  }
  return made;
}
