import type { Effect, EffectKind } from "./effects.ts";
import { behindCopies, behindLinks, mayBeUnpacked } from "./links.ts";
import { isIn, normal } from "./normal-path.ts";
import { filesInPatch } from "./patch-files.ts";
import { copyShell, type Line, noteEffect, noteUnknown, type Sink, type Spot } from "./state/state.ts";
import { cameFrom, type Flow, FROM, joinFlows, NOTHING, OUTPUT } from "./values/flow.ts";
import {
  asPattern,
  beforePattern,
  describeText,
  folderBefore,
  isPattern,
  isPlain,
  known,
  placeOfFound,
  startOf,
  type Text,
  unknown,
} from "./values/text.ts";
import { contentAt, keepContent } from "./written.ts";

const NETWORK_FILE = /^\/dev\/(?:tcp|udp)\/(.*)$/;
const DESCRIPTOR_FILE = /^\/(?:dev\/fd|proc\/(?:self|thread-self|\$\$)\/fd)\/(?!\.\.?$)([^/]+)$/;

/** A path as the shell means it, from each folder in which it may be. */
export function absolutePaths(path: Text, spot: Spot): Text[] {
  const paths = fromFolders(path, spot);
  const { links, copies } = spot.line;
  if (!links && !copies) return paths;
  return [
    ...paths,
    ...(links ? paths.flatMap((one) => behindLinks(one, links)) : []),
    ...(copies ? paths.flatMap((one) => behindCopies(one, copies, spot)) : []),
  ];
}

function fromFolders(path: Text, { line, shell }: Spot): Text[] {
  if (path.type === "unknown") return [path];
  if (path.text.startsWith("/")) return [normal(path, path.text)];
  const { folders } = shell;
  if (folders.length === 1) return [fromFolder(path, folders[0], line)];
  return folders.map((folder) => fromFolder(path, folder, line));
}

function fromFolder(path: Extract<Text, { text: string }>, folder: string | undefined, line: Line): Text {
  const { type, text } = path;
  if (folder === undefined) return unknown("where it is cannot be told");
  if (type === "known" && folder !== line.place.folder && isPattern(folder))
    return normal({ type: "glob" }, `${folder}/${asPattern(text)}`);
  const isElsewhere = path.type === "found" && path.at !== undefined && path.at !== folder;
  return normal(isElsewhere ? { ...path, follows: true } : path, folder === "/" ? `/${text}` : `${folder}/${text}`);
}

/** The folders that a path can be, for a shell that goes there. */
export const foldersMeant = (path: Text, spot: Spot): (string | undefined)[] =>
  absolutePaths(path, spot).map((one) => {
    if (one.type === "found") return one.follows ? undefined : `${asPattern(placeOfFound(one).folder)}/*`;
    return one.type === "unknown" ? undefined : one.text;
  });

export interface Touch {
  readonly kind: EffectKind & ("reads" | "writes" | "deletes");
  readonly path: Text;
  readonly whole?: boolean | undefined;
  readonly itself?: boolean | undefined;
}

/** Notes what a command does with a file. What is not a file, such as `-` and `/dev/null`, is nothing. */
export function touch(spot: Spot, what: Touch): void {
  if (isFileName(what.path)) noteTouch(spot, what, absolutePaths(what.path, spot));
}

const isFileName = (path: Text): boolean =>
  path.type !== "known" || (path.text !== "-" && !isNowhere(path.text) && descriptorOf(path.text) === undefined);

/** The same, of paths that are known by now. */
function noteTouch(spot: Spot, { kind, path, whole, itself }: Touch, all: readonly Text[]): void {
  const verb = kind === "writes" && whole ? "changes everything in" : kind;
  const { outward, unpackedInto } = spot.line;
  if (outward && kind !== "reads")
    noteEffect(spot, { kind, what: `may go through a link to ${describeText(outward)}`, path: outward });
  if (unpackedInto && kind !== "reads") {
    const lost = all.find((one) => mayBeUnpacked(one, kind, unpackedInto));
    if (lost) noteUnknown(spot, `${verb} ${describeText(lost)}, where ${MAY_LEAD}`, UNPACK_FIRST);
  }
  const upwards = upwardPaths(path, spot);
  for (let at = 0; at < all.length; at += 1) {
    const one = all[at] as Text;
    const effect: Effect = { kind, what: `${verb} ${describeText(one)}`, path: one };
    noteEffect(spot, whole || itself || upwards ? { ...effect, whole, itself, upward: upwards?.[at] } : effect);
  }
}

const MAY_LEAD = "it has put files that may be links to anywhere";
const UNPACK_FIRST =
  "Do it in two commands, so that it can be seen where it writes, or unpack into a folder of its own.";

