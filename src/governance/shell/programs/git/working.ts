import type { Behaviour, ProgramCall } from "../../call.ts";
import { noteGone } from "../../folders.ts";
import { type Arguments, readArguments } from "../../options.ts";
import {
  absolutePaths,
  deletes,
  noteAddresses,
  noteSecrets,
  reads,
  sendBytes,
  takenPatches,
  unpacksInto,
  writes,
} from "../../paths.ts";
import { noteEffect, noteUnknown } from "../../state/state.ts";
import { cameFrom, FROM, OUTPUT } from "../../values/flow.ts";
import { describeText, joinLine, known, textOf } from "../../values/text.ts";
import { copyTo } from "../files/copying.ts";
import { changesFiles, changesIt, changesTree, history, pathspec } from "./changes.ts";
import { noteForcedRefs } from "./losing.ts";
import { useSetting } from "./settings.ts";

/** Moves commits of this branch, which no one else has yet: it can be taken back. Editors and commands of it are judged. */
export const rebase: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "x exec s strategy X onto C" });
  for (const command of given.values("x", "exec")) spot.line.engine.runSource(command, spot);
  return changesTree({ name: "rebase", args, spot });
};

export const bisect: Behaviour = ({ args, spot }) => {
  const [sub, ...words] = args;
  if (textOf(sub ?? known("")) === "log") return OUTPUT;
  if (textOf(sub ?? known("")) === "run") spot.line.engine.runWords(words, spot);
  return changesTree({ name: "bisect", args, spot });
};

const ADDS_REPOSITORY = /^(?:add|set-url|set-branch|sync|absorbgitdirs)$/;

export const submodule: Behaviour = ({ args, spot }) => {
  const at = args.findIndex((arg) => textOf(arg) === "foreach");
  if (at >= 0) {
    const words = readArguments(args.slice(at + 1), { stopsAtOperand: true }).operands;
    return spot.line.engine.runSource(joinLine(words), spot);
  }
  const { operands } = readArguments(args, { valued: "b branch name reference depth" });
  const name = textOf(operands[0] ?? known("status"));
  if (name === "status" || name === "summary") return OUTPUT;
  if (ADDS_REPOSITORY.test(name))
    noteEffect(spot, { kind: "ours", what: `changes which repositories git gets with git submodule ${name}` });
  if (name === "deinit") history(spot, "deletes folders of submodules, also what is not committed there");
  const paths = operands.slice(1);
  if (name !== "update" || paths.length === 0) return changesTree({ name: "submodule", args, spot });
  for (const path of paths) unpacksInto(spot, pathspec(path, spot));
  return changesIt({ name: "submodule", args, spot });
};

/** Objects come from elsewhere; nothing of them is run. */
export const fetches: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued:
      "u upload-pack exec o server-option depth b branch j jobs template c config origin reference separate-git-dir filter shallow-since s strategy X",
  });
  for (const program of given.values("u", "upload-pack", "exec")) spot.line.engine.runSource(program, spot);
  for (const template of given.values("template"))
    noteEffect(spot, { kind: "code", what: `makes a repository from ${describeText(template)}` });
  for (const folder of given.values("separate-git-dir")) writes(spot, folder);
  for (const one of given.values("c", "config")) useSetting(one, { spot, aliases: new Map(), command: name });
  for (const operand of given.operands)
    if (/^ext::|^-|--upload-pack/.test(textOf(operand)))
      noteEffect(spot, { kind: "code", what: `makes git run a program: ${describeText(operand)}` });
  noteAddresses(given.operands, spot);
  noteEffect(spot, { kind: "fetches", what: `git ${name} gets commits from elsewhere` });
  if (name === "fetch" || name === "pull") noteForcedRefs(given.operands.slice(1), given.has("f", "force"), spot);
  const isMoving = given.operands.slice(1).some((ref) => /:(?!refs\/remotes\/|$)/.test(textOf(ref)));
  if (name === "fetch" && (isMoving || given.has("p", "prune", "P", "prune-tags"))) changesIt({ name, args, spot });
  const [from, target] = given.operands;
  // Of a remote that has a name, a person said that it is one, and a file is here already.
  if (name !== "ls-remote" && from && /^(?!file:)[\w.+-]+:|^[\w.-]+@/.test(textOf(from)))
    spot.line.unpacked = cameFrom(FROM.network);
  if (name === "clone") {
    const named = textOf(from ?? known(""))
      .replace(/(?<!\/)\/+$/, "")
      .replace(/\.git$/, "")
      .replace(/^.*[/:]/, "");
    const folder = target ?? known(named || ".");
    writes(spot, folder);
    unpacksInto(spot, folder);
  } else if (name === "pull") changesTree({ name, args, spot });
  return OUTPUT;
};

