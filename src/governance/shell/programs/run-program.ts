import { BUILTINS } from "../builtins.ts";
import type { Behaviour, ProgramCall } from "../call.ts";
import { absolutePaths, noteSecretOperands, writtenBefore } from "../paths.ts";
import { runWritten } from "../scripts.ts";
import { noteEffect, noteUnknown, type Spot, spend } from "../state/state.ts";
import { type Flow, FROM, OUTPUT, oneOfFlows } from "../values/flow.ts";
import { known, textOf } from "../values/text.ts";
import { noteConsole } from "./elsewhere/consoles.ts";
import { noteByWords, noteLostData } from "./elsewhere/losing-data.ts";
import { notePublishing } from "./elsewhere/publishing.ts";
import { runsProject } from "./fetched-code.ts";
import { isGitCommand, judgeGit } from "./git/git.ts";
import { noteInstructed } from "./instruction-files.ts";
import { noteOutputs } from "./outputs.ts";
import { INTERPRETERS } from "./shells.ts";
import { PROGRAMS } from "./table.ts";

/** A program by its name, or by a path that ends with it. */
export function judgeProgram(call: ProgramCall): Flow {
  const { name, args, spot } = call;
  const isPath = name.includes("/");
  const base = isPath || name.includes(".") ? name.slice(name.lastIndexOf("/") + 1).replace(/\.exe$/i, "") : name;
  const file = isPath ? name : writtenOnPath(name, spot);
  const made = file === undefined ? undefined : writtenBefore(known(file), spot);
  if (file !== undefined && made && (made.text !== undefined || made.either || made.from & FROM_ELSEWHERE)) {
    const flows = (made.either ?? [made]).map((one) => runMade(one, { name: file, args, spot }));
    // Another one on the path may come first, or this one may not be executable.
    if (isPath) return oneOfFlows(flows);
  }
  if (base.startsWith("=")) noteUnknown(spot, `runs ${name}, which some shells take for another program`);
  const inner = base === name ? call : { name: base, args, spot };
  notePublishing(inner);
  noteLostData(inner);
  noteConsole(inner);
  const behaviour =
    gitCommand(base) ?? behaviourOf(base) ?? (isPath && ALSO_PROGRAMS.test(base) ? BUILTINS.get(base) : undefined);
  // One that lies elsewhere has the name of a known program, and may do anything besides.
  for (const path of isPath ? absolutePaths(known(name), spot) : [])
    if (!behaviour || !SYSTEM_FOLDER.test(textOf(path))) noteEffect(spot, { kind: "runs", what: `runs ${name}`, path });
  if (behaviour) return behaviour(inner);
  if (!isPath) {
    runsProject(spot, `runs ${name}`);
    noteByWords(call);
    noteOutputs(name, args, spot);
    noteInstructed(name, args, spot);
    noteSecretOperands(args, spot);
  }
  spot.line.engine.runCarried(args, spot);
  return OUTPUT;
}

const FROM_ELSEWHERE = FROM.network | FROM.decoded | FROM.outside;

/** A file of that name that this line wrote into a folder where programs are looked for. */
function writtenOnPath(name: string, spot: Spot): string | undefined {
  const { files } = spot.line;
  if (files.size === 0) return undefined;
  const folders = (spot.shell.variables.get("PATH") ?? []).flatMap((path) => textOf(path).split(":"));
  spend(spot, folders.length >> 3);
  return folders
    .map((folder) => `${folder || "."}/${name}`)
    .find((file) => absolutePaths(known(file), spot).some((path) => files.has(textOf(path))));
}

/** A script that this line wrote, called by its path: by the program that it begins with, behind `#!`. */
function runMade(made: Flow, { name, args, spot }: ProgramCall): Flow {
  const words = [known(name), ...args] as const;
  const starts = (/^#!(.*)/.exec(made.text ?? "")?.[1] ?? "").split(/\s+/).filter(Boolean);
  if (starts.length > 0) return spot.line.engine.runWords([...starts.map(known), ...words], spot);
  return runWritten(made, words, spot);
}

/** `git-push` is `git push`. */
function gitCommand(base: string): Behaviour | undefined {
  if (!base.startsWith("git-")) return undefined;
  const name = base.slice("git-".length);
  if (!isGitCommand(name)) return undefined;
  return (call) => judgeGit({ ...call, name: "git", args: [known(name), ...call.args] });
}

/** Builtins that are programs as well. */
const ALSO_PROGRAMS = /^(?:kill|echo|printf|pwd)$/;

const SYSTEM_FOLDER = /^\/(?:usr\/|usr\/local\/|opt\/[\w.-]+\/|snap\/)?s?bin\/[^/]+$/;

const MAX_KEPT = 2000;
const kept = new Map<string, Behaviour | undefined>();

/** What is known about a program of that name. */
export function behaviourOf(base: string): Behaviour | undefined {
  const found = PROGRAMS.get(base);
  if (found || base.length > 40) return found;
  if (kept.has(base)) return kept.get(base);
  const harms = base.startsWith("mkfs.") || base.startsWith("fsck.") ? PROGRAMS.get("mkfs") : undefined;
  const behaviour = harms ?? INTERPRETERS.find(([names]) => names.test(base))?.[1];
  if (kept.size > MAX_KEPT) kept.clear();
  kept.set(base, behaviour);
  return behaviour;
}
