import type { Behaviour } from "../../call.ts";
import { readArguments } from "../../options.ts";
import { contentOf, deletes, reads, sendBytes, store, unpacksInto, writes } from "../../paths.ts";
import { noteEffect, noteUnknown, type Spot } from "../../state/state.ts";
import { cameFrom, FROM, OUTPUT, TERMINAL } from "../../values/flow.ts";
import { describeText, joinLine, known, type Text, textOf } from "../../values/text.ts";
import { remoteOf } from "../files/files.ts";
import { listedIn } from "../instruction-files.ts";

const SSH_VALUED = "B b c D E e F I i J L l m O o p Q R S W w P X";
const SSH_RUNS =
  /^(?:proxycommand|localcommand|knownhostscommand|permitlocalcommand|match|include|identityagent|pkcs11provider|securitykeyprovider|remotecommand|proxyjump)\b/i;

function sshOptions(values: readonly Text[], spot: Spot): void {
  for (const value of values) {
    const [key = "", ...rest] = textOf(value).split(/[=\s]/);
    if (value.type !== "known") noteUnknown(spot, "gives ssh an option that cannot be told");
    else if (SSH_RUNS.test(key)) {
      noteEffect(spot, { kind: "code", what: `makes ssh run a command: ${value.text}` });
      spot.line.engine.runSource(known(rest.join(" ")), spot);
    }
  }
}

/** Another machine: a command there is judged as one here, and nothing of here goes there. */
export const ssh: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: SSH_VALUED, stopsAtOperand: true });
  sshOptions(given.values("o"), spot);
  for (const file of given.values("F")) noteUnknown(spot, `takes options for ssh from ${describeText(file)}`);
  const [host, ...words] = given.operands;
  if (given.has("V")) return OUTPUT;
  const where = describeText(host ?? known("a server"));
  if (spot.input !== TERMINAL) sendBytes(spot.input, where, spot);
  noteEffect(spot, { kind: "sends", what: `works on another machine: ${where}` });
  if (words.length > 0) spot.line.engine.runSource(joinLine(words), spot);
  return cameFrom(FROM.network);
};

export const scp: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: SSH_VALUED });
  sshOptions(given.values("o"), spot);
  for (const program of given.values("S")) spot.line.engine.runSource(program, spot);
  const target = given.operands.at(-1);
  const sources = given.operands.slice(0, -1);
  if (target && sources.length === 0)
    noteEffect(spot, { kind: "sends", what: `works on another machine: ${describeText(target)}` });
  transfer(sources, target, spot);
  return OUTPUT;
};

const RSYNC_WRITES = "link-dest log-file T temp-dir partial-dir backup-dir write-batch only-write-batch".split(" ");

export const rsync: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued:
      "e rsh rsync-path f filter exclude include exclude-from include-from files-from T temp-dir compare-dest copy-dest link-dest log-file password-file partial-dir backup-dir write-batch only-write-batch read-batch suffix B port bwlimit timeout max-size min-size chmod chown out-format info M remote-option",
    long: "del delete delete-before delete-during delete-after delete-excluded archive recursive dry-run remove-source-files verbose",
  });
  for (const program of given.values("e", "rsh", "rsync-path"))
    if (!/^ssh(?: -[46pilvq]\S*(?: [^\s-]\S*)?)*$/.test(textOf(program))) spot.line.engine.runSource(program, spot);
  for (const file of given.values("files-from", "exclude-from", "include-from")) reads(spot, file);
  const target = given.operands.at(-1);
  const sources = given.operands.slice(0, -1);
  for (const path of given.values(...RSYNC_WRITES)) writes(spot, path);
  // What it does then stands in a file.
  if (target && given.values("read-batch").length > 0) writes(spot, target);
  for (const file of given.values("read-batch", "password-file")) reads(spot, file);
  if (given.has("remove-source-files")) for (const source of sources) deletes(spot, source, true);
  for (const name of given.values("files-from").flatMap((list) => listedIn(list, spot))) contentOf(name, spot);
  if (!given.has("n", "dry-run")) {
    transfer(sources, target, spot);
    if (target && !remoteOf(target)) unpacksInto(spot, target, true);
  }
  if (target && given.options.some(({ name }) => name.startsWith("del")) && !remoteOf(target))
    deletes(spot, target, true);
  return OUTPUT;
};

function transfer(sources: readonly Text[], target: Text | undefined, spot: Spot): void {
  if (!target) return;
  const remote = target.type === "known" || target.type === "glob" ? remoteOf(target) : "somewhere";
  const comes = sources.some((source) => remoteOf(source)) && !remote;
  for (const source of sources) {
    const from = remoteOf(source);
    const flow = from ? cameFrom(FROM.network) : contentOf(source, spot);
    if (from) noteEffect(spot, { kind: "fetches", what: `copies ${from}` });
    if (remote) sendBytes({ from: flow.from | FROM.files }, remote, spot);
    else store(target, flow, { spot });
  }
  if (comes) {
    spot.line.unpacked = cameFrom(FROM.network);
    unpacksInto(spot, target, true);
  }
}
