import type { Assignment, Command, Word, WordPart } from "unbash";
import { BUILTINS } from "./builtins.ts";
import { noteMade } from "./folders.ts";
import { deliverBytes } from "./paths.ts";
import { judgeProgram } from "./programs/run-program.ts";
import { afterExec, redirect } from "./redirect.ts";
import { judgeAssignment, judgeExported } from "./state/assignments.ts";
import { joinShells } from "./state/joining.ts";
import { setPositional } from "./state/positional.ts";
import { toAnyEnd } from "./state/rounds.ts";
import {
  copyShell,
  type FunctionBody,
  noteEffect,
  noteUnknown,
  outsideOf,
  SEVERAL,
  SEVERAL_BODIES,
  type Shell,
  type Spot,
  setArray,
  setVariable,
  sizeOf,
  spend,
  startedShell,
  UNSURE,
} from "./state/state.ts";
import { lookAtNumber } from "./values/arithmetic.ts";
import { type Flow, NOTHING, OUTPUT, oneOfFlows } from "./values/flow.ts";
import { lookAtPlace, lookAtRenaming } from "./values/hidden-commands.ts";
import { joinWords } from "./values/join-words.ts";
import { GAPS, placed, without } from "./values/lists.ts";
import { lookAtPrompt } from "./values/parameters.ts";
import {
  addChoice,
  combinations,
  describeText,
  joinTexts,
  known,
  MAX_SHOWN,
  type Text,
  textOf,
  unknown,
} from "./values/text.ts";

/** How words become texts, and functions are called; passed in, because they contain commands. */
export interface Expanding {
  words(words: readonly Word[], spot: Spot): Text[][];
  string(word: Word, spot: Spot): Text[];
  parts(parts: readonly WordPart[], spot: Spot): Text;
  body(body: FunctionBody, spot: Spot): Flow;
}

const isWord = ({ type }: Word | Assignment): boolean => type === "Word";
const isAssignment = (one: Command["prefix"][number]): one is Assignment => one.type === "Assignment";

/** What is set for one of these stays, where it is named there. */
const DECLARES = new Set(["export", "declare", "typeset", "local", "readonly"]);

/** A simple command: assignments, redirections, and what it is called with. */
export function runSimpleCommand(node: Command, outer: Spot, expanding: Expanding): Flow {
  const spot = afterExec(outer);
  if (!node.name) return runWithoutName(node, spot, expanding);
  if (node.prefix.length === 0) return runWith(node, spot.shell, { spot, expanding });
  // What a builtin or a function changes stays so, but for what is set for it alone.
  const isOwn = BUILTINS.has(node.name.value) || spot.shell.functions.has(node.name.value);
  const ways = isOwn ? waysOf(node, spot, expanding) : undefined;
  const shell = isOwn ? spot.shell : copyShell(spot.shell);
  const assignments = node.prefix.filter(isAssignment);
  const before = assignments.map(({ name }) => [name, spot.shell.variables.get(name)] as const);
  const onlyNow = assignments.filter(({ name }) => !shell.exported.has(name));
  for (const { name } of onlyNow) shell.exported.set(name, true);
  for (const one of assignments) assign(one, { ...spot, shell }, expanding, true);
  const flow = runWith(node, shell, { spot, expanding, ways });
  spot.shell.folders = shell.folders;
  const stays = DECLARES.has(node.name.value);
  for (const { name } of stays ? [] : onlyNow) shell.exported.delete(name);
  for (const [name, value] of isOwn ? before : [])
    if (stays) shell.variables.set(name, addChoice(value ?? [known("")], shell.variables.get(name) ?? []));
    else if (value) shell.variables.set(name, value);
    else shell.variables.delete(name);
  return flow;
}

interface Running {
  readonly spot: Spot;
  readonly expanding: Expanding;
  /** How its words can be read, where that was found out before. */
  readonly ways?: Text[][] | undefined;
}

/** With its redirections, in a shell that has what is set for it. */
function runWith(node: Command, shell: Shell, { spot, expanding, ways: read }: Running): Flow {
  const { redirects } = node;
  const opened = redirects.length > 0;
  const keeps = node.name?.value === "exec" && node.args.length === 0;
  const { input, output } = opened
    ? redirect(redirects, spot, { words: expanding, keeps })
    : { input: spot.input, output: spot.shell.channels.get("1")?.writes };
  if (opened && shell !== spot.shell)
    for (const [key, channel] of spot.shell.channels) shell.channels.set(key, channel);
  const ways = read ?? waysOf(node, spot, expanding);
  const inside = shell === spot.shell && !opened ? spot : { ...spot, shell, input };
  // With a redirection it may not be run.
  if (!opened && ways.length === 1 && node.name?.value === "mkdir" && !shell.functions.has("mkdir"))
    noteMade((ways[0] as Text[]).slice(1), inside);
  const flow =
    ways.length === 1
      ? runNamed(ways[0] as Text[], inside, expanding)
      : oneOfFlows(ways.map((words) => runOneWay(words, inside, expanding)));
  if (output === undefined || output.to === "output") return flow;
  deliverBytes(flow, output, spot);
  return NOTHING;
}

