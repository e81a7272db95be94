import type { Behaviour } from "../../call.ts";
import { readArguments } from "../../options.ts";
import {
  absolutePaths,
  contentOf,
  descriptorOf,
  noteSecrets,
  patches,
  reads,
  store,
  takenPatches,
  unpacksInto,
  worksHere,
  writes,
  writtenBefore,
} from "../../paths.ts";
import { picked } from "../../processes.ts";
import { noteEffect, noteUnknown, type Spot } from "../../state/state.ts";
import {
  beforeColon,
  changed,
  type Flow,
  FROM,
  joinFlows,
  NOTHING,
  OUTPUT,
  someOf,
  TERMINAL,
} from "../../values/flow.ts";
import { otherEnding } from "../../values/renamed.ts";
import { addChoice, describeText, GAP, known, startOf, type Text, textOf, unknown } from "../../values/text.ts";
import { readSed } from "./sed-script.ts";

/** Longer ones belong into a file. */
const MAX_SCRIPT = 2000;
const INSTEAD = "Write the script into a file in the worktree, and use -f.";

const SED_COPY = /^(?:-[nrEsuz]*i|--in[a-z-]*=)(.+)$/s;

export const sed: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "e expression f file l line-length s",
    long: "in-place quiet silent regexp-extended separate null-data posix version help",
  });
  // The ending of `-i.bak` is part of the option.
  const inPlace =
    given.has("i", "in-place") ||
    args.some(
      (arg) => /^-[a-zA-Z]*i/.test(textOf(arg)) && !/^--/.test(textOf(arg)) && !/^-[a-zA-Z]*[ef]/.test(textOf(arg)),
    );
  // With a star or a slash in it, the ending is the name of the copy, maybe in another folder.
  for (const [, ending = ""] of args.map((arg) => SED_COPY.exec(startOf(arg)) ?? []))
    if (inPlace && ending.includes("/")) writes(spot, known(ending));
  const scripts = given.values("e", "expression");
  for (const file of given.values("f", "file")) useScriptFile(file, spot, (text) => lookAtSed(text, spot));
  const hasScript = scripts.length > 0 || given.has("f", "file") || given.values("f", "file").length > 0;
  const [first, ...rest] = given.operands;
  const files = hasScript ? given.operands : rest;
  for (const script of hasScript ? scripts : first ? [first] : []) {
    const text = script.type === "unknown" ? withGaps(script) : textOf(script);
    if (text === undefined || script.type === "found" || text.length > MAX_SCRIPT) {
      noteUnknown(spot, "edits by a script that cannot be told, or is too long", INSTEAD);
      continue;
    }
    // What stands in the gaps is as opaque as a script in a file.
    if (script.type === "unknown")
      noteEffect(spot, { kind: "runs", what: "edits by a script of which not all can be told" });
    lookAtSed(text, spot);
  }
  const flow = files.length === 0 ? spot.input : joinFlows(files.map((file) => contentOf(file, spot)));
  const names = given.options.length === 0 && files.length === 0 && first ? renamedBy(textOf(first), flow) : undefined;
  if (names) return names;
  if (!inPlace) return files.length === 0 ? picked(given.operands, changed(flow)) : changed(flow);
  for (const file of files) store(file, changed(flow), { spot });
  return NOTHING;
};

