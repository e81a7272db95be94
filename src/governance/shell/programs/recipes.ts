import type { Behaviour } from "../call.ts";
import { readArguments } from "../options.ts";
import { absolutePaths, descriptorOf, inFolder, writes } from "../paths.ts";
import { judgeAssignment } from "../state/assignments.ts";
import { noteEffect, noteUnknown } from "../state/state.ts";
import { OUTPUT } from "../values/flow.ts";
import { describeText, known, startOf, type Text, textOf } from "../values/text.ts";
import { builds, noteElsewhere } from "./builds.ts";
import { runsFetched } from "./fetched-code.ts";

/** Commands of `cmake -E`, as the programs that do the same. */
const CMAKE_TOOLS: Readonly<Record<string, string>> = {
  cat: "cat",
  chdir: "env -C",
  copy: "cp",
  copy_directory: "cp -r",
  copy_if_different: "cp",
  create_hardlink: "ln",
  create_symlink: "ln -s",
  env: "env",
  make_directory: "mkdir -p",
  remove: "rm -f",
  remove_directory: "rm -rf",
  rename: "mv",
  rm: "rm",
  tar: "tar",
  time: "time",
  touch: "touch",
  touch_nocreate: "touch",
};

export const cmake: Behaviour = (call) => {
  const { args, spot } = call;
  const [first = known(""), tool = known(""), ...rest] = args;
  if (textOf(first) === "-E") {
    const words = CMAKE_TOOLS[textOf(tool)];
    return words ? spot.line.engine.runWords([...words.split(" ").map(known), ...rest], spot) : builds(call);
  }
  const given = readArguments(args, { valued: "S B D G P C T A prefix build install", singleDash: false });
  for (const folder of given.values("B", "prefix")) writes(spot, folder);
  for (const script of given.values("P", "C")) runsRules(script, call);
  for (const source of [...given.values("S"), ...given.operands]) {
    runsFetched("cmake", source, spot);
    noteElsewhere(source, spot);
  }
  const inside = inFolder(spot, given.values("build", "install"));
  const end = args.findIndex((arg) => textOf(arg) === "--");
  // What stands behind it is for make, or what is built with instead.
  if (end >= 0) make({ name: "make", args: args.slice(end + 1), spot: inside });
  return builds({ ...call, spot: inside });
};

/** A file with rules: one in the worktree is opaque, one that is not a file is code. */
export function runsRules(file: Text, { name, spot }: Parameters<Behaviour>[0]): void {
  if (textOf(file) === "-" || descriptorOf(textOf(file)) !== undefined)
    noteEffect(spot, { kind: "code", what: `gives ${name} rules that are not in a file` });
  else {
    runsFetched(name, file, spot);
    for (const path of absolutePaths(file, spot))
      noteEffect(spot, { kind: "runs", what: `runs ${describeText(path)}`, path });
  }
}

export const just: Behaviour = (call) => {
  const { args, spot } = call;
  const given = readArguments(args, {
    valued: "f justfile d working-directory shell shell-arg c command set dotenv-path",
    stopsAtOperand: true,
  });
  for (const shell of given.values("shell"))
    noteEffect(spot, { kind: "code", what: `makes just run ${describeText(shell)}` });
  for (const file of given.values("f", "justfile")) runsRules(file, call);
  const at = given.has("c", "command") ? args.findIndex((arg) => /^(?:-c|--command)$/.test(textOf(arg))) : -1;
  if (at >= 0) return spot.line.engine.runWords(args.slice(at + 1), spot);
  if (given.has("list", "l", "summary", "show", "s", "evaluate", "version", "help")) return OUTPUT;
  return builds(call);
};

/** Values that make runs itself: what stands behind `!=`, and in functions that reach out of it. */
const MAKE_RUNS = /^[^=]*(?:!=|=.*\$[({](?:shell|file|eval|guile|load)\s)/s;

/** Where the usual variables say that something is installed: all of it below DESTDIR, where that is given. */
function installedInto(operands: readonly Text[]): Text[] {
  if (!operands.some((one) => /^install/.test(startOf(one)))) return [];
  const valuesOf = (names: RegExp) =>
    operands.flatMap((one) => (one.type === "known" && names.test(one.text) ? [one.text.replace(/^\w+:?=/, "")] : []));
  const staged = valuesOf(/^DESTDIR:?=./);
  return (staged.length > 0 ? staged : valuesOf(/^(?:prefix|exec_prefix|bindir|libdir):?=./i)).map(known);
}

export const make: Behaviour = (call) => {
  const { args, spot } = call;
  const given = readArguments(args, {
    valued: "C directory f file makefile j jobs I include-dir o W l E eval",
    long: "dry-run just-print",
  });
  for (const text of given.values("E", "eval")) noteUnknown(spot, `gives make rules in the command: ${textOf(text)}`);
  const shell = given.operands.find((one) => /^(?:SHELL|MAKEFLAGS|MAKE|\.SHELLFLAGS)=/.test(startOf(one)));
  if (shell) noteEffect(spot, { kind: "code", what: `makes make run another program: ${describeText(shell)}` });
  const runs = given.operands.find((one) => MAKE_RUNS.test(startOf(one)));
  if (runs)
    noteEffect(spot, { kind: "code", what: `gives make something to run in a variable: ${describeText(runs)}` });
  // A variable of make is one of the programs that it starts, and names some of them.
  for (const operand of given.operands) {
    const [, variable, value] = /^([A-Za-z_]\w*)[:+?]?=(.*)$/s.exec(textOf(operand)) ?? [];
    if (variable !== undefined && operand.type === "known") judgeAssignment(variable, known(value ?? ""), spot);
  }
  for (const folder of installedInto(given.operands)) writes(spot, folder);
  const inside = inFolder(spot, given.values("C", "directory"));
  for (const file of given.values("f", "file", "makefile")) runsRules(file, { ...call, spot: inside });
  return builds({ ...call, spot: inside });
};
