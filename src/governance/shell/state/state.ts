import type { CompoundCommand, CompoundList, ParsedScript, Redirected } from "unbash";
import type { Effect, EffectTree } from "../effects.ts";
import type { FileContent, Flow } from "../values/flow.ts";
import { Names } from "../values/names.ts";
import { addChoice, known, type Text, unknown } from "../values/text.ts";

/** Where a command is run, as far as it must be known. Paths are absolute. */
export interface ShellPlace {
  /** The worktree. */
  readonly folder: string;
  /** Where the command starts; undefined when that cannot be told. */
  readonly start: string | undefined;
  readonly home: string;
  readonly temporary: string;
  /** Variables whose value is known. */
  readonly variables: Readonly<Record<string, string>>;
  /** What is at a path now. */
  look(path: string): "file" | "folder" | undefined;
  /** Where a path leads, behind links; undefined where that cannot be told. */
  leads(path: string): string | undefined;
  isSecret(path: Text): boolean;
}

/** Bodies that may not be what is called: aliases, which some shells do not expand, and functions that a condition defines. */
export const UNSURE = new WeakSet<FunctionBody>();

/** In place of a function that was defined in several ways. */
export const SEVERAL_BODIES: FunctionBody = { type: "CompoundList", pos: 0, end: 0, commands: [] };

export type FunctionBody = CompoundCommand | Redirected | CompoundList;

export type Folders = readonly (string | undefined)[];

/** Where an open descriptor leads. */
export interface Channel {
  readonly reads?: Flow | undefined;
  readonly writes?: Sink | undefined;
}

/** Where bytes go. */
export type Sink =
  | { readonly to: "output" | "nowhere" }
  | { readonly to: "file"; readonly path: Text; readonly appends: boolean }
  | { readonly to: "network"; readonly where: string };

/** The state of one shell. Subshells get a copy. */
export interface Shell {
  readonly variables: Names<readonly Text[]>;
  readonly arrays: Names<readonly Text[]>;
  readonly exported: Names<true>;
  readonly functions: Names<FunctionBody>;
  readonly channels: Names<Channel>;
  /** Variables of the function that is being called. */
  readonly locals: Names<true>;
  /** Variables that keep their value. */
  readonly fixed: Names<true>;
  /** Variables whose values are computed, or get other letters: `declare -i`, `declare -l`. */
  readonly changing: Names<"number" | "letters">;
  /** Folders that it is sure to have made, and how many of the line were gone by then. */
  made: ReadonlyMap<string, number>;
  /** Where it may be; patterns among them, and undefined when that cannot be told. */
  folders: Folders;
  /** Where the last `cd` led, if it did not fail. */
  reached: Folders;
  /** Where `cd -` and `popd` lead. */
  left: Folders;
  stack: readonly Folders[];
  positional: readonly Text[];
  /** Whether some of the first of them may have been shifted away. */
  isShifted: boolean;
  self: Text;
}

/** What is common to all shells of one command line. */
export interface Line {
  readonly place: ShellPlace;
  /** What was written into files, by their paths. */
  readonly files: Names<FileContent>;
  readonly engine: Engine;
  /** Links in the worktree that this line made, and where they lead. */
  links?: Map<string, string> | undefined;
  /** What was copied or moved, with the links in it, and where it was before. */
  copies?: Map<string, string> | undefined;
  /** Something from the network was unpacked: what was not there before may be it. */
  unpacked?: Flow | undefined;
  /** Where files were put that this line does not name: those that end with a slash are folders. */
  unpackedInto?: string[] | undefined;
  /** Where a link leads out of the worktree that this line made. */
  outward?: Text | undefined;
  /** Whether something may be done before what stands in front of it: it runs at the same time, or again. */
  isReordered: boolean;
  /** A secret file whose variables are in the environment now. */
  sourced?: Text | undefined;
  /** What `trap` leaves for the end of the shells that are looked at; undefined while that is run. */
  traps: Text[] | undefined;
  /** How often a shell, a function or a loop may have been left before its end. */
  leavings: number;
  /** Whether a `cd` can stand in it: what is asked only for that is not cheap. */
  readonly mayMove: boolean;
  /** Folders that may be gone: what was deleted or moved away with all that is in it. */
  gone?: Text[] | undefined;
  /** Files that may be there now, whatever is in them. */
  touched?: Set<string> | undefined;
  /** How much may still be looked at: loops, functions and lists of words could make it endless. */
  budget: number;
}

/** Where in the line something is. */
export interface Spot {
  readonly line: Line;
  readonly shell: Shell;
  readonly tree: EffectTree;
  readonly input: Flow;
  /** How many sources it is nested in. */
  readonly depth: number;
  /** Functions that are being called. */
  readonly calls: readonly FunctionBody[];
  /** The shells that `return`, `break` and `continue` have left as they were then. */
  readonly left: Shell[];
  /** Whether a copy of the shell was started since the last call. */
  readonly isForked: boolean;
  /** Functions of a shell around this, which are not known here unless they are exported. */
  readonly outer?: Shell["functions"] | undefined;
  /** Whether this may be prose and not a command at all. */
  readonly isProse?: boolean | undefined;
}