export const removes: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, { valued: "pathspec-from-file", long: "cached force dry-run quiet" });
  if (given.has("n", "dry-run")) return OUTPUT;
  if (given.has("pathspec-from-file")) noteUnknown(spot, "deletes files whose names stand in another file");
  if (name === "rm" && given.has("cached")) return changesIt({ name, args, spot });
  noteGone(
    given.operands.flatMap((path) => absolutePaths(pathspec(path, spot), spot)),
    spot,
  );
  if (name === "rm") for (const path of given.operands) deletes(spot, pathspec(path, spot), given.has("r"));
  else {
    const [target, ...sources] = given.operands.toReversed();
    for (const path of sources) for (const does of [reads, writes]) does(spot, path);
    const flow = cameFrom(FROM.files);
    if (target) for (const source of sources) copyTo(source, target, { spot, flow, keepsLinks: true });
  }
  return OUTPUT;
};

const stripOf = (given: Arguments): number => Number(textOf(given.values("p").at(-1) ?? known("1")));

export const apply: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "p C directory exclude include whitespace build-fake-ancestor",
    long: "check stat numstat summary cached index 3way",
  });
  const isTried = given.has("check", "stat", "numstat", "summary");
  const taken = takenPatches(given.operands, spot, { isTried, strip: stripOf(given) });
  if (isTried) return OUTPUT;
  spot.line.unpacked ??= taken;
  for (const path of given.values("directory", "build-fake-ancestor")) writes(spot, path);
  if (given.has("unsafe-paths")) noteUnknown(spot, "lets a patch write anywhere");
  writes(spot, known("."));
  changesFiles(spot);
  return OUTPUT;
};

export const applyMails: Behaviour = (call) => {
  const given = readArguments(call.args, { valued: "p C directory S" });
  call.spot.line.unpacked ??= takenPatches(given.operands, call.spot, { strip: stripOf(given) });
  return changesTree(call);
};

export const initRepository: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "b initial-branch template separate-git-dir object-format ref-format shared",
  });
  for (const template of given.values("template", "separate-git-dir"))
    noteEffect(spot, { kind: "code", what: `makes a repository from ${describeText(template)}` });
  for (const folder of given.operands.length > 0 ? given.operands : [known(".")]) writes(spot, folder);
  return OUTPUT;
};

export const commit: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "m message F file C reuse-message c reedit-message t template author date fixup squash trailer cleanup S",
  });
  for (const file of given.values("F", "file", "t", "template")) if (textOf(file) !== "-") reads(spot, file);
  noteSecrets(given.operands, spot);
  return changesIt({ name: "commit", args, spot });
};

/** What a tag, a note or a merge says can be a file. */
export function readsMessage({ args, spot }: ProgramCall): void {
  const given = readArguments(args, { valued: "F file m message" });
  for (const file of given.values("F", "file")) if (textOf(file) !== "-") reads(spot, file);
}

/** What is added can be shown, and is in the next commit: a secret that is named is not. */
export const adds: Behaviour = (call) => {
  noteSecrets(readArguments(call.args, { valued: "chmod pathspec-from-file" }).operands, call.spot);
  return changesIt(call);
};

export const packs: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued: "o expire-to unpack-unreachable window depth threads",
    long: "keep-unreachable",
  });
  for (const path of given.values("o", "expire-to")) writes(spot, path);
  if (name === "pack-objects") for (const path of given.operands) writes(spot, path);
  const drops = given.has("a") && given.has("d") && !given.has("k", "keep-unreachable");
  if (name === "repack" && (drops || given.values("unpack-unreachable").length > 0))
    history(spot, "deletes commits that no branch has");
  return changesIt({ name, args, spot });
};

export const archive: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "o output format prefix remote exec add-file" });
  for (const path of given.values("o", "output")) writes(spot, path);
  for (const program of given.values("exec")) spot.line.engine.runSource(program, spot);
  for (const where of given.values("remote")) sendBytes(OUTPUT, textOf(where), spot);
  for (const path of [...given.operands.slice(1), ...given.values("add-file")]) reads(spot, path);
  return cameFrom(FROM.files);
};
