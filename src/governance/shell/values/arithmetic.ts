import type { ArithmeticExpression, TestExpression, Word, WordPart } from "unbash";
import { giveVariable } from "../state/assignments.ts";
import { copyForReading, noteEffect, noteUnknown, type Spot, spend } from "../state/state.ts";
import { FROM } from "./flow.ts";
import { lookAtCommands, lookAtQuotes, lookAtRenaming } from "./hidden-commands.ts";
import { aNumber, MAX_SHOWN, type Text, textOf, unknown } from "./text.ts";

/** How words in arithmetic become texts; passed in, because words contain arithmetic. */
export type ExpandParts = (parts: readonly WordPart[]) => Text;

const NAME = /[A-Za-z_]\w*/g;
const ARGUMENT = /\$\{?[\d@*]/;

/** Arithmetic can run commands: in substitutions, and in subscripts of arrays. */
export function lookAtArithmetic(expression: ArithmeticExpression | undefined, spot: Spot, expand: ExpandParts): void {
  if (!expression) return;
  const look = (one: ArithmeticExpression) => lookAtArithmetic(one, spot, expand);
  switch (expression.type) {
    case "ArithmeticBinary":
      look(expression.left);
      look(expression.right);
      break;
    case "ArithmeticUnary":
      look(expression.operand);
      break;
    case "ArithmeticTernary":
      for (const one of [expression.test, expression.consequent, expression.alternate]) look(one);
      break;
    case "ArithmeticGroup":
      look(expression.expression);
      break;
    case "ArithmeticCommandExpansion":
      if (expression.script)
        spot.line.engine.runScript(expression.script, { ...spot, shell: copyForReading(spot.shell) });
      else noteUnknown(spot, `runs something in arithmetic that cannot be parsed: ${expression.text}`);
      break;
    case "ArithmeticWord":
      if (expression.parts) lookAtNumber(expand(expression.parts), spot);
      lookAtQuotes(expression.parts, spot);
      lookAtNames(expression.value, spot);
  }
}

/** What `for ((i = 0; …))` begins with sets its variables to numbers, and they stay that. */
export function startCounting(start: ArithmeticExpression | undefined, spot: Spot): void {
  if (start?.type !== "ArithmeticBinary") return;
  if (start.operator === ",") for (const one of [start.left, start.right]) startCounting(one, spot);
  if (start.operator !== "=" || start.left.type !== "ArithmeticWord") return;
  if (/^[A-Za-z_]\w*$/.test(start.left.value)) giveVariable(start.left.value, [aNumber], spot);
}

/** A text that is used as a number. */
export function lookAtNumber(text: Text, spot: Spot): void {
  lookAtCommands(textOf(text), spot);
  lookAtSubscript(text, spot);
  lookAtNames(textOf(text), spot);
}

/** The value of a variable is evaluated again, as arithmetic, and so are those of the names in it. */
function lookAtNames(word: string, spot: Spot, seen = new Set<string>()): void {
  const { variables, arrays, positional } = spot.shell;
  spend(spot, word.length >> 9);
  // Arguments stand there as they were given.
  if (ARGUMENT.test(word) && !seen.has("")) {
    seen.add("");
    for (const value of positional) {
      lookAtSubscript(value, spot);
      lookAtNames(textOf(value), spot, seen);
    }
  }
  for (const [name] of word.matchAll(NAME)) {
    if (seen.has(name)) continue;
    seen.add(name);
    // It may be set there. What any other variable would become is a number.
    if (name === "IFS" || name === "PATH") giveVariable(name, [unknown("it is computed with")], spot);
    for (const value of [...(variables.get(name) ?? []), ...(arrays.get(name) ?? [])]) {
      lookAtSubscript(value, spot);
      lookAtNames(textOf(value), spot, seen);
      if (value.type === "unknown" && (value.from ?? 0) & (FROM.network | FROM.decoded))
        noteEffect(spot, { kind: "code", what: `computes with $${name}, and ${value.why}` });
    }
  }
}

/** A text that is used as a number, or as the name of a variable: a subscript in it is evaluated, with the commands in that. */
export function lookAtSubscript(text: Text, spot: Spot): void {
  const said = textOf(text);
  lookAtRenaming(said, spot);
  const at = said.indexOf("[");
  if (at >= 0 && (said.includes("$(", at) || said.includes("`", at)))
    noteUnknown(spot, `runs a command in a subscript: ${said.slice(0, MAX_SHOWN)}`);
}

const COMPARES_NUMBERS = /^-(?:eq|ne|lt|le|gt|ge)$/;

export function lookAtTest(test: TestExpression, spot: Spot, expand: (word: Word) => Text[]): void {
  const look = (one: TestExpression) => lookAtTest(one, spot, expand);
  switch (test.type) {
    case "TestUnary":
      for (const text of expand(test.operand)) if (test.operator === "-v") lookAtSubscript(text, spot);
      break;
    case "TestBinary":
      for (const text of [...expand(test.left), ...expand(test.right)])
        if (COMPARES_NUMBERS.test(test.operator)) lookAtNumber(text, spot);
      break;
    case "TestLogical":
      for (const operand of test.operands) look(operand);
      break;
    case "TestNot":
      look(test.operand);
      break;
    case "TestGroup":
      look(test.expression);
  }
}
