import type { Behaviour, ProgramCall } from "./call.ts";
import { isThere } from "./folders.ts";
import { readArguments } from "./options.ts";
import { absolutePaths, contentOf, descriptorOf, foldersMeant, writes, writtenBefore } from "./paths.ts";
import { kill } from "./processes.ts";
import { runFlow } from "./scripts.ts";
import { alias } from "./state/aliases.ts";
import { joinShells } from "./state/joining.ts";
import { HIDES, set, setPositional, shift } from "./state/positional.ts";
import { noteLeaving, toAnyEnd } from "./state/rounds.ts";
import {
  ANYWHERE,
  copyShell,
  type Folders,
  noteEffect,
  noteUnknown,
  outsideOf,
  SEVERAL,
  type Shell,
  spend,
} from "./state/state.ts";
import { endHere, trap } from "./state/traps.ts";
import { lookAtNumber } from "./values/arithmetic.ts";
import { type Flow, NOTHING, OUTPUT, oneOfFlows } from "./values/flow.ts";
import { echoed } from "./values/printed.ts";
import {
  addChoice,
  describeText,
  isPattern,
  joinLine,
  joinTexts,
  known,
  MAX_CHOICES,
  startOf,
  type Text,
  textOf,
  unknown,
} from "./values/text.ts";
import {
  declareVariables,
  getopts,
  mapfile,
  print,
  read,
  showVariables,
  takeSecrets,
  unset,
  waits,
} from "./values/variables.ts";

const nothing: Behaviour = () => NOTHING;
const prints: Behaviour = () => OUTPUT;

/** A folder that may not be there leaves the shell where it was. */
const cd: Behaviour = ({ args, spot }) => {
  const { operands } = readArguments(args, {});
  const [to] = operands;
  const { shell, line } = spot;
  const target: Text = to ?? spot.shell.variables.get("HOME")?.[0] ?? known(line.place.home);
  const isBack = to?.type === "known" && to.text === "-";
  // Then it is looked for in other folders, too.
  const isSearched = shell.variables.has("CDPATH");
  if (isBack) moveTo(shell.variables.has("OLDPWD") ? ANYWHERE : shell.left, shell);
  else if (isSearched || operands.length > 1 || isAmbiguous(target, spot)) moveTo(ANYWHERE, shell);
  else {
    const folders = foldersMeant(target, spot);
    const isSure = folders.every((folder) => folder !== undefined && isThere(folder, spot));
    moveTo(isSure ? folders : [...new Set([...folders, ...shell.folders])], shell);
    shell.reached = folders;
  }
  return isBack || isSearched ? OUTPUT : NOTHING;
};

/** What `..` behind a link means depends on options of the shell. */
function isAmbiguous(target: Text, { shell, line }: ProgramCall["spot"]): boolean {
  const path = textOf(target);
  if (!path.includes("..")) return false;
  return shell.folders.some(
    (folder) => line.place.leads(path.startsWith("/") ? path : `${folder}/${path}`) === undefined,
  );
}

function moveTo(folders: Folders, shell: Shell): void {
  shell.left = shell.folders;
  shell.folders = folders.length > MAX_CHOICES ? ANYWHERE : folders;
  shell.reached = shell.folders;
}

const pushd: Behaviour = (call) => {
  const { shell } = call.spot;
  const isPath = call.args.length > 0 && call.args.every((arg) => !/^[-+]/.test(startOf(arg)));
  if (!isPath) return leave(call);
  shell.stack = shell.stack.length < MAX_CHOICES ? [...shell.stack, shell.folders] : [ANYWHERE];
  cd(call);
  return OUTPUT;
};

const popd: Behaviour = (call) => {
  const { shell } = call.spot;
  if (call.args.length > 0) return leave(call);
  // A `pushd` before that failed has left nothing: it may be any of them.
  moveTo(shell.stack.length > 0 ? [...new Set(shell.stack.flat())] : ANYWHERE, shell);
  shell.stack = shell.stack.slice(0, -1);
  return OUTPUT;
};

const leave: Behaviour = ({ spot }) => {
  moveTo(ANYWHERE, spot.shell);
  spot.shell.stack = [];
  return OUTPUT;
};

const evaluate: Behaviour = ({ args, spot }) => spot.line.engine.runSource(joinLine(args), spot);

/** What it is given is `$1` and its like while it is run; a `set` in it may stay. */
function withArguments(args: readonly Text[], { shell }: ProgramCall["spot"], run: () => Flow): Flow {
  if (args.length === 0) return run();
  const { positional, isShifted } = shell;
  setPositional(shell, args);
  const flow = run();
  if (shell.positional === args) Object.assign(shell, { positional, isShifted });
  else setPositional(shell, [SEVERAL]);
  return flow;
}

/** What it sets, this shell has. */
function runHere(flow: Flow, spot: ProgramCall["spot"]): Flow {
  const { text, either } = flow;
  if (text !== undefined) return toAnyEnd(spot, (one) => one.line.engine.runSource(known(text), one));
  if (!either) return runFlow(flow, spot);
  const before = copyShell(spot.shell);
  const flows = either.map((one) => {
    const shell = copyShell(before);
    const printed = runHere(one, { ...spot, shell });
    joinShells(spot.shell, shell);
    return printed;
  });
  return oneOfFlows(flows);
}