/** Something put files there that this line does not name: links may be among them. With `itself` it may be one. */
export function unpacksInto(spot: Spot, path: Text, itself = false): void {
  spot.line.unpackedInto ??= [];
  for (const one of absolutePaths(path, spot))
    if (one.type === "known" || one.type === "glob") {
      // What mktemp made is one folder, and not all that lies beside it.
      const isOwn = isPlain(one) && isIn(one.text, spot.line.place.temporary);
      if (one.type === "glob") spot.line.unpackedInto.push((isOwn ? beforePattern : folderBefore)(one.text));
      else spot.line.unpackedInto.push(itself || one.text.endsWith("/") ? one.text : `${one.text}/`);
    }
}

/** What of patches came from the network; they are read, or those that are piped in, and their files are changed unless it is only tried. */
export function takenPatches(
  files: readonly Text[],
  spot: Spot,
  { isTried = false, strip = 1 } = {},
): Flow | undefined {
  const flow = files.length > 0 ? joinFlows(files.map((file) => contentOf(file, spot))) : spot.input;
  if (!isTried && flow.text !== undefined) patches(flow.text, spot, strip);
  return flow.from & FROM.network ? flow : undefined;
}

/** The files that a patch names which stands in the command. */
export function patches(patch: string, spot: Spot, strip = 1): void {
  for (const name of filesInPatch(patch, strip) ?? [])
    for (const path of absolutePaths(known(name), spot))
      noteEffect(spot, { kind: "writes", what: `writes ${describeText(path)}`, path });
}

/** The same paths as `absolutePaths` has, before `..` is resolved in them. */
function upwardPaths(path: Text, { shell }: Spot): (string | undefined)[] | undefined {
  if ((path.type !== "known" && path.type !== "glob") || !path.text.includes("..")) return undefined;
  const text = path.type === "glob" ? `${folderBefore(path.text)}.` : path.text;
  if (text.startsWith("/")) return [text];
  return shell.folders.map((folder) => (folder === undefined ? undefined : `${folder}/${text}`));
}

export const reads = (spot: Spot, path: Text): void => touch(spot, { kind: "reads", path });
export const writes = (spot: Spot, path: Text): void => touch(spot, { kind: "writes", path });
export const deletes = (spot: Spot, path: Text, whole = false): void => touch(spot, { kind: "deletes", path, whole });

/** What a program is given to read by name, it may print. Files that it reads by itself, or by an option, are its own matter. */
export function noteSecrets(args: readonly Text[], spot: Spot): void {
  for (const arg of args) noteSecret(arg, spot);
}

/** The same, without what may be the value of an option. */
export function noteSecretOperands(args: readonly Text[], spot: Spot): void {
  for (let at = 0; at < args.length; at += 1)
    if (at === 0 || !startOf(args[at - 1] as Text).startsWith("-")) noteSecret(args[at] as Text, spot);
}

const MAY_BE_FILE = /^[@\w./~]/;

function noteSecret(arg: Text, spot: Spot): void {
  if (arg.type !== "known" || !MAY_BE_FILE.test(arg.text)) return;
  const path: Text = arg.text.startsWith("@") ? { type: "known", text: arg.text.slice(1) } : arg;
  for (const one of absolutePaths(path, spot))
    if (spot.line.place.isSecret(one)) {
      reads(spot, path);
      return;
    }
}

/** Something starts that works on the folder it is in: one that is not of the worktree is as good as written. */
export function worksHere(spot: Spot, what: string): void {
  const { folder: root } = spot.line.place;
  for (const folder of spot.shell.folders) {
    if (folder === root) continue;
    const path: Text = folder === undefined ? unknown("where it is cannot be told") : { type: "known", text: folder };
    // One of the worktree may be a link out of it.
    if (folder?.startsWith(`${root}/`))
      noteEffect(spot, { kind: "runs", what: `works in ${describeText(path)}`, path });
    else noteEffect(spot, { kind: "writes", what: `works in ${describeText(path)}`, path });
  }
  noteEffect(spot, { kind: "runs", what });
}

/** The same shell in another folder, as options like `-C` have it; the last one counts. */
export function inFolder(spot: Spot, folders: readonly Text[]): Spot {
  if (folders.length === 0) return spot;
  const shell = copyShell(spot.shell);
  for (const folder of folders) shell.folders = foldersMeant(folder, { ...spot, shell });
  return { ...spot, shell };
}

export function isNowhere(path: string): boolean {
  return path.startsWith("/dev/") && /^\/dev\/(?:null|zero|full|tty|stderr|stdout)$/.test(path);
}

/** The descriptor behind names like `/dev/stdin` and `/dev/fd/3`. */
export function descriptorOf(path: string): string | undefined {
  if (!path.startsWith("/")) return undefined;
  if (path === "/dev/stdin") return "0";
  if (path === "/dev/stdout") return "1";
  return DESCRIPTOR_FILE.exec(path)?.[1];
}

export function networkPlace(path: Text): string | undefined {
  if (path.type === "found") return undefined;
  const text = startOf(path);
  return text.startsWith("/dev/") ? NETWORK_FILE.exec(text)?.[1] : undefined;
}

