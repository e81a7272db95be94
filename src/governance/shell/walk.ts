import type {
  AndOr,
  ArithmeticExpression,
  Case,
  Command,
  CommandNode,
  CompoundList,
  Coproc,
  For,
  If,
  ParsedScript,
  Pipeline,
  PipelineNode,
  Select,
  Statement,
  While,
} from "unbash";
import { type Expanding, runSimpleCommand } from "./command.ts";
import { linksIn } from "./links.ts";
import { deliverBytes } from "./paths.ts";
import { redirect } from "./redirect.ts";
import { giveVariable } from "./state/assignments.ts";
import { joinShells } from "./state/joining.ts";
import { isEndless, startsWithoutEnd } from "./state/loops.ts";
import { flowsOfEach, runRounds, toAnyEnd } from "./state/rounds.ts";
import {
  copyForReading,
  copyShell,
  type Folders,
  type FunctionBody,
  noteEffect,
  noteUnknown,
  type Spot,
  sizeOf,
  spend,
} from "./state/state.ts";
import { toItsEnd } from "./state/traps.ts";
import { lookAtArithmetic, lookAtTest, startCounting } from "./values/arithmetic.ts";
import { expandParts, expandString, expandWord, expandWords } from "./values/expand.ts";
import { cameFrom, type Flow, FROM, joinFlows, NOTHING, OUTPUT, perhaps } from "./values/flow.ts";
import { joinWords } from "./values/join-words.ts";
import { known, type Text, unknown } from "./values/text.ts";

/** Looks at every statement in order, and gives what they print. */
export function runScript({ commands, errors }: ParsedScript, spot: Spot): Flow {
  const [error] = errors ?? [];
  // The parser recovers from mistakes, also in what is nested; the shell may read them otherwise.
  if (error) noteUnknown(spot, `cannot be parsed: ${error.message}`);
  return runStatements(commands, spot);
}

function runStatements(statements: readonly Statement[], spot: Spot): Flow {
  const [only] = statements;
  if (statements.length === 1 && only) return runStatement(only, spot);
  return joinFlows(flowsOfEach(statements, spot, (statement) => runStatement(statement, spot)));
}

function runStatement({ command, background }: Statement, spot: Spot): Flow {
  spend(spot, background ? sizeOf(spot.shell) : 1);
  if (background) spot.line.isReordered = true;
  if (!background) return runWhole(command, spot);
  const here = { ...spot, shell: copyShell(spot.shell), isForked: true };
  return toItsEnd(here, () => runWhole(command, here));
}

function runWhole(command: Statement["command"], spot: Spot): Flow {
  return command.type === "AndOr" ? runAndOr(command, spot) : runPipeline(command, spot);
}

/** Each part but the first may be left out; what is behind that begins as it was before. */
function runAndOr({ commands, operators }: AndOr, spot: Spot): Flow {
  const flows: Flow[] = [];
  let isSure = true;
  // One of two prints, where it is `… && echo a || echo b`.
  const mayBeNone = operators.join(" ") !== "&& ||";
  /** What goes on behind the next `&&`, and behind the next `||`. */
  const waiting: Record<AndOr["operators"][number], Spot["shell"] | undefined> = { "&&": undefined, "||": undefined };
  let { folders } = spot.shell;
  for (let at = 0; at < commands.length; at += 1) {
    const operator = at > 0 ? operators[at - 1] : undefined;
    if (operator) {
      isSure &&= operator === "&&" && isCd(commands[at - 1]);
      const { shell } = spot;
      spend(spot, sizeOf(shell));
      const isMoved = operator === "&&" && isChangeOfFolder(commands[at - 1], spot);
      const other = operator === "&&" ? "||" : "&&";
      // It was there, so this has not failed.
      const isThere = shell.folders === shell.reached && isCd(commands[at - 1]) && !shell.functions.has("cd");
      if (waiting[other]) joinShells(waiting[other], shell);
      else if (!isMoved || !isThere) waiting[other] = copyShell(shell);
      // A part behind `||` is reached when the one before failed: `cd` has not moved then.
      if (operator === "||" && !isThere) shell.folders = eitherFolder(shell.folders, folders);
      else if (isMoved) shell.folders = shell.reached;
      if (waiting[operator]) joinShells(shell, waiting[operator]);
      waiting[operator] = undefined;
    }
    folders = spot.shell.folders;
    const flow = runPipeline(commands[at] as PipelineNode, spot);
    flows.push(isSure ? flow : perhaps(flow, mayBeNone));
  }
  if (waiting["&&"]) joinShells(spot.shell, waiting["&&"]);
  if (waiting["||"]) joinShells(spot.shell, waiting["||"]);
  return joinFlows(flows);
}