/** What programs and words need of the rest. */
export interface Engine {
  runScript(script: ParsedScript, spot: Spot): Flow;
  runWords(words: readonly Text[], spot: Spot): Flow;
  /** A shell that is given its program as text. */
  runSource(source: Text, spot: Spot): Flow;
  /** Arguments of a program that may run what stands in them, or in those before `end`: a command there is judged as one. */
  runCarried(args: readonly Text[], spot: Spot, end?: number): void;
}

/** Made once for all shells that start with the same variables. */
const started = new WeakMap<ShellPlace["variables"], Shell["variables"]>();

/** Variables that are in every environment, or that agent programs and prloom set: what is assigned to them is exported. */
const IN_ENVIRONMENT =
  "PATH HOME SHELL TMPDIR PAGER EDITOR VISUAL GIT_PAGER GIT_EDITOR GIT_CONFIG_GLOBAL XDG_CONFIG_HOME NODE_OPTIONS LD_LIBRARY_PATH";

const EXPORTED = new Names<true>();
for (const name of IN_ENVIRONMENT.split(" ")) EXPORTED.set(name, true);

/** Among what is exported, in place of all that is set: no variable is called like this. */
export const ALL_THAT_IS_SET = "*";

function variablesOf({ variables }: ShellPlace): Shell["variables"] {
  let made = started.get(variables);
  if (!made) {
    made = new Names();
    for (const name in variables) made.set(name, [known(variables[name] ?? "")]);
    started.set(variables, made);
  }
  return made;
}

export function newShell(place: ShellPlace): Shell {
  return {
    variables: variablesOf(place).copy(),
    arrays: new Names(),
    exported: EXPORTED.copy(),
    functions: new Names(),
    channels: new Names(),
    locals: new Names(),
    fixed: new Names(),
    changing: new Names(),
    made: NONE_MADE,
    folders: [place.start],
    reached: ANYWHERE,
    left: ANYWHERE,
    stack: [],
    positional: [],
    isShifted: false,
    self: BASH,
  };
}

const BASH = known("bash");
const NONE_MADE: Shell["made"] = new Map();
export const ANYWHERE: Folders = [undefined];

export function copyShell(shell: Shell): Shell {
  return {
    variables: shell.variables.copy(),
    arrays: shell.arrays.copy(),
    exported: shell.exported.copy(),
    functions: shell.functions.copy(),
    channels: shell.channels.copy(),
    locals: shell.locals.copy(),
    fixed: shell.fixed.copy(),
    changing: shell.changing.copy(),
    made: shell.made,
    folders: shell.folders,
    reached: shell.reached,
    left: shell.left,
    stack: shell.stack,
    positional: shell.positional,
    isShifted: shell.isShifted,
    self: shell.self,
  };
}

/** What a program has of a shell, for commands that it runs: of what is set here what is exported, or perhaps what was before this line. */
export function startedShell(spot: Spot): Shell {
  const { shell, line } = spot;
  const before = variablesOf(line.place);
  if (shell.variables.isSame(before) && shell.arrays.size === 0 && shell.positional.length === 0) return shell;
  spend(spot, sizeOf(shell));
  const started = copyShell(shell);
  started.arrays.clear();
  started.positional = [];
  started.isShifted = false;
  for (const [name, choices] of shell.variables)
    if (!shell.exported.has(name) && before.get(name) !== choices)
      started.variables.set(name, addChoice(choices, NOT_SET));
  return started;
}

/** What a copy costs: variables could be many, and copied for each statement. */
export const sizeOf = (shell: Shell): number =>
  1 + ((shell.variables.size + shell.functions.size + shell.channels.size + shell.made.size) >> 4);

/** A copy whose output is read, wherever the output of the shell itself goes. */
export function copyForReading(shell: Shell): Shell {
  const copy = copyShell(shell);
  copy.channels.delete("1");
  return copy;
}

/** What a variable is that this line does not set. */
export const NOT_SET: readonly Text[] = [known("")];

export const SEVERAL = unknown("it can be several things");

/** Sets a variable, by its own name or another one; of an array it is the first element. */
export function setVariable(shell: Shell, written: string, choices: readonly Text[]): void {
  const name = written.split("[", 1)[0] ?? "";
  const [only] = choices;
  const array = shell.arrays.get(name);
  if (name !== written) setArray(shell, name, [SEVERAL]);
  else {
    if (array) shell.arrays.set(name, only && choices.length === 1 ? [only, ...array.slice(1)] : [SEVERAL]);
    shell.variables.set(
      name,
      shell.fixed.has(name) ? addChoice(shell.variables.get(name) ?? [known("")], choices) : choices,
    );
  }
}

export function setArray(shell: Shell, name: string, elements: readonly Text[]): void {
  shell.variables.delete(name);
  shell.arrays.set(name, elements);
}

/** Where it is not this shell that looks for a command. */
export const outsideOf = (spot: Spot): Spot => ({ ...spot, outer: spot.shell.functions.copy() });

export function noteEffect(spot: Spot, effect: Effect): void {
  spot.tree.effects.push(effect);
}

/** Ends looking at a line that is too much; it is then denied. */
export class TooMuch extends Error {}

/** Counts what is looked at: statements, words, parts of words, copies of shells by their size. */
export function spend({ line }: Spot, cost = 1): void {
  line.budget -= cost;
  if (line.budget < 0) throw new TooMuch();
}

export function noteUnknown(spot: Spot, what: string, instead?: string): void {
  noteEffect(spot, { kind: "unknown", what, instead });
}