/** Reads commands from a file into this shell. */
const source: Behaviour = ({ args, spot }) => {
  const [path] = args;
  if (!path) return NOTHING;
  const made = writtenBefore(path, spot);
  const isChannel = path.type === "known" && (descriptorOf(path.text) !== undefined || path.text.startsWith("/dev/"));
  const flow = made ?? (isChannel ? contentOf(path, spot) : undefined);
  if (flow) {
    const printed = withArguments(args.slice(1), spot, () => runHere(flow, spot));
    if (!made && flow.text !== undefined) return printed;
  } else
    for (const one of absolutePaths(path, spot))
      noteEffect(spot, { kind: "runs", what: `runs ${describeText(path)}`, path: one });
  takeSecrets(path, spot);
  // It may have changed any variable.
  const lost = unknown(`${describeText(path)} may have changed it`);
  spend(spot, spot.shell.variables.size);
  for (const [name, choices] of spot.shell.variables) spot.shell.variables.set(name, addChoice(choices, [lost]));
  return OUTPUT;
};

const exec: Behaviour = ({ args, spot }) => {
  const { operands } = readArguments(args, { valued: "a", stopsAtOperand: true });
  return operands.length === 0 ? NOTHING : spot.line.engine.runWords(operands, outsideOf(spot));
};

const command: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { stopsAtOperand: true });
  if (given.has("v", "V")) return OUTPUT;
  return spot.line.engine.runWords(given.operands, outsideOf(spot));
};

/** `-C` runs a command, and `-W` expands its words. */
const completes: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "A C F G P S W X o" });
  for (const command of given.values("C", "F")) spot.line.engine.runSource(command, spot);
  for (const words of given.values("W")) spot.line.engine.runSource(joinTexts([known(": "), words]), spot);
  return OUTPUT;
};

/** `hash -p program name` gives a program another name. */
const hash: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "p" });
  if (given.values("p").length > 0)
    noteUnknown(spot, "gives a program another name", "Call the program by its own name.");
  return NOTHING;
};

const pwd: Behaviour = ({ spot }) => {
  const [folder, ...more] = spot.shell.folders;
  return folder !== undefined && more.length === 0 && !isPattern(folder) ? { text: `${folder}\n`, from: 0 } : OUTPUT;
};

/** Expressions in words. */
const computes: Behaviour = ({ args, spot }) => {
  for (const arg of args) lookAtNumber(arg, spot);
  return NOTHING;
};

const NUMBERS = /^-(?:v|eq|ne|lt|le|gt|ge)$/;

const tests: Behaviour = ({ args, spot }) => {
  if (args.some((arg) => NUMBERS.test(textOf(arg)))) for (const arg of args) lookAtNumber(arg, spot);
  return NOTHING;
};

/** Options with which names mean more, and pipes change the shell. */
const shopt: Behaviour = ({ args, spot }) => {
  const changes = args.find((arg) => /^(?:lastpipe|dotglob|allexport)$/.test(textOf(arg)));
  if (changes) noteUnknown(spot, `makes the shell work otherwise: ${textOf(changes)}`, "Do it without this option.");
  return NOTHING;
};

/** `enable -f` makes the shell load a library, and `-n` takes commands from it. */
const enable: Behaviour = ({ args, spot }) => {
  if (readArguments(args, { valued: "f" }).has("f", "n"))
    noteEffect(spot, { kind: "code", what: "changes which commands the shell has" });
  return NOTHING;
};

/** What was typed before can be written into a file, and `fc` gives it to a program. */
const keepsHistory: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, { valued: name === "history" ? "d" : "e" });
  if (name === "history" && given.has("c", "d")) noteEffect(spot, { kind: "ours", what: HIDES });
  if (name === "fc" && given.has("s")) noteUnknown(spot, "runs what was typed before");
  for (const program of given.values("e")) spot.line.engine.runSource(program, spot);
  if (name === "history") for (const file of given.operands) if (!/^\d+$/.test(textOf(file))) writes(spot, file);
  return OUTPUT;
};

/** A variable that came out of a secret file is told when it is printed. */
function tells({ args, spot }: ProgramCall, flow: Flow): Flow {
  if (spot.line.sourced && args.some((arg) => arg.type === "unknown")) showVariables(spot);
  return flow;
}

const leaves: Behaviour = ({ spot }) => {
  noteLeaving(spot);
  return NOTHING;
};

export const BUILTINS: ReadonlyMap<string, Behaviour> = new Map<string, Behaviour>([
  ...[
    ":",
    "true",
    "false",
    "times",
    "umask",
    "ulimit",
    "disown",
    "suspend",
    "bind",
    "fg",
    "bg",
    "logout",
    "caller",
  ].map((name): [string, Behaviour] => [name, nothing]),
  ...["return", "break", "continue"].map((name): [string, Behaviour] => [name, leaves]),
  ...["type", "jobs", "dirs", "help", "which", "whereis"].map((name): [string, Behaviour] => [name, prints]),
  ...["export", "declare", "typeset", "local", "readonly"].map((name): [string, Behaviour] => [name, declareVariables]),
  ["exit", ({ spot }) => endHere(spot)],
  ["cd", cd],
  ["pushd", pushd],
  ["popd", popd],
  ["unset", unset],
  ["eval", evaluate],
  ["source", source],
  [".", source],
  ["exec", exec],
  ["command", command],
  ["builtin", command],
  ["trap", trap],
  ["alias", alias],
  ["unalias", nothing],
  ["complete", completes],
  ["compgen", completes],
  ["hash", hash],
  ["set", set],
  ["shift", shift],
  ["read", read],
  ["mapfile", mapfile],
  ["readarray", mapfile],
  ["pwd", pwd],
  ["getopts", getopts],
  ["wait", waits],
  ["kill", kill],
  ["let", computes],
  ["test", tests],
  ["[", tests],
  ["enable", enable],
  ["shopt", shopt],
  ["history", keepsHistory],
  ["fc", keepsHistory],
  ["echo", (call) => tells(call, echoed(call.args))],
  ["printf", (call) => tells(call, print(call))],
]);