const isCd = (node: PipelineNode | undefined) => node?.type === "Command" && node.name?.value === "cd";

/** Behind `&&` it has not failed. Where the folder could be several, one after the other was tried. */
function isChangeOfFolder(node: PipelineNode | undefined, { shell }: Spot): boolean {
  if (node?.type !== "Command" || node.name?.value !== "cd" || shell.functions.has("cd")) return false;
  return node.args.length === 1 && /^[\w./-]+$/.test(node.args[0]?.type === "Word" ? node.args[0].text : "");
}

const eitherFolder = (some: Folders, others: Folders) => [...new Set([...some, ...others])];

function runPipeline(node: PipelineNode, spot: Spot): Flow {
  if (node.type !== "Pipeline") return runNode(node, spot);
  return node.commands.length === 1 ? runNode(node.commands[0] as CommandNode, spot) : runPipes(node, spot);
}

function runPipes({ commands }: Pipeline, spot: Spot): Flow {
  let { input } = spot;
  const links = linksIn(spot.line);
  for (const [at, command] of commands.entries()) {
    spend(spot, sizeOf(spot.shell));
    const shell = at < commands.length - 1 ? copyForReading(spot.shell) : copyShell(spot.shell);
    const inside = { ...spot, shell, input, isForked: true };
    input = toItsEnd(inside, () => runNode(command, inside));
  }
  if (linksIn(spot.line) > links) spot.line.isReordered = true;
  return input;
}

function runNode(node: CommandNode, spot: Spot): Flow {
  if (node.type === "Command") return runSimple(node, spot);
  if (node.type === "Function") {
    spot.shell.functions.set(node.name.value, node.body);
    // The shell calls this one by itself, whenever and with whatever is not found.
    if (node.name.value === "command_not_found_handle") noteUnknown(spot, `makes the shell call ${node.name.value}`);
    return NOTHING;
  }
  if (node.type === "Coproc") return runCoprocess(node, spot);
  return runBody(node, spot);
}

/** Also the body of a function. */
export function runBody(node: FunctionBody, spot: Spot): Flow {
  switch (node.type) {
    case "CompoundList":
      return runStatements(node.commands, spot);
    case "Redirected": {
      const { input, output } = redirect(node.redirects, spot, { words: EXPANDING, keeps: false });
      // What is printed inside comes out of it, and goes there as a whole; until then the file may hold anything.
      const inner = { ...spot, shell: copyForReading(spot.shell), input };
      if (output.to === "file" && !output.appends) deliverBytes(OUTPUT, output, spot);
      const flow = runBody(node.command, inner);
      const channels = spot.shell.channels.copy();
      joinShells(spot.shell, inner.shell);
      spot.shell.channels.clear();
      for (const [key, channel] of channels) spot.shell.channels.set(key, channel);
      if (output.to === "output") return flow;
      deliverBytes(flow, output, spot);
      return NOTHING;
    }
    case "BraceGroup":
      return runStatements(node.body.commands, spot);
    case "Subshell":
      return runSubshell(node.body.commands, { ...spot, shell: copyShell(spot.shell) });
    case "If":
      return runIf(node, spot);
    case "For":
    case "Select":
      return runFor(node, spot);
    case "While":
      return runWhile(node, spot);
    case "ArithmeticFor":
      for (const one of [node.initialize, node.test, node.update]) compute(one, spot);
      startCounting(node.initialize, spot);
      if (!node.test && startsWithoutEnd(node.body)) noteBomb(spot);
      return repeat(spot, "", (round) => maybe(node.body, round));
    case "Case":
      return runCase(node, spot);
    case "TestCommand":
      lookAtTest(node.expression, spot, (word) => expandString(word, spot));
      return NOTHING;
    case "ArithmeticCommand":
      compute(node.expression, spot);
      return NOTHING;
  }
}

/** How words become texts, and functions are called. */
export const EXPANDING: Expanding = { words: expandWords, string: expandString, parts: expandParts, body: runBody };

function runSimple(node: Command, spot: Spot): Flow {
  return runSimpleCommand(node, spot, EXPANDING);
}

function runSubshell(statements: readonly Statement[], spot: Spot): Flow {
  return toItsEnd(spot, () => runStatements(statements, spot));
}