/** What one way changes, as `cd` does, the next one does not start with. */
function runOneWay(words: readonly Text[], spot: Spot, expanding: Expanding): Flow {
  spend(spot, sizeOf(spot.shell));
  const shell = copyShell(spot.shell);
  const flow = runNamed(words, { ...spot, shell }, expanding);
  joinShells(spot.shell, shell);
  return flow;
}

function runWithoutName(node: Command, spot: Spot, expanding: Expanding): Flow {
  for (const one of node.prefix) if (isAssignment(one)) assign(one, spot, expanding);
  if (node.redirects.length === 0) return NOTHING;
  const { input, output } = redirect(node.redirects, spot, { words: expanding, keeps: false });
  if (output.to !== "output") deliverBytes(NOTHING, output, spot);
  // `$(<file)` prints the file.
  return input;
}

/** Every way its words can be read; an assignment among the arguments, as of `export`, is one word. */
function waysOf(node: Command, spot: Spot, expanding: Expanding): Text[][] {
  const words: readonly (Word | Assignment)[] = [node.name as Word, ...node.args];
  if (node.args.every(isWord)) return expanding.words(words as readonly Word[], spot);
  for (const [at, word] of words.entries()) {
    if (word.type !== "Assignment") continue;
    for (const index of word.index ? expanding.string(word.index, spot) : []) lookAtNumber(index, spot);
    // The parser ends it at `<(`.
    if (words[at + 1]?.pos === word.end) noteUnknown(spot, `sets ${word.name} to a process`);
  }
  const choices = words.map((word) =>
    word.type === "Word"
      ? expanding.words([word], spot)
      : valuesOf(word, spot, expanding).map((value) => [
          joinTexts([known(`${word.name}${word.append ? "+" : ""}=`), value]),
        ]),
  );
  return combinations(choices)?.map((way) => way.flat()) ?? [words.map(() => unknown("it can be too many things"))];
}

function valuesOf({ value }: Assignment, spot: Spot, expanding: Expanding): Text[] {
  if (value.type === "Word") return expanding.string(value, spot);
  for (const element of joinWords(value.elements)) {
    expanding.words([element], spot);
    lookAtPlace(element, spot);
  }
  return [known("(…)")];
}

const inOtherLetters = (text: Text): Text[] =>
  text.type === "known" ? [known(text.text.toLowerCase()), known(text.text.toUpperCase())] : [];

/** Variables whose value the shell expands by itself, with the commands in it. */
const PROMPTS = new Set(["PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND"]);

/** Sets a variable; the line afterwards, or one command alone, sees it. */
function assign(one: Assignment, spot: Spot, expanding: Expanding, isForCommand = false): void {
  const { shell } = spot;
  const { name } = one;
  lookAtRenaming(name, spot);
  if (one.value.type === "ArrayValue") {
    let elements = one.append ? (shell.arrays.get(name) ?? []) : [];
    for (const word of joinWords(one.value.elements)) {
      const [only = [], ...more] = expanding.words([word], spot);
      const texts = more.length > 0 ? [SEVERAL] : only;
      lookAtPlace(word, spot);
      const [start, index] = /^\[([^\]]*)\]\+?=/.exec(word.text) ?? [];
      elements = start
        ? placed(elements, known(index ?? ""), { spot, value: without(start, texts) })
        : [...elements, ...texts];
    }
    // An array could be doubled with each assignment.
    spend(spot, elements.length);
    setArray(shell, name, elements);
    judgeExported(name, elements, spot);
    return;
  }
  const values = expanding.string(one.value, spot);
  if (one.index) {
    const [index = known("")] = expanding.string(one.index, spot);
    spend(spot, (shell.arrays.get(name)?.length ?? 0) >> 4);
    const [value = known(""), ...more] = values;
    const list = shell.arrays.get(name) ?? shell.variables.get(name) ?? [];
    setArray(shell, name, placed(list, index, { spot, value: more.length > 0 ? GAPS : value }));
    judgeExported(name, values, spot);
    return;
  }
  const before = one.append ? (shell.variables.get(name) ?? [known("")]) : [known("")];
  const given = one.append ? before.flatMap((start) => values.map((value) => joinTexts([start, value]))) : values;
  const isCased = shell.changing.get(name) === "letters";
  const all = isCased ? given.flatMap((text) => [text, ...inOtherLetters(text)]) : given;
  const made = addChoice([], all);
  for (const value of made) {
    spend(spot, textOf(value).length >> 9);
    if (shell.changing.get(name) === "number") lookAtNumber(value, spot);
    if (PROMPTS.has(name)) lookAtPrompt(value, spot);
  }
  // It makes `*` mean hidden names as well.
  if (name === "GLOBIGNORE") noteUnknown(spot, "changes what patterns mean");
  setVariable(shell, name, made);
  if (isForCommand) for (const value of made) judgeAssignment(name, value, spot);
  else judgeExported(name, made, spot);
}

