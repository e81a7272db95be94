import type { Behaviour } from "../../call.ts";
import { readArguments } from "../../options.ts";
import { contentOf, deletes, reads, sendBytes, store, unpacksInto, writes } from "../../paths.ts";
import { noteEffect, noteUnknown, type Spot } from "../../state/state.ts";
import { cameFrom, changed, FROM, joinFlows, NOTHING, OUTPUT } from "../../values/flow.ts";
import { describeText, known, startOf, type Text, textOf } from "../../values/text.ts";
import { listedIn, namesInFlow } from "../instruction-files.ts";
import { remoteOf } from "./files.ts";

const TAR_VALUED =
  "rmt-command index-file listed-incremental volno-file f file C directory I use-compress-program T files-from X exclude-from F info-script new-volume-script checkpoint-action to-command rsh-command exclude transform xform strip-components b g N owner group mode mtime K L H format label V warning sort";
const TAR_LONG =
  "create extract get list append update delete verbose gzip bzip2 xz zstd to-stdout keep-old-files overwrite no-recursion dereference absolute-names remove-files one-top-level";

/** The first word of `tar czf` has no dash. */
function withDash(args: readonly Text[]): readonly Text[] {
  const [first, ...rest] = args;
  if (first?.type !== "known" || !/^[A-Za-z]+$/.test(first.text)) return args;
  // Its letters take their values in their order, from the words that follow.
  const letters = [...first.text];
  const valued = letters.filter((letter) => "fCITXFbgNKLHV".includes(letter));
  const values = rest.slice(0, valued.length).flatMap((value, at) => [known(`-${valued[at]}`), value]);
  const plain = letters.filter((letter) => !valued.includes(letter)).join("");
  return [...(plain === "" ? [] : [known(`-${plain}`)]), ...values, ...rest.slice(valued.length)];
}

export const tar: Behaviour = ({ args, spot }) => {
  const given = readArguments(withDash(args), { valued: TAR_VALUED, long: TAR_LONG });
  for (const name of [
    "I",
    "use-compress-program",
    "F",
    "info-script",
    "new-volume-script",
    "to-command",
    "rsh-command",
    "rmt-command",
  ])
    for (const program of given.values(name))
      if (!/^(?:gzip|pigz|zstd|xz|bzip2|lz4|lzma|pbzip2|pixz)(?: -[\w]+)*$/.test(textOf(program)))
        spot.line.engine.runSource(program, { ...spot, input: cameFrom(FROM.files | FROM.decoded) });
  for (const action of given.values("checkpoint-action")) {
    const command = /^exec=(.*)$/s.exec(textOf(action))?.[1];
    if (command !== undefined) spot.line.engine.runSource(known(command), spot);
  }
  for (const list of given.values("T", "files-from", "X", "exclude-from")) reads(spot, list);
  for (const path of given.values("index-file", "g", "listed-incremental", "one-top-level", "volno-file"))
    writes(spot, path);
  const [archive] = given.values("f", "file");
  const named = given.values("T", "files-from").flatMap((list) => listedIn(list, spot));
  const sources = [...given.operands, ...named];
  if (given.has("remove-files")) for (const source of sources) deletes(spot, source, true);
  if (given.has("x", "extract", "get") && given.has("P", "absolute-names"))
    noteUnknown(spot, "unpacks files to wherever the archive says", "Leave out -P.");
  if (given.has("c", "create", "r", "append", "u", "update", "A", "delete")) return pack(sources, archive, spot);
  if (given.has("x", "extract", "get"))
    return unpack(archive, given.has("O", "to-stdout"), { spot, target: given.values("C", "directory")[0] });
  if (archive) reads(spot, archive);
  return OUTPUT;
};

/** Names that a program reads from its input, one a line. */
const namesFrom = ({ input }: Spot): Text[] => namesInFlow(input);

