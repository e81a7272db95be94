import type { ParameterExpansionPart, ParameterOperation, Word } from "unbash";
import { giveVariable } from "../state/assignments.ts";
import { noteUnknown, SEVERAL, type Shell, type Spot, spend } from "../state/state.ts";
import { lookAtNumber, lookAtSubscript } from "./arithmetic.ts";
import { FROM } from "./flow.ts";
import { lookAtOperation, lookAtRenaming } from "./hidden-commands.ts";
import { folderPart, isFolders, lastPart, otherEnding, otherPart, withoutEnding } from "./renamed.ts";
import {
  addChoice,
  aNumber,
  asPattern,
  beforePattern,
  folderBefore,
  isPattern,
  known,
  MAX_CHOICES,
  MAX_TEXT,
  plainWord,
  type Text,
  unknown,
} from "./text.ts";

type Expand = (word: Word) => Text[];
type Ways = (readonly Text[])[];

/** What `$name` can be: each way a list, which has one member but for `$@` and its like. */
export function variableTexts(name: string, { line, shell }: Spot): Ways {
  if (name === "@" || name === "*") return positionalWays(shell);
  if (name === "0") return [[shell.self]];
  if (/^\d+$/.test(name)) {
    if (shell.positional.includes(SEVERAL)) return [[SEVERAL]];
    return addChoice(
      [],
      positionalWays(shell).map((way) => way[Number(name) - 1] ?? known("")),
    ).map((text) => [text]);
  }
  if (/^[?#$!]$/.test(name)) return [[aNumber]];
  if (name === "-" || name === "RANDOM" || name === "SECONDS" || name === "LINENO") return [[plainWord]];
  if (name === "PWD")
    return [
      ...(shell.variables.get(name) ?? []),
      ...shell.folders.map(
        (folder): Text =>
          folder === undefined
            ? unknown("where it is cannot be told")
            : isPattern(folder)
              ? { type: "glob", text: folder }
              : known(folder),
      ),
    ].map((text) => [text]);
  if (name === "PPID") return [[{ type: "unknown", why: "it is the process that started this", from: FROM.agents }]];
  const list = shell.arrays.get(name);
  if (OF_SHELL.test(name)) return [[unknown(`the shell sets $${name}`)]];
  const [own, first] = [shell.variables.get(name), list && [list[0] ?? known("")]];
  const choices = own && first ? addChoice(own, first) : (own ?? first);
  if (choices) return choices.map((text) => [text]);
  if (name === "HOME") return [[known(line.place.home)]];
  return name === "TMPDIR" ? [[known(line.place.temporary)]] : [[unknown(`nothing tells what $${name} is`)]];
}

/** The shell sets them by itself, whatever was assigned to them. */
const OF_SHELL = /^(?:_|OLDPWD|DIRSTACK|FUNCNAME|SHELL|BASH|BASH_(?:REMATCH|ARGV0?|COMMAND|EXECUTION_STRING))$/;

const isUnset = (name: string, { shell }: Spot): boolean =>
  /^[A-Za-z_]/.test(name) &&
  !/^(?:PWD|PPID|HOME|TMPDIR)$/.test(name) &&
  !OF_SHELL.test(name) &&
  !shell.variables.has(name) &&
  !shell.arrays.has(name);

/** Every list that `$@` can be. */
function positionalWays({ positional, isShifted }: Shell): Ways {
  if (!isShifted || positional.length === 0) return [positional];
  if (positional.length >= MAX_CHOICES) return [[SEVERAL]];
  return [...positional.map((_, at) => positional.slice(at)), []];
}

export function parameterText(part: ParameterExpansionPart, spot: Spot, expand: Expand): Ways {
  const { parameter, prefix, index, operation } = part;
  if (operation) lookAtOperation(operation, spot);
  for (const word of wordsIn(operation)) expand(word);
  for (const word of numbersIn(part)) for (const text of expand(word)) lookAtNumber(text, spot);
  if (prefix === "#") return [[aNumber]];
  if (prefix === "!") return operation || index ? [[unknown("it names another variable")]] : indirect(parameter, spot);
  const values = index ? element(parameter, index, spot) : variableTexts(parameter, spot);
  if (!operation) return values;
  const isPositional = parameter === "@" || parameter === "*";
  const isList = isPositional || index?.value === "@" || index?.value === "*";
  // `$0` is the first of those.
  return values.flatMap((texts) => {
    const value = operation.type === "Slice" && isPositional ? [spot.shell.self, ...texts] : texts;
    return operated(operation, { value, parameter, spot, expand, isList });
  });
}

/** Words that are used as numbers. */
function numbersIn({ index, operation }: ParameterExpansionPart): Word[] {
  const slice = operation?.type === "Slice" ? [operation.offset, operation.length] : [];
  return [index, ...slice].filter((word) => word !== undefined);
}

/** Words in braces are expanded, and the commands in them run, whatever becomes of the value. */
function wordsIn(operation: ParameterOperation | undefined): Word[] {
  switch (operation?.type) {
    case "Replace":
      return [operation.pattern, operation.replacement];
    case "Remove":
      return [operation.operand];
    case "CaseModification":
      return operation.operand ? [operation.operand] : [];
    default:
      return [];
  }
}

function indirect(parameter: string, spot: Spot): Ways {
  return variableTexts(parameter, spot).flatMap(([name]) => {
    if (name) lookAtSubscript(name, spot);
    if (name?.type !== "known") return [[unknown("it names another variable")]];
    return variableTexts(name.text, spot);
  });
}

function element(name: string, index: Word, { shell }: Spot): Ways {
  const all = OF_SHELL.test(name) ? undefined : shell.arrays.get(name);
  if (!all) return [[unknown(`nothing tells what \${${name}[…]} is`)]];
  if (index.value === "@" || index.value === "*") return [all];
  const isCounted = /^-?\d+$/.test(index.value) && all.every(({ type }) => type === "known");
  const one = isCounted ? all.at(Number(index.value)) : undefined;
  // Where there is nothing, it is nothing.
  const others = shell.variables.get(name) ?? (one ? [] : [known("")]);
  return addChoice(one ? [one] : all, others).map((text) => [text]);
}

/** Some of a list: which they are is only known where each is one. */
function slicedList({ offset, length }: Extract<ParameterOperation, { type: "Slice" }>, list: readonly Text[]): Text[] {
  const [from, count] = [Number(offset.value), length ? Number(length.value) : list.length];
  if (!(from > 0 && count >= 0) || list.some(({ type }) => type !== "known")) return [SEVERAL];
  return list.slice(from, from + count);
}

interface Operated {
  readonly isList: boolean;
  readonly value: readonly Text[];
  readonly parameter: string;
  readonly spot: Spot;
  readonly expand: Expand;
}

function operated(operation: ParameterOperation, { value, parameter, spot, expand, isList }: Operated): Ways {
  const [only] = value;
  if (operation.type === "Slice" && isList) return [slicedList(operation, value)];
  if (operation.type === "Default") {
    const other = expand(operation.operand).map((text) => [text]);
    if (operation.operator.includes("=")) lookAtRenaming(parameter, spot);
    if (operation.operator.includes("?"))
      return [value.map((text) => (text.type === "found" ? { ...text, mayBeNone: false } : text))];
    if (operation.operator.includes("+")) return [[known("")], ...other];
    if (only?.type === "known" && only.text !== "") return [value];
    // What this line does not set is taken for not set.
    const ways = isUnset(parameter, spot) && other.length > 0 ? other : [value, ...other];
    if (operation.operator.includes("="))
      giveVariable(parameter, addChoice(spot.shell.variables.get(parameter) ?? [], ways.flat()), spot);
    return ways;
  }
  if (operation.type === "Transform" && operation.operand.value === "P")
    for (const text of value) lookAtPrompt(text, spot);
  if ((only?.type === "found" || only?.type === "glob") && value.length === 1 && operation.type === "Remove") {
    const made = withoutPart(operation, only, expand);
    if (made) return made.map((text) => [text]);
  }
  const others = only && value.length === 1 && operation.type === "Replace" && otherNames(operation, only, expand);
  if (others) return others.map((text) => [text]);
  if (only?.type !== "known" || value.length !== 1) return [[unknown(`nothing tells what \${${parameter}…} is`)]];
  spend(spot, only.text.length >> 8);
  const made = changedText(operation, only.text, expand);
  return [[made === undefined ? unknown(`\${${parameter}…} is not computed`) : known(made)]];
}

/** A name with something in it replaced, at its end or in between. */
function otherNames(
  { operator, pattern, replacement }: Extract<ParameterOperation, { type: "Replace" }>,
  name: Text,
  expand: Expand,
): readonly Text[] | undefined {
  const [part, by] = [literalOf(expand(pattern)), literalOf(expand(replacement))];
  if (part === undefined || by === undefined || operator === "/#") return undefined;
  return operator === "/%" ? otherEnding(name, part, by) : otherPart(name, part, { by, isEvery: operator === "//" });
}

/** Names without their ending, their beginning, their folder or their last part. */
function withoutPart(
  { operator, operand }: Extract<ParameterOperation, { type: "Remove" }>,
  names: Extract<Text, { type: "glob" | "found" }>,
  expand: Expand,
): Text[] | undefined {
  const [only, ...more] = expand(operand);
  if (!only || more.length > 0 || (only.type !== "known" && only.type !== "glob")) return undefined;
  if (isFolders(names) && only.text !== "*/") return undefined;
  const isEnd = operator.startsWith("%");
  const { text } = names;
  if (only.type === "known") {
    if (isEnd) return only.text.includes("/") ? undefined : [withoutEnding(names, only.text)];
    const start = asPattern(only.text);
    return beforePattern(text).startsWith(only.text) ? [{ ...names, text: text.slice(start.length) }] : undefined;
  }
  if (operator === "##" && only.text === "*/") return lastPart(names);
  if (operator === "%" && only.text === "/*") {
    const folders = folderPart(names);
    // Names without a slash stay as they are.
    return /[^*]\//.test(text) ? folders : names.type === "glob" ? [names] : folders?.concat(lastPart(names) ?? []);
  }
  const sign = isEnd ? /^([\w.+,%~-])\*$/.exec(only.text)?.[1] : /^\*([\w.+,%~-])$/.exec(only.text)?.[1];
  if (sign === undefined) return undefined;
  const behind = text.slice(Math.max(text.lastIndexOf("*"), text.lastIndexOf("?"), text.lastIndexOf("]")) + 1);
  const isLast = isEnd === (operator.length === 1);
  const start = beforeWildcards(text);
  // Where it stands is sure behind all wildcards for the last one, and before all of them for the first.
  const at = isLast ? text.length - behind.length + behind.lastIndexOf(sign) : start.indexOf(sign);
  const cut = { ...names, text: isEnd ? text.slice(0, at) : text.slice(at + 1) };
  if (isLast ? behind.includes(sign) : at >= 0) return [cut];
  if (!isEnd) return undefined;
  // Otherwise it is somewhere in what a wildcard means, before that, or nowhere.
  const any = { ...names, text: names.type === "found" ? `${folderBefore(text)}**/*` : `${start}*` };
  return start.includes(sign)
    ? [any, names, { ...names, text: start.slice(0, start.lastIndexOf(sign)) }]
    : [any, names];
}

const beforeWildcards = (pattern: string): string => /^(?:\\.|[^*?[\\])*/.exec(pattern)?.[0] ?? "";

/** What is expanded like a prompt, as by `${x@P}`: the commands in it run. */
export function lookAtPrompt(text: Text, spot: Spot): void {
  if (text.type !== "known" || /\$\(|`/.test(text.text))
    noteUnknown(spot, "runs what stands in a variable, as part of a prompt");
}

const literalOf = (texts: readonly Text[]): string | undefined =>
  texts.length === 1 && texts[0]?.type === "known" ? texts[0].text : undefined;

function changedText(operation: ParameterOperation, text: string, expand: Expand): string | undefined {
  switch (operation.type) {
    case "Slice": {
      const [from, length] = [operation.offset, operation.length].map((word) =>
        word ? Number(word.value) : undefined,
      );
      if (from === undefined || Number.isNaN(from) || Number.isNaN(length ?? 0)) return undefined;
      // From before its beginning there is nothing.
      const rest = -from > text.length ? "" : text.slice(from);
      return length === undefined ? rest : length < 0 ? rest.slice(0, length) : rest.slice(0, length);
    }
    case "Replace": {
      const [pattern, by] = [literalOf(expand(operation.pattern)), literalOf(expand(operation.replacement))];
      if (pattern === undefined || by === undefined || pattern === "") return undefined;
      if (operation.operator === "//") {
        const pieces = text.split(pattern);
        return pieces.length * by.length > MAX_TEXT ? undefined : pieces.join(by);
      }
      return operation.operator === "/" ? text.replace(pattern, () => by) : undefined;
    }
    case "Remove":
      return removed(operation, text, expand);
    case "CaseModification": {
      if (operation.operand) return undefined;
      const [upper, every] = [operation.operator.startsWith("^"), operation.operator.length === 2];
      const change = (part: string) => (upper ? part.toUpperCase() : part.toLowerCase());
      return every ? change(text) : change(text.slice(0, 1)) + text.slice(1);
    }
    default:
      return undefined;
  }
}

/** `${x#…}` and `${x%…}` with a plain text, or a star at the end that can be anything. */
function removed(
  { operator, operand }: Extract<ParameterOperation, { type: "Remove" }>,
  text: string,
  expand: Expand,
): string | undefined {
  const [only, ...more] = expand(operand);
  if (!only || more.length > 0 || (only.type !== "known" && only.type !== "glob")) return undefined;
  const isStart = operator.startsWith("#");
  const star = only.type === "glob" && /^\*[^*?[\\]+$/.test(only.text) === isStart && only.text.includes("*");
  if (only.type === "glob" && !star) return undefined;
  const plain = only.text.replace("*", "");
  if (/[*?[\\]|[+@!]\(/.test(plain)) return undefined;
  if (!star) {
    if (isStart) return text.startsWith(plain) ? text.slice(plain.length) : text;
    return text.endsWith(plain) ? text.slice(0, text.length - plain.length) : text;
  }
  const isLongest = operator.length === 2;
  const at = isStart === isLongest ? text.lastIndexOf(plain) : text.indexOf(plain);
  if (at < 0) return text;
  return isStart ? text.slice(at + plain.length) : text.slice(0, at);
}