/** What is in a file, as far as this line tells; notes that it is read. */
export function contentOf(path: Text, spot: Spot): Flow {
  if (path.type === "known") {
    if (path.text === "-" || path.text === "/dev/stdin") return spot.input;
    const descriptor = descriptorOf(path.text);
    if (descriptor !== undefined) return spot.shell.channels.get(descriptor)?.reads ?? cameFrom(FROM.program);
    if (path.text === "/dev/null") return NOTHING;
  }
  const machine = networkPlace(path);
  if (machine !== undefined) {
    noteEffect(spot, { kind: "fetches", what: `connects to ${machine}` });
    return cameFrom(FROM.network);
  }
  const { place } = spot.line;
  const all = absolutePaths(path, spot);
  if (isFileName(path)) noteTouch(spot, { kind: "reads", path }, all);
  let from: number = FROM.files;
  let holdsHome = false;
  for (const one of all) {
    if (place.isSecret(one)) from |= FROM.secret;
    if (!isNear(one, spot)) from |= FROM.outside;
    if (one.type !== "known") continue;
    holdsHome ||= one.text === "/" || isIn(place.home, one.text);
    // Numbers of its processes are among what prloom keeps there.
    if (one.text.includes("/prloom/.local/")) from |= FROM.agents;
  }
  // With everything below it, which are keys among others.
  if (holdsHome) reads(spot, { type: "known", text: `${place.home}/.ssh` });
  return writtenBefore(path, spot) ?? cameFrom(from);
}

/** In the worktree, or in the folder for temporary files, as far as can be told without following links. */
function isNear(path: Text, { line: { place } }: Spot): boolean {
  const at = path.type === "unknown" ? path.starts : path.text;
  return at === undefined || !at.startsWith("/") || isIn(at, place.folder) || isIn(at, place.temporary);
}

/** What this line wrote there; undefined when it did not. */
export function writtenBefore(path: Text, spot: Spot): Flow | undefined {
  const { files, unpacked } = spot.line;
  if (files.size === 0 && !unpacked) return undefined;
  const isKnown = (one: Text) => one.type !== "unknown" && isNear(one, spot);
  const before = (one: Text) => cameFrom(isKnown(one) ? FROM.files : FROM.files | FROM.outside);
  return contentAt(absolutePaths(path, spot), spot, before);
}

/** Bytes go into a file. */
export function store(path: Text, flow: Flow, { spot, appends = false }: { spot: Spot; appends?: boolean }): void {
  const all = absolutePaths(path, spot);
  if (isFileName(path)) noteTouch(spot, { kind: "writes", path }, all);
  keepContent(all, flow, { spot, appends });
}

/** Hands bytes to where they go; that a file is written was noted when it was opened. */
export function deliverBytes(flow: Flow, sink: Sink, spot: Spot): void {
  if (sink.to === "file") keepContent(absolutePaths(sink.path, spot), flow, { spot, appends: sink.appends });
  if (sink.to === "network") sendBytes(flow, sink.where, spot);
}

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1\]|::1|host\.docker\.internal)(?::\d*)?$/i;

/** What is behind the last `@` of an address, and before its path, is the machine. Programs read backslashes differently. */
export function isLoopback(where: string): boolean {
  const [server = ""] = where.replace(/^[a-z+]+:\/\//i, "").split(/[/?#]/);
  return !server.includes("\\") && LOOPBACK.test(server.slice(server.lastIndexOf("@") + 1));
}

/** Whether an address is one of this machine: what is put behind its path is for a server there. */
export function isHere(address: Text): boolean {
  const where = startOf(address);
  return isLoopback(where) && (address.type !== "unknown" || /^[^/?#@]+\//.test(where.replace(/^https?:\/\//i, "")));
}

/** Arguments that are addresses: what a program or a file put into one leaves with it. */
export function noteAddresses(args: readonly Text[], spot: Spot): void {
  for (const arg of args) {
    if (arg.type !== "unknown" || !arg.from) continue;
    const start = startOf(arg);
    if (/^[a-z+]+:\/\//i.test(start) && !isLoopback(start)) sendBytes(OUTPUT, start, spot);
  }
}

/** Bytes leave for another machine: only what stands in the command itself may. Servers of this one do what they are told. */
export function sendBytes(flow: Flow, where: string, spot: Spot): void {
  const isOwn = flow.text !== undefined && flow.from === 0;
  if (isLoopback(where)) {
    if (flow.text !== "") noteEffect(spot, { kind: "runs", what: `tells a server at ${where} what to do` });
    return;
  }
  const what = isOwn
    ? `${flow.text === "" ? "fetches from" : "sends what is in the command to"} ${where}`
    : `sends what is not in the command itself to ${where}`;
  noteEffect(spot, { kind: isOwn ? "fetches" : "sends", what });
}