function pack(sources: readonly Text[], archive: Text | undefined, spot: Spot) {
  const flow = changed(joinFlows(sources.map((source) => contentOf(source, spot))));
  const packed = sources.length === 0 ? cameFrom(FROM.files) : { from: flow.from | FROM.files };
  if (!archive || textOf(archive) === "-") return packed;
  const remote = remoteOf(archive);
  if (remote) sendBytes(packed, remote, spot);
  else if (/^\/dev\/fd\/|^\/proc\/self\/fd\//.test(textOf(archive)))
    noteEffect(spot, { kind: "sends", what: `writes an archive to ${describeText(archive)}` });
  else store(archive, packed, { spot });
  return NOTHING;
}

function unpack(
  archive: Text | undefined,
  prints: boolean,
  { spot, target }: { spot: Spot; target: Text | undefined },
) {
  const flow = archive && textOf(archive) !== "-" ? contentOf(archive, spot) : spot.input;
  if (prints) return cameFrom(flow.from | FROM.decoded);
  if (flow.from & FROM.network) spot.line.unpacked = flow;
  writes(spot, target ?? known("."));
  unpacksInto(spot, target ?? known("."));
  return NOTHING;
}

export const zip: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "b i n P t tt x TT" });
  const [archive, ...sources] = given.operands;
  const test = args.findIndex((arg) => /^(?:-TT|--unzip-command)$/.test(textOf(arg)));
  const program = test < 0 ? undefined : args[test + 1];
  if (program) spot.line.engine.runSource(program, spot);
  const named = given.has("@") ? namesFrom(spot) : [];
  const flow = changed(joinFlows([...sources, ...named].map((source) => contentOf(source, spot))));
  if (given.has("m", "move")) for (const source of [...sources, ...named]) deletes(spot, source, true);
  if (archive) store(archive, { from: flow.from | FROM.files }, { spot });
  return OUTPUT;
};

/** `7z x -oFOLDER`, `7z a -sdel`: what it does is its first word, and values stand right behind their option. */
export const sevenZip: Behaviour = ({ args, spot }) => {
  const words = args.filter((arg) => !startOf(arg).startsWith("-"));
  const [action = known(""), archive, ...sources] = words;
  const flow = archive ? contentOf(archive, spot) : spot.input;
  if (/^[lti]$/.test(textOf(action))) return OUTPUT;
  if (/^[xe]$/.test(textOf(action))) {
    const folder = args.find((arg) => startOf(arg).startsWith("-o"));
    return unpack(archive, textOf(args.find((arg) => textOf(arg) === "-so") ?? known("")) !== "", {
      spot,
      target: folder && (folder.type === "known" ? known(folder.text.slice(2)) : folder),
    });
  }
  const packed = changed(joinFlows(sources.map((source) => contentOf(source, spot))));
  if (args.some((arg) => textOf(arg) === "-sdel")) for (const source of sources) deletes(spot, source, true);
  if (archive) store(archive, { from: flow.from | packed.from | FROM.files }, { spot });
  return OUTPUT;
};

/** Copies files whose names it is given, into an archive or a folder. */
export const cpio: Behaviour = (call) => {
  const { args, spot } = call;
  const given = readArguments(args, { valued: "F file D directory E H C I O" });
  if (!given.has("o", "p", "w", "create", "pass-through")) {
    const [folder = known(".")] = given.values("D", "directory");
    writes(spot, folder);
    for (const file of given.values("F", "file", "I")) contentOf(file, spot);
    if (given.has("t", "list")) return OUTPUT;
    unpacksInto(spot, folder);
    return NOTHING;
  }
  const flow = changed(joinFlows(namesFrom(spot).map((name) => contentOf(name, spot))));
  for (const target of [...given.values("F", "file", "O"), ...given.operands]) store(target, flow, { spot });
  for (const target of given.operands) unpacksInto(spot, target);
  return { from: flow.from | FROM.files };
};

export const unzip: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "d P x output" });
  const [archive] = given.operands;
  const flow = archive ? contentOf(archive, spot) : spot.input;
  if (flow.from & FROM.network) spot.line.unpacked = flow;
  if (given.has("p", "c")) return cameFrom(FROM.decoded);
  if (given.has("l", "t", "v", "z", "Z", "h", "hh") || !archive) return OUTPUT;
  const [folder = known(".")] = given.values("d", "output");
  writes(spot, folder);
  unpacksInto(spot, folder);
  return OUTPUT;
};

/** Archives of object files: what it does is in the letters of its first word. */
export const ar: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "output" });
  const [letters = known(""), archive] = args.filter((arg) => !startOf(arg).startsWith("--"));
  for (const folder of given.values("output")) writes(spot, folder);
  if (archive && /[rqdms]/.test(textOf(letters))) writes(spot, archive);
  else if (archive) reads(spot, archive);
  if (textOf(letters).includes("x")) writes(spot, known("."));
  return OUTPUT;
};
