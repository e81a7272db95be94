import type { Behaviour } from "../../call.ts";
import { noteGone } from "../../folders.ts";
import { type Arguments, type OptionRules, readArguments } from "../../options.ts";
import { absolutePaths, contentOf, isLoopback, reads, store, touch, writes } from "../../paths.ts";
import { noteEffect, noteUnknown, type Spot } from "../../state/state.ts";
import { cameFrom, changed, type Flow, FROM, joinFlows, NOTHING, OUTPUT, someOf } from "../../values/flow.ts";
import { asPattern, describeText, joinTexts, known, startOf, type Text, textOf, unknown } from "../../values/text.ts";
import { isList, listedIn } from "../instruction-files.ts";

/** How the arguments of a program that only reads are told apart. */
export interface Reader {
  readonly rules?: OptionRules;
  /** Operands in front of the files: a pattern, a filter. */
  readonly skip?: number;
  /** Options whose presence means that there is no such operand. */
  readonly unless?: readonly string[];
  /** Options that name a file to write. */
  readonly writes?: readonly string[];
  /** What it prints is what it reads, unchanged. */
  readonly copies?: boolean;
  /** Whether it prints lines of what it reads as they are. */
  readonly keeps?: (given: Arguments) => boolean;
}

export function reader(how: Reader): Behaviour {
  const { rules = {} } = how;
  return ({ args, spot }) => readFiles(readArguments(args, rules), how, spot);
}

/** The same, of arguments that are told apart by now. */
export function readFiles(given: Arguments, how: Reader, spot: Spot): Flow {
  const { skip = 0, unless = [], writes: outputs = [], copies = false } = how;
  const skipped = given.hasOneOf(unless) ? 0 : skip;
  const files = given.operands.slice(skipped);
  // What one program takes as the value of an option is a file to another.
  for (const { name, value } of given.options)
    if (value && isList(name)) for (const one of listedIn(value, spot)) reads(spot, one);
  if (skip === 0) for (const { value } of given.options) if (value && isSecretHere(value, spot)) reads(spot, value);
  const flow = files.length === 0 ? spot.input : joinFlows(files.map((file) => contentOf(file, spot)));
  for (const path of given.values(...outputs)) store(path, changed(flow), { spot });
  return copies ? flow : how.keeps?.(given) ? someOf(flow) : changed(flow);
}

export const isSecretHere = (path: Text, spot: Spot): boolean =>
  absolutePaths(path, spot).some((one) => spot.line.place.isSecret(one));

/** `tee` passes on what it writes. */
export const tee: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {});
  for (const path of given.operands) {
    const key = /^\/dev\/fd\/(.+)$/.exec(textOf(path))?.[1];
    if (key === undefined) store(path, spot.input, { spot, appends: given.has("a", "append") });
  }
  return spot.input;
};

export const remove: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    long: "recursive force interactive verbose dir one-file-system preserve-root no-preserve-root",
  });
  const whole = name !== "unlink" && name !== "rmdir" && given.has("r", "R", "recursive");
  for (const path of given.operands) {
    const itself = /^(?:rm|unlink)$/.test(name) && path.type === "known" && !/\/\.?$/.test(path.text);
    touch(spot, { kind: "deletes", path, whole, itself });
    if (whole || name === "rmdir" || given.has("d", "dir")) noteGone(absolutePaths(path, spot), spot);
    // With a slash behind it, a link is what it leads to.
    if (path.type === "glob" && /\/\.?$/.test(path.text)) writes(spot, path);
  }
  return OUTPUT;
};

/** What goes through a pipe with a name is not told by what was written before: anything may be. */
const COMES_FROM_ANYWHERE: Flow = { from: FROM.network | FROM.program };

/** Their options that take a value: the same letters take none for others of them. */
const CREATE_VALUED: Readonly<Record<string, string>> = {
  touch: "d date t r reference time",
  truncate: "s size r reference",
  fallocate: "l length o offset",
};

export const create: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, { valued: CREATE_VALUED[name] ?? "m mode" });
  for (const path of given.values("r", "reference")) reads(spot, path);
  const isLasting = name === "mkdir" && given.has("p", "parents");
  for (const path of given.operands) {
    if (name !== "mkdir") noteTouched(path, spot);
    // With -p a folder that is there stays as it is.
    if (isLasting && isFolder(path, spot)) reads(spot, path);
    else if (name === "mkfifo" || name === "mknod") store(path, COMES_FROM_ANYWHERE, { spot });
    else writes(spot, path);
  }
  return OUTPUT;
};

/** No folder can be made where a file is. */
function noteTouched(path: Text, spot: Spot): void {
  spot.line.touched ??= new Set();
  for (const one of absolutePaths(path, spot)) spot.line.touched.add(textOf(one));
}

export const isFolder = (path: Text, spot: Spot): boolean =>
  absolutePaths(path, spot).every((one) => one.type === "known" && spot.line.place.look(one.text) === "folder");

export function privileged(spot: Spot, what: string): void {
  noteEffect(spot, { kind: "privilege", what });
}

