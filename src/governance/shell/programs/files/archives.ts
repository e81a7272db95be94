import type { Behaviour } from "../../call.ts";
import { readArguments } from "../../options.ts";
import { contentOf, reads, sendBytes, store, writes } from "../../paths.ts";
import { noteEffect, type Spot } from "../../state.ts";
import { cameFrom, changed, FROM, joinFlows, NOTHING, OUTPUT } from "../../values/flow.ts";
import { describeText, known, type Text, textOf } from "../../values/text.ts";
import { remoteOf } from "./files.ts";

const TAR_VALUED =
  "f file C directory I use-compress-program T files-from X exclude-from F info-script new-volume-script checkpoint-action to-command rsh-command exclude transform xform strip-components b g N owner group mode mtime K L H format label V warning sort";
const TAR_LONG =
  "create extract get list append update delete verbose gzip bzip2 xz zstd to-stdout keep-old-files overwrite no-recursion dereference absolute-names";

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
  ])
    for (const program of given.values(name))
      if (!/^(?:gzip|pigz|zstd|xz|bzip2|lz4|lzma|pbzip2|pixz)(?: -[\w]+)*$/.test(textOf(program)))
        spot.line.engine.runSource(program, spot);
  for (const action of given.values("checkpoint-action")) {
    const command = /^exec=(.*)$/s.exec(textOf(action))?.[1];
    if (command !== undefined) spot.line.engine.runSource(known(command), spot);
  }
  for (const list of given.values("T", "files-from", "X", "exclude-from")) reads(spot, list);
  const [archive] = given.values("f", "file");
  if (given.has("c", "create", "r", "append", "u", "update", "A", "delete")) return pack(given.operands, archive, spot);
  if (given.has("x", "extract", "get"))
    return unpack(archive, given.has("O", "to-stdout"), { spot, target: given.values("C", "directory")[0] });
  if (archive) reads(spot, archive);
  return OUTPUT;
};

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
  writes(spot, target ?? known("."));
  return NOTHING;
}

export const zip: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "b i n P t tt x TT" });
  const [archive, ...sources] = given.operands;
  const test = args.findIndex((arg) => /^(?:-TT|--unzip-command)$/.test(textOf(arg)));
  const program = test < 0 ? undefined : args[test + 1];
  if (program) spot.line.engine.runSource(program, spot);
  const flow = given.has("@")
    ? cameFrom(FROM.secret | FROM.files)
    : changed(joinFlows(sources.map((source) => contentOf(source, spot))));
  if (archive) store(archive, { from: flow.from | FROM.files }, { spot });
  return OUTPUT;
};

export const unzip: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "d P x" });
  const [archive] = given.operands;
  if (archive) contentOf(archive, spot);
  if (given.has("p", "c")) return cameFrom(FROM.decoded);
  if (given.has("l", "t", "v", "z", "Z", "h", "hh") || !archive) return OUTPUT;
  writes(spot, given.values("d")[0] ?? known("."));
  return OUTPUT;
};