function runIf(node: If, spot: Spot): Flow {
  const flows = [runStatements(node.clause.commands, spot)];
  const branches: CompoundList[] = [node.then];
  for (const { clause, then } of node.elif) {
    flows.push(perhaps(maybe(clause, spot)));
    branches.push(then);
  }
  const others = branches.map((branch) => {
    spend(spot, sizeOf(spot.shell));
    const shell = copyShell(spot.shell);
    flows.push(perhaps(runStatements(branch.commands, { ...spot, shell }), !node.else));
    return shell;
  });
  // One of them runs, where there is an `else`.
  if (node.else) flows.push(perhaps(runStatements(node.else.commands, spot), false));
  for (const other of others) joinShells(spot.shell, other);
  return joinFlows(flows);
}

/** It may run, or not: afterwards both can be so. */
function maybe({ commands }: CompoundList, spot: Spot): Flow {
  spend(spot, sizeOf(spot.shell));
  const shell = copyShell(spot.shell);
  const flow = runStatements(commands, { ...spot, shell });
  joinShells(spot.shell, shell);
  return flow;
}

/** It may run again, with the links that it made. */
function repeat(spot: Spot, own: string, round: (spot: Spot) => Flow): Flow {
  const links = linksIn(spot.line);
  const flow = runRounds(spot, own, (one) => toAnyEnd(one, round));
  if (linksIn(spot.line) > links) spot.line.isReordered = true;
  return perhaps(flow);
}

function runFor({ type, name, wordlist, body }: For | Select, spot: Spot): Flow {
  const words = wordlist ? joinWords(wordlist).map((word) => expandWord(word, spot)) : [[spot.shell.positional]];
  const values = words.flat(2);
  // Otherwise some of them may be left out.
  const isSure = words.every((ways) => ways.length === 1) && (wordlist || !spot.shell.isShifted);
  const distinct: readonly Text[] = values.length > 64 ? [unknown("it can be too many things")] : values;
  const once = (outer: Spot): Flow => {
    const inner = { ...outer, shell: copyShell(outer.shell) };
    const flows = flowsOfEach(distinct.length === 0 ? [known("")] : distinct, spot, (value) => {
      giveVariable(name.value, [value.type === "found" ? { ...value, mayBeNone: false } : value], inner);
      const flow = toAnyEnd(inner, (one) => runStatements(body.commands, one));
      if (!isSure) joinShells(inner.shell, outer.shell);
      return flow;
    });
    joinShells(outer.shell, inner.shell);
    return joinFlows(flows);
  };
  const isCounted = type === "For" && distinct.every((value) => value.type === "known");
  return isCounted ? once(spot) : repeat(spot, name.value, once);
}

function runWhile(node: While, spot: Spot): Flow {
  if (isEndless(node) && startsWithoutEnd(node.body)) noteBomb(spot);
  return repeat(spot, "", (round) => joinFlows([runStatements(node.clause.commands, round), maybe(node.body, round)]));
}

function noteBomb(spot: Spot): void {
  noteEffect(spot, {
    kind: "system",
    what: "starts processes without end",
    instead: "Wait for each of them in the loop.",
  });
}

function runCase({ word, items }: Case, spot: Spot): Flow {
  expandString(word, spot);
  for (const { pattern } of items) for (const one of pattern) expandString(one, spot);
  const mayBeNone = !items.some(({ pattern }) => pattern.some((one) => one.text === "*"));
  return joinFlows(items.map(({ body }) => perhaps(maybe(body, spot), mayBeNone)));
}

/** What a co-process prints can be read, and what is written to it it reads. */
function runCoprocess({ name, body }: Coproc, spot: Spot): Flow {
  const inside: Spot = {
    ...spot,
    shell: copyShell(spot.shell),
    input: cameFrom(FROM.program | FROM.files | FROM.secret),
    isForked: true,
  };
  spot.line.isReordered = true;
  const flow = body.type === "Command" ? runSimple(body, inside) : runBody(body, inside);
  const array = name?.value ?? "COPROC";
  spot.shell.arrays.set(array, [known(`{${array}_0}`), known(`{${array}_1}`)]);
  spot.shell.channels.set(`{${array}_0}`, { reads: flow });
  spot.shell.channels.set(`{${array}_1}`, { writes: { to: "output" } });
  return NOTHING;
}

function compute(expression: ArithmeticExpression | undefined, spot: Spot): void {
  lookAtArithmetic(expression, spot, (parts) => expandParts(parts, spot));
}