function runNamed(words: readonly Text[], spot: Spot, expanding: Expanding): Flow {
  const tree = { command: shown(words), effects: [], inner: [] };
  spot.tree.inner.push(tree);
  return dispatch(words, { ...spot, tree }, expanding);
}

function shown(words: readonly Text[]): string {
  let text = "";
  for (const word of words) {
    text += text === "" ? describeText(word) : ` ${describeText(word)}`;
    if (text.length > MAX_SHOWN) return `${text.slice(0, MAX_SHOWN)}…`;
  }
  return text;
}

function dispatch(words: readonly Text[], spot: Spot, expanding: Expanding): Flow {
  const [name] = words;
  if (!name) return NOTHING;
  const args = words.slice(1);
  if (name.type !== "known") {
    const instead = "Write the name of the program itself.";
    noteUnknown(spot, `runs a program that cannot be told: ${describeText(name)}`, instead);
    return { from: 0 };
  }
  if (/\s/.test(name.text) && !name.text.includes("/")) {
    noteUnknown(spot, `runs a program with spaces in its name: ${name.text}`);
    return OUTPUT;
  }
  const body = spot.shell.functions.get(name.text);
  if (body) {
    const before = UNSURE.has(body) ? copyShell(spot.shell) : undefined;
    const flow = callFunction({ name: name.text, body, args }, spot, expanding);
    if (before) joinShells(spot.shell, before);
    // Behind `command`, `env` and their like it is the program of that name; an alias may not be expanded.
    if (!before && spot.outer?.get(name.text) !== body) return flow;
  }
  const builtin = BUILTINS.get(name.text);
  if (builtin) return builtin({ name: name.text, args, spot });
  const outside = spot.shell.functions.size > 0 ? outsideOf(spot) : spot;
  const shell = startedShell(spot);
  return judgeProgram({ name: name.text, args, spot: shell === spot.shell ? outside : { ...outside, shell } });
}

/** How often a function is looked at that calls itself; the last time with anything. */
const MAX_DEPTH = 3;

interface FunctionCall {
  readonly name: string;
  readonly body: FunctionBody;
  readonly args: readonly Text[];
}

function callFunction({ name, body, args }: FunctionCall, spot: Spot, expanding: Expanding): Flow {
  if (body === SEVERAL_BODIES) noteUnknown(spot, `calls ${name}, which is defined in several ways`);
  const depth = spot.calls.filter((call) => call === body).length;
  if (depth > 0 && spot.isForked) noteEffect(spot, { kind: "system", what: `${name} starts itself without end` });
  if (depth > MAX_DEPTH || (depth > 0 && spot.isForked)) return NOTHING;
  const shell: Shell = spot.shell;
  const { positional, isShifted } = shell;
  const [variables, locals] = [shell.variables.copy(), shell.locals.copy()];
  shell.locals.clear();
  setPositional(shell, depth < MAX_DEPTH ? args : [SEVERAL]);
  const isForked = spot.isForked && spot.calls.length > 0;
  const inside = { ...spot, calls: [...spot.calls, body], left: [], isForked };
  const flow = toAnyEnd(inside, (one) => expanding.body(body, one));
  for (const [local] of shell.locals) {
    const before = variables.get(local);
    if (before) shell.variables.set(local, before);
    else shell.variables.delete(local);
  }
  shell.locals.clear();
  for (const [local] of locals) shell.locals.set(local, true);
  Object.assign(shell, { positional, isShifted });
  return flow;
}

/** For wrappers: words that are a command. */
export function runWords(words: readonly Text[], spot: Spot, expanding: Expanding): Flow {
  if (words.length === 0) return NOTHING;
  spend(spot, words.length);
  return runNamed(words, spot, expanding);
}
