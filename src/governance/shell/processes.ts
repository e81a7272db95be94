import type { Behaviour } from "./call.ts";
import { type Arguments, readArguments } from "./options.ts";
import { noteEffect, type Spot } from "./state/state.ts";
import { cameFrom, type Flow, FROM, NOTHING, OUTPUT } from "./values/flow.ts";
import { describeText, known, type Text, textOf } from "./values/text.ts";

const OUR_NAMES = /^(?:node|nodejs|bwrap|bash|sh|init|systemd)$|prloom|claude|opencode|codex|gemini/;

/** How the system lists them. */
const LISTED = "/usr/bin/node prloom start nodejs /bin/bash bwrap init systemd claude opencode codex gemini";
const SIGNS = /\\.|\[[^[\]]*\]|\w?[?*]|[^\w\s/-]+/;

/** `[p]rloom` is how one looks for it without finding oneself. */
const spelled = (text: Text): string => (text.type === "glob" ? text.text : textOf(text)).replace(/\[(.)\]/g, "$1");

/** Whether a pattern can mean one of ours, as an absurdly long one can: all that is plain in one of its alternatives is listed there. */
export const isOurName = (text: Text): boolean => {
  const pattern = spelled(text);
  const means = (one: string) => one.split(SIGNS).every((part) => LISTED.includes(part));
  return pattern.length > 1000 || OUR_NAMES.test(pattern) || pattern.split("|").some(means);
};

/** What a script picks from a list of processes: lines about our own hold their numbers. */
export const picked = (scripts: readonly Text[], flow: Flow): Flow => {
  const words = scripts.flatMap((script) => spelled(script).split(/[^\w.-]+/));
  return words.some((word) => OUR_NAMES.test(word)) ? cameFrom(flow.from | FROM.agents) : flow;
};

function noteOurs(spot: Spot, what: string): void {
  noteEffect(spot, { kind: "ours", what, instead: "End the process you started: kill <pid>." });
}

/** The first word may be a signal; those behind it are processes, or groups of them. */
export const kill: Behaviour = ({ args, spot }) => {
  const first = textOf(args[0] ?? known(""));
  if (/^-[lL]$/.test(first)) return OUTPUT;
  noteEffect(spot, { kind: "runs", what: "ends a process" });
  const skipped = /^-[sn]$/.test(first) ? 2 : /^-\w+$/.test(first) ? 1 : 0;
  for (const one of args.slice(skipped)) {
    if (/^-?1$/.test(textOf(one))) noteEffect(spot, { kind: "system", what: "ends all processes" });
    if (isOurNumber(one)) noteOurs(spot, "ends prloom, or an agent");
  }
  return NOTHING;
};

const isOurNumber = (one: Text): boolean => one.type === "unknown" && ((one.from ?? 0) & FROM.agents) > 0;

const CHOICE = "s signal u U g G P parent t";

/** Without a name, all of a person or a terminal are meant, or the children of one that the command knows by its number. */
function isEveryone(given: Arguments): boolean {
  const parents = given.values("P", "parent");
  const isKnown = (one: Text) => (one.type === "known" ? /^\d{2,}$/.test(one.text) : !isOurNumber(one));
  return given.operands.length === 0 && (parents.length === 0 || !parents.every(isKnown));
}

/** What ps shows of ours, and of the parent of something: that is the agent where it is the shell's. */
export const showsOurs = (args: readonly Text[]): boolean =>
  args.some((one) => (one.type === "known" ? isOurName(one) || /^(?!--).*ppid/.test(one.text) : isOurNumber(one)));

/** pgrep and its like: numbers of processes by their name, or by their parent. */
export const findsProcesses: Behaviour = ({ name, args }) => {
  const given = readArguments(args, { valued: name === "pidof" ? "o" : CHOICE });
  return isEveryone(given) || given.operands.some(isOurName) ? cameFrom(FROM.agents) : OUTPUT;
};

/** Ending processes by name can end the dispatcher. */
export const endsByName: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, { valued: name === "pkill" ? CHOICE : `${CHOICE} o n` });
  noteEffect(spot, { kind: "runs", what: "ends processes by their name" });
  if (isEveryone(given) && args.length > 0) noteOurs(spot, "ends all processes of a person or a terminal");
  for (const operand of given.operands)
    if (operand.type !== "known" || isOurName(operand))
      noteOurs(spot, `ends all processes called ${describeText(operand)}, and prloom may be among them`);
  return OUTPUT;
};

const PORT = /^\d+\/(?:tcp|udp)$/;

/** Who uses a port or a file; `-k` ends them, and files are used by everyone. */
export const fuser: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "n namespace s signal", long: "kill mount" });
  if (!given.has("k", "kill")) return OUTPUT;
  noteEffect(spot, { kind: "runs", what: "ends processes by what they use" });
  const isPort = given.values("n", "namespace").some((one) => /^(?:tcp|udp)$/.test(textOf(one)));
  if (!isPort && !given.operands.every((one) => PORT.test(textOf(one))))
    noteOurs(spot, "ends all processes that use a file or a folder, and prloom may be among them");
  return OUTPUT;
};
