import { posix } from "node:path";
import type { Behaviour } from "../../call.ts";
import { noteGone } from "../../folders.ts";
import { isIn } from "../../normal-path.ts";
import { type Arguments, type OptionRules, readArguments } from "../../options.ts";
import { absolutePaths, contentOf, deletes, reads, store, unpacksInto, writes, writtenBefore } from "../../paths.ts";
import { noteUnknown, type Spot } from "../../state/state.ts";
import { cameFrom, type Flow, FROM, OUTPUT } from "../../values/flow.ts";
import { beforePattern, joinTexts, known, type Text, textOf } from "../../values/text.ts";
import { isFolder, isSecretHere, privileged } from "./files.ts";

const COPY_RULES: OptionRules = {
  valued: "t target-directory S suffix m mode o owner g group backup-suffix",
  long: "recursive archive no-dereference force no-target-directory symbolic link verbose update preserve",
};

/** Where sources go to: an operand, or an option. */
function destination(given: Arguments): { sources: readonly Text[]; target: Text | undefined } {
  const [folder] = given.values("t", "target-directory");
  if (folder) return { sources: given.operands, target: folder };
  const [only, ...more] = given.operands;
  // It may be several, of which the last one is the target.
  if (only && more.length === 0 && only.type !== "known") return { sources: [only], target: only };
  return { sources: given.operands.slice(0, -1), target: more.at(-1) };
}

/** Whether it is a file wherever the shell may be. */
const isFile = (path: Text, spot: Spot): boolean =>
  absolutePaths(path, spot).every((one) => one.type === "known" && spot.line.place.look(one.text) === "file");

/** A file gets another name: what was known of it holds there, too. */
export function copyTo(source: Text, target: Text, { spot, flow, keepsLinks = false }: Copying): void {
  store(target, flow, { spot });
  const name = textOf(source)
    .replace(/(?<!\/)\/+$/, "")
    .replace(/^.*\//, "");
  if (target.type !== "known") return;
  const inside = joinTexts([target, known(target.text.endsWith("/") ? name : `/${name}`)]);
  const isInside = name !== "" && !isFile(target, spot);
  if (isInside) store(inside, flow, { spot });
  if (keepsLinks) rememberCopy(source, isInside ? [target, inside] : [target], spot);
}

interface Copying {
  readonly spot: Spot;
  readonly flow: Flow;
  /** Whether links stay links, and lead to where they led. */
  readonly keepsLinks?: boolean;
}

/** Of a copy of a copy it is the first that has the links. */
function rememberCopy(source: Text, targets: readonly Text[], spot: Spot): void {
  const given = source.type === "glob" ? known(posix.dirname(`${beforePattern(source.text)}.`)) : source;
  const before = absolutePaths(given, spot);
  if (before.some(({ type }) => type !== "known")) {
    for (const target of targets) unpacksInto(spot, target, !isFolder(target, spot));
    return;
  }
  spot.line.copies ??= new Map();
  const { copies } = spot.line;
  for (const target of targets)
    for (const [at, place] of absolutePaths(target, spot).entries()) {
      let from = textOf(before[at] ?? (before[0] as Text));
      for (const [to, first] of copies) if (isIn(from, to)) from = `${first}${from.slice(to.length)}`;
      if (place.type === "known" && place.text !== from) copies.set(place.text, from);
    }
}

export const copy: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, COPY_RULES);
  const { sources, target } = destination(given);
  if (name !== "install" && given.has("s", "symbolic-link")) return link({ name, args, spot });
  if (name === "install" && given.has("d")) {
    for (const path of given.operands) writes(spot, path);
    return OUTPUT;
  }
  if (name === "install" && /[4267]\d{3}|s/.test(given.values("m", "mode").map(textOf).join()))
    privileged(spot, "gives a program the rights of its owner");
  const keepsLinks = given.has("r", "R", "a", "d", "P", "recursive", "archive", "no-dereference");
  for (const source of sources) {
    const flow = contentOf(source, spot);
    // A second name of the same file: writing there writes here.
    if (given.has("l", "link")) writes(spot, source);
    if (target) copyTo(source, target, { spot, flow, keepsLinks });
  }
  return OUTPUT;
};

/** A symbolic link is read from the folder that it is in. */
function fromLink(source: Text, target: Text | undefined, spot: Spot): Text {
  if (source.type !== "known" || source.text.startsWith("/") || target?.type !== "known") return source;
  const [place] = absolutePaths(target, spot);
  const isFolder = place?.type === "known" && spot.line.place.look(place.text) === "folder";
  const folder = isFolder ? target.text : posix.dirname(target.text);
  return known(`${folder}/${source.text}`);
}

/** A relative link out of the worktree is harmless by itself: what is written through it later is judged by where it leads. */
function leavesTree(source: Text, linked: Text, spot: Spot): boolean {
  const { folder } = spot.line.place;
  return (
    source.type === "known" &&
    source.text.startsWith("..") &&
    absolutePaths(linked, spot).every((path) => path.type === "known" && !`${path.text}/`.startsWith(`${folder}/`))
  );
}

/** A link makes one file known under another name: writing there writes here. */
export const link: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, COPY_RULES);
  const { sources, target } = destination(given);
  const names = target ? sources : given.operands;
  let outward: Text | undefined;
  const links: [name: Text, linked: Text][] = [];
  for (const source of names) {
    // What is linked can be changed through the link.
    const isSymbolic = given.has("s", "symbolic", "symbolic-link");
    const linked = isSymbolic ? fromLink(source, target, spot) : source;
    if (isSymbolic && leavesTree(source, linked, spot)) outward = linked;
    else if (!isSymbolic || textOf(source).startsWith("/") || textOf(source).includes("..")) writes(spot, linked);
    const isSecret = isSecretHere(source, spot);
    if (isSecret) reads(spot, source);
    const flow = writtenBefore(source, spot) ?? cameFrom(FROM.files | (isSecret ? FROM.secret : 0));
    if (target) copyTo(source, target, { spot, flow });
    else writes(spot, known(textOf(source).replace(/^.*\//, "") || "."));
    if (isSymbolic) links.push([target ?? known(textOf(source).replace(/^.*\//, "")), linked]);
  }
  for (const [name, linked] of links) rememberLink(name, linked, spot);
  // Not before: what this line writes from now on may go through the link, which is not there yet to be followed.
  if (outward) spot.line.outward = absolutePaths(outward, spot)[0];
  return OUTPUT;
};

/** More than a line needs: each path is looked at behind each of them. */
const MAX_LINKS = 8;

/** From each folder in which this may be done. Behind a name in a folder, too, if the name turns out to be one. */
function rememberLink(name: Text, linked: Text, spot: Spot): void {
  const leads = absolutePaths(linked, spot);
  for (const [at, place] of absolutePaths(name, spot).entries()) {
    const to = leads[at] ?? leads[0];
    if (place.type !== "known" || to?.type !== "known" || place.text === to.text) continue;
    spot.line.links ??= new Map();
    const { links } = spot.line;
    if (links.size >= MAX_LINKS) noteUnknown(spot, "makes more links than can be followed");
    const isFolder = spot.line.place.look(place.text) === "folder";
    if (links.size < MAX_LINKS) links.set(isFolder ? `${place.text}/${posix.basename(to.text)}` : place.text, to.text);
  }
}

export const move: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, COPY_RULES);
  const { sources, target } = destination(given);
  for (const source of sources) {
    const flow = contentOf(source, spot);
    deletes(spot, source, true);
    noteGone(absolutePaths(source, spot), spot);
    if (target) copyTo(source, target, { spot, flow, keepsLinks: true });
  }
  return OUTPUT;
};