/** chmod, chown, chgrp, chattr: the first operand is not a file, unless a reference is given. */
export const changeRights: Behaviour = ({ name, args, spot }) => {
  const isMode = name === "chmod";
  const modes = isMode ? args.filter((arg) => !/^-[rwxXst,]+$/.test(textOf(arg))) : args;
  const given = readArguments(modes, {
    valued: name === "chattr" ? "p v" : "reference from",
    long: "recursive changes silent quiet verbose dereference no-dereference",
  });
  const removesRights = modes.length < args.length;
  const hasReference = given.values("reference").length > 0;
  const [first] = given.operands;
  const files = hasReference || removesRights ? given.operands : given.operands.slice(1);
  if (isMode && first && /^[0-7]?[4267][0-7]{3}$|[+=][rwxXt]*s/.test(textOf(first)))
    privileged(spot, "gives a program the rights of its owner");
  if (!isMode && !hasReference && /^(?:root|0)(?::|$)/.test(textOf(first ?? known(""))))
    privileged(spot, `gives files to ${describeText(first ?? known(""))}`);
  for (const path of files) touch(spot, { kind: "writes", path, whole: given.has("R", "recursive") });
  return OUTPUT;
};

/** The rest of `name=value`. */
function afterEquals(arg: Text): Text {
  const length = startOf(arg).indexOf("=") + 1;
  if (arg.type === "unknown") return { ...arg, starts: startOf(arg).slice(length) };
  return arg.type === "glob" ? { type: "glob", text: arg.text.slice(length) } : known(textOf(arg).slice(length));
}

export const dd: Behaviour = ({ args, spot }) => {
  let flow = spot.input;
  for (const arg of args) if (startOf(arg).startsWith("if=")) flow = contentOf(afterEquals(arg), spot);
  const target = args.find((arg) => startOf(arg).startsWith("of="));
  if (!target) return flow;
  store(afterEquals(target), flow, { spot });
  return NOTHING;
};

/** A name that is not there yet, in the folder for temporary files unless another is given. */
export const mktemp: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "p suffix", long: "tmpdir directory dry-run quiet" });
  const [template] = given.operands;
  const [folder] = [
    ...given.values("p", "tmpdir"),
    ...(given.has("t", "tmpdir") || !template ? [temporary(spot)] : []),
  ];
  const written = template ? textOf(template) : "tmp.XXX";
  const plain = template === undefined || (template.type === "known" && asPattern(written) === written);
  const name: Text = { type: "glob", text: written.replace(/X{3,}/g, "*"), plain };
  const path = folder ? joinTexts([folder, known("/"), name]) : name;
  writes(spot, path);
  return { from: FROM.program, names: [path] };
};

function temporary({ shell, line }: Spot): Text {
  const [only, ...more] = shell.variables.get("TMPDIR") ?? [known(line.place.temporary)];
  return only && more.length === 0 ? only : unknown("it can be several folders");
}

/** Puts together names that stand in its input, its operands or its patterns. */
export const split: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued: `${name === "csplit" ? "f prefix b suffix-format n digits" : "b l n a C"} suffix-length bytes lines number additional-suffix filter`,
  });
  const [source, second] = given.operands;
  const prefix = (name === "csplit" ? given.values("f", "prefix")[0] : second) ?? known("x");
  if (source) contentOf(source, spot);
  if (args.some((arg) => textOf(arg).startsWith("--filter"))) noteUnknown(spot, "runs a command for each part");
  writes(spot, { type: "glob", text: `${textOf(prefix)}*` });
  return OUTPUT;
};

/** gzip and its like replace a file by another. */
export const compress: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued: "S suffix T threads o",
    long: "stdout to-stdout decompress uncompress keep list test force recursive",
  });
  const decodes = given.has("d", "decompress", "uncompress") || /^(?:g|b|)un|cat$/.test(name);
  const only = given.has("c", "stdout", "to-stdout", "l", "list", "t", "test") || /cat$/.test(name);
  const flows = given.operands.map((path) => contentOf(path, spot));
  const flow = flows.length === 0 ? spot.input : joinFlows(flows);
  const out = decodes ? cameFrom(flow.from | FROM.decoded) : changed(flow);
  if (only || flows.length === 0) return out;
  given.operands.forEach((path, at) => {
    const [suffix] = given.values("S", "suffix");
    const ending = suffix
      ? textOf(suffix)
      : ({ gzip: ".gz", bzip2: ".bz2", xz: ".xz", zstd: ".zst", lzma: ".lzma", compress: ".Z" }[name] ?? ".gz");
    const target = decodes ? known(textOf(path).replace(/\.\w+$/, "")) : joinTexts([path, known(ending)]);
    store(target, decodes ? out : changed(flows[at] ?? OUTPUT), { spot });
  });
  for (const path of given.values("o")) store(path, out, { spot });
  return NOTHING;
};

const REMOTE = /^(?:[\w.-]+@)?[\w.-]+:(?!\/\/)|^rsync:\/\//;

/** Whether an argument of scp, rsync or tar names another machine. */
export function remoteOf(path: Text): string | undefined {
  const text = textOf(path);
  return REMOTE.test(text) && !text.startsWith("/") && !text.startsWith("../") && !isLoopback(text) ? text : undefined;
}