const OTHER_ENDING = /^s([/|#,:!@])((?:\\\.|[\w-])+)\$\1([\w.+%~-]*)\1$/;

/** Names without `./`, or with another ending, as the commonest scripts make them. */
function renamedBy(script: string, flow: Flow): Flow | undefined {
  if (/^s(?:\/\^\\\.\\\/\/|([|#,:!@])\^\\\.\/\1)[/|#,:!@]$/.test(script)) return flow.names && someOf(flow);
  if (/^s([/|#,]):\.\*\$?\1\1$/.test(script)) return beforeColon(flow);
  const [, , ending, by = ""] = OTHER_ENDING.exec(script) ?? [];
  const ways = ending && flow.names?.map((name) => otherEnding(name, ending.replaceAll("\\", ""), by));
  if (!ways || ways.includes(undefined)) return undefined;
  return {
    from: flow.from | FROM.program,
    names: addChoice(
      [],
      ways.flatMap((some) => some ?? []),
    ),
  };
}

/** A script in a file may run commands, and write anywhere: it is opaque, unless the line itself made it. */
function useScriptFile(file: Text, spot: Spot, look: (script: string) => void): void {
  const isChannel = file.type === "known" && (file.text === "-" || descriptorOf(file.text) !== undefined);
  const made = isChannel ? contentOf(file, spot) : writtenBefore(file, spot);
  if (!made) {
    for (const path of absolutePaths(file, spot))
      noteEffect(spot, { kind: "runs", what: `runs ${describeText(path)}`, path });
    reads(spot, file);
  } else if (made.text === undefined || made.text.length > MAX_SCRIPT)
    noteUnknown(spot, "edits by a script that cannot be told, or is too long", INSTEAD);
  else look(made.text);
}

/** A script with something in it that is not known, but does not come from elsewhere. */
function withGaps({ template, from = 0 }: Extract<Text, { type: "unknown" }>): string | undefined {
  return from & (FROM.network | FROM.decoded | FROM.secret) ? undefined : template;
}

function lookAtSed(script: string, spot: Spot): void {
  const found = readSed(script);
  if (!found) {
    noteUnknown(spot, "edits by a script that cannot be read", INSTEAD);
    return;
  }
  if (found.runs) noteEffect(spot, { kind: "code", what: "lets sed run commands" });
  for (const path of found.writes) writes(spot, path.includes(GAP) ? unknown("it is not in the script") : known(path));
  for (const path of found.reads) reads(spot, known(path));
}

const AWK_RUNS =
  /\bsystem\s*\(|\|\s*(?:&\s*)?(?:getline|"|[A-Za-z_]\w*\s*(?:;|}|$))|(?:print|printf)\b[^;}\n]*\|(?!\|)|@load|@include|@\s*[A-Za-z_]\w*\s*\(|extension\s*\(/;
const AWK_WRITES =
  /(?:print|printf)\b[^;}\n"]*(?:"(?:\\.|[^"\\])*"[^;}\n"]*)*?>>?\s*("(?:\\.|[^"\\])*"|[A-Za-z_$(]\w*)/g;

const AWK_READS = /\bgetline\b[\w\s[\]$]{0,80}<\s*\(?\s*"([^"\\]*)"/g;

const AWK_OUTPUT = /^(?:-[dop]|--(?:du[a-z-]*|pr[a-z-]*)=)(.+)$/s;

/** Files that gawk writes besides: its variables, and the program as it was read. */
const awkOutputs = (args: readonly Text[]): Text[] =>
  args.flatMap((arg) => AWK_OUTPUT.exec(startOf(arg))?.[1] ?? []).map(known);

export const awk: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "F field-separator v assign f file i include l load e source E exec",
    long: "version help posix traditional",
  });
  const scripts = given.values("e", "source");
  const fromFile = given.values("f", "file", "E", "exec");
  for (const file of fromFile) useScriptFile(file, spot, (text) => lookAtAwk(text, spot));
  const [first, ...rest] = given.operands;
  const inProgram = scripts.length === 0 && fromFile.length === 0;
  const files = (inProgram ? rest : given.operands).filter((file) => !/^\w+=/.test(textOf(file)));
  for (const script of inProgram ? (first ? [first] : []) : scripts) {
    if (script.type === "unknown" || script.type === "found" || script.text.length > MAX_SCRIPT)
      noteUnknown(spot, "runs an awk program that cannot be told, or is too long", INSTEAD);
    else lookAtAwk(script.text, spot);
  }
  for (const path of awkOutputs(args)) writes(spot, path);
  for (const value of given.values("v", "assign")) noteSecrets([known(textOf(value).replace(/^\w+=/, ""))], spot);
  const flow = files.length === 0 ? spot.input : joinFlows(files.map((file) => contentOf(file, spot)));
  if (given.values("i", "include").some((name) => textOf(name) === "inplace")) {
    for (const file of files) writes(spot, file);
    return NOTHING;
  }
  for (const name of given.values("i", "include", "l", "load"))
    noteEffect(spot, { kind: "code", what: `makes awk load ${textOf(name)}` });
  const isFirst =
    args.length === 2 && textOf(args[0] ?? known("")) === "-F:" && PRINTS_FIRST.test(textOf(first ?? known("")));
  if (isFirst && flow.sources) return beforeColon(flow) ?? OUTPUT;
  return files.length === 0 ? picked(given.operands, changed(flow)) : changed(flow);
};

const PRINTS_FIRST = /^\s*\{\s*print\s*\$1\s*;?\s*\}\s*$/;

function lookAtAwk(program: string, spot: Parameters<Behaviour>[0]["spot"]): void {
  // In strings and patterns nothing is a command; a pipe to a string is.
  const bare = program.replace(/\/(?:\\.|[^/\\\n])+\/(?=\s*(?:[{,;)&|!]|$))/g, "//");
  if (AWK_RUNS.test(bare.replace(/"(?:\\.|[^"\\])*"/g, '""').replace(/""/g, '"')))
    noteEffect(spot, { kind: "code", what: "lets awk run commands" });
  for (const [, source = ""] of bare.matchAll(AWK_READS)) reads(spot, known(source));
  // A name that stands in a variable first, or among the arguments of awk, may be read.
  for (const [, text = ""] of program.matchAll(/"([^"\\]+)"/g)) noteSecrets([known(text)], spot);
  for (const { 1: target = "", 0: found, index } of bare.matchAll(AWK_WRITES)) {
    if (isInParentheses(found.slice(0, found.length - target.length))) continue;
    const isWhole = /^\s*(?:[;}\n#]|$)/.test(bare.slice(index + found.length));
    if (target.startsWith('"') && !isWhole) noteUnknown(spot, "lets awk write to a file that cannot be told");
    else if (target.startsWith('"'))
      writes(spot, known(JSON.parse(target.replace(/\\([^"\\/bfnrt])/g, "$1")) as string));
    else if (!/^\d/.test(target)) noteUnknown(spot, "lets awk write to a file that cannot be told");
  }
}

/** There, `>` compares. */
function isInParentheses(before: string): boolean {
  const bare = before.replace(/"(?:\\.|[^"\\])*"/g, "");
  return bare.split("(").length > bare.split(")").length;
}

/** Editors with a window of their own: the command returns at once. */
export const opensWindow: Behaviour = (call) => {
  const { name, args, spot } = call;
  const given = readArguments(args, { valued: "g goto locale user-data-dir profile extensions-dir log" });
  if (given.has("v", "version", "h", "help", "s", "status")) return OUTPUT;
  const [first = known("")] = given.operands;
  if (given.has("w", "wait") || textOf(first) === "-") return editor(call);
  const changes = given.options.find((one) =>
    /^(?:un)?install-ext|extensions-dir|user-data|profile|mcp|command|tunnel/.test(one.name),
  );
  if (changes || /^(?:tunnel|serve-web|chat|agent)$/.test(textOf(first)))
    noteEffect(spot, { kind: "ours", what: `changes ${name} itself, or lets others work with it` });
  for (const file of [...given.operands, ...given.values("g", "goto")]) reads(spot, file);
  worksHere(spot, `opens ${name}`);
  return OUTPUT;
};

/** Editors that are given commands run whatever these say. */
export const editor: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, { valued: "c cmd S s u e eval", long: "version help" });
  if (given.has("version", "help")) return OUTPUT;
  const isScripted =
    given.has("c", "cmd", "S", "s", "e", "es", "eval", "batch") ||
    args.some((arg) => /^\+/.test(textOf(arg))) ||
    name === "ed" ||
    name === "ex";
  if (isScripted)
    noteEffect(spot, { kind: "code", what: `gives commands to ${name}`, instead: "Use the edit tool, or sed." });
  else
    noteEffect(spot, {
      kind: "unknown",
      what: `opens ${name}, which needs a terminal`,
      instead: "Use the edit tool, or sed.",
    });
  for (const file of given.operands) writes(spot, file);
  return OUTPUT;
};

export const patch: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "p strip d directory i input o output r reject-file B F z Y V D",
    long: "dry-run reverse force batch silent quiet",
  });
  const [file, ...inputs] = given.operands;
  const isTried = given.has("dry-run", "C", "check");
  const strip = Number(textOf(given.values("p", "strip").at(-1) ?? known("1")));
  const taken = takenPatches([...given.values("i", "input"), ...inputs], spot, { isTried, strip });
  if (isTried) return OUTPUT;
  spot.line.unpacked ??= taken;
  const targets: Text[] = [...given.values("o", "output", "d", "directory"), ...(file ? [file] : [])];
  for (const target of targets.length > 0 ? targets : [known(".")]) writes(spot, target);
  if (!file) unpacksInto(spot, given.values("d", "directory")[0] ?? known("."));
  return OUTPUT;
};

/** A tool that models are trained on: some type it as a program. */
export const applyPatch: Behaviour = ({ args: [given], spot }) => {
  const patch = given?.type === "known" ? given.text : spot.input.text;
  if (patch !== undefined) patches(patch, spot);
  worksHere(spot, "applies a patch");
  return OUTPUT;
};

/** Expands macros, some of which run commands; those in a file are opaque. */
export const m4: Behaviour = ({ name, args, spot }) => {
  const { operands } = readArguments(args, { valued: "D I U F R o B H L l d" });
  const isInput =
    operands.length === 0 || operands.some((one) => textOf(one) === "-" || descriptorOf(textOf(one)) !== undefined);
  const given =
    isInput &&
    (spot.input !== TERMINAL || operands.length > 0) &&
    !(spot.input.text !== undefined && !/syscmd/.test(spot.input.text));
  if (given || args.some((arg) => /syscmd/.test(textOf(arg))))
    noteEffect(spot, { kind: "code", what: `gives ${name} macros that are not in a file` });
  worksHere(spot, `runs ${name}`);
  return OUTPUT;
};
