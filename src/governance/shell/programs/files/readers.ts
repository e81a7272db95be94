import type { Behaviour } from "../../call.ts";
import { type Arguments, type OptionRules, readArguments } from "../../options.ts";
import { absolutePaths, contentOf, descriptorOf, reads, sendBytes, store, writes } from "../../paths.ts";
import { isOurName, showsOurs } from "../../processes.ts";
import { judgePager } from "../../state/assignments.ts";
import { noteEffect, noteUnknown, type Spot } from "../../state/state.ts";
import {
  beforeColon,
  cameFrom,
  changed,
  type Flow,
  FROM,
  literal,
  OUTPUT,
  someOf,
  TERMINAL,
} from "../../values/flow.ts";
import { asPattern, known, startOf, type Text, textOf } from "../../values/text.ts";
import { asks } from "../elsewhere/network.ts";
import { listedIn } from "../instruction-files.ts";
import { isFolder, type Reader, reader, readFiles } from "./files.ts";
import { foundIn } from "./finding.ts";

/** base64, xxd and their like: what they decode is not what was read. */
export const decodes =
  (flags: readonly string[], valued = ""): Behaviour =>
  ({ args, spot }) => {
    const given = readArguments(args, { valued: `${valued} o output`, long: "decode wrap" });
    // Some take what they read behind -i.
    const [file = given.values("i")[0], target] = given.operands;
    const flow = file ? contentOf(file, spot) : spot.input;
    const made = given.has(...flags) ? cameFrom(flow.from | FROM.decoded) : changed(flow);
    for (const path of [...(target ? [target] : []), ...given.values("o", "output")]) store(path, made, { spot });
    return made;
  };

export const openssl: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "in out keyout writerand k K pass iv key inkey CAfile connect config engine provider",
    singleDash: true,
  });
  // Settings of it name code that it loads.
  for (const file of given.values("config"))
    if (descriptorOf(textOf(file)) !== undefined)
      noteEffect(spot, { kind: "code", what: "gives openssl settings that are not in a file" });
  const flows = given.values("in").map((file) => contentOf(file, spot));
  const from = (flows[0] ?? spot.input).from;
  const made = cameFrom(given.has("d", "decrypt") ? from | FROM.decoded : from | FROM.program);
  for (const file of given.values("out", "keyout", "writerand")) store(file, made, { spot });
  if (given.values("connect").length > 0) {
    if (spot.input !== TERMINAL) sendBytes(spot.input, textOf(given.values("connect")[0] ?? known("a server")), spot);
    return asks({ name: "openssl", args, spot });
  }
  return made;
};

export const GREP: OptionRules = {
  valued:
    "e regexp f file m max-count A B C context color colour include g glob exclude exclude-dir exclude-from d D label after-context before-context binary-files devices directories",
};
export const ACK: OptionRules = {
  valued: `${GREP.valued} G file-search-regex ignore ignore-dir p path-to-ignore pager depth W width`,
};
export const RIPGREP: OptionRules = {
  valued:
    "e regexp f file m max-count A B C context color colors g glob iglob t type T type-not j threads M max-columns r replace sort sortr E encoding max-depth d max-filesize path-separator pre pre-glob engine ignore-file after-context before-context hostname-bin",
};
const LISTS_NAMES = ["l", "files-with-matches", "files-without-match", "files"];
/** Options by which ripgrep lists some files only. */
const SOME_FILES = ["g", "glob", "iglob", "t", "type", "l", "files-with-matches", "files-without-match"];

/** Options instead of a pattern as the first operand. */
const PATTERNS = ["e", "regexp", "f", "file", "files"];
/** With these it does not print lines as they are, or looks elsewhere. */
const PRINTS_OTHERWISE =
  "o only-matching c count n line-number b byte-offset H with-filename T initial-tab r R recursive replace column json vimgrep heading color colour label".split(
    " ",
  );

/** A pattern leaves some of them; what it leaves out may be hardly any. */
function narrowed(flow: Flow, given: Arguments): Flow {
  const [pattern] = [...given.values("e", "regexp"), ...given.operands];
  const isWide = given.has("v", "invert-match", "f", "file") || !/\w/.test(textOf(pattern ?? known("")));
  return isWide ? flow : { ...flow, names: flow.names?.map(someOfAll) };
}

/** With these, lines begin otherwise than with a name and a colon. */
const BEGINS_OTHERWISE =
  "h no-filename A B C context after-context before-context Z null z null-data json heading color colour pretty initial-tab".split(
    " ",
  );

/** Whether each line that is printed begins with the name of its file: of one file alone it does not. */
function tellsNames(
  files: readonly Text[],
  spot: Spot,
  { given, isRipgrep }: { given: Arguments; isRipgrep: boolean },
): boolean {
  if (given.hasOneOf(BEGINS_OTHERWISE) || files.some((file) => textOf(file).includes(":"))) return false;
  if (given.has(...(isRipgrep ? ["I", "p"] : ["T"]))) return false;
  const isRecursive = given.has("r", "recursive") || isRipgrep;
  return isRecursive && files.every((file) => isFolder(file, spot)) && (files.length > 0 || spot.input === TERMINAL);
}

/** `cut -d: -f1` of what a search prints are the files. */
export const cut: Behaviour = (call) => {
  const given = readArguments(call.args, { valued: "d delimiter f fields b bytes c characters output-delimiter" });
  const flow = cuts(call);
  const isFirst = textOf(given.values("f", "fields")[0] ?? known("")) === "1" && given.operands.length === 0;
  const isColon = textOf(given.values("d", "delimiter")[0] ?? known("")) === ":";
  return (isFirst && isColon && beforeColon(call.spot.input)) || flow;
};

const cuts = reader({ rules: { valued: "d delimiter f fields b bytes c characters output-delimiter" } });

/** Of all that there is, some. */
const someOfAll = (name: Text): Text => {
  if ((name.type !== "found" && name.type !== "glob") || !/^\*$|(?:^|\/)\*\*$/.test(name.text)) return name;
  return { ...name, type: "found", text: name.text.replace(/\*\*?$/, "**/*") };
};

/** What it prints below folders, as whole paths or drawn. */
export const tree: Behaviour = ({ args, spot }) => {
  const { operands } = readArguments(args, { valued: "I ignore P L" });
  for (const folder of operands) reads(spot, folder);
  return { ...foundIn(operands, spot), from: FROM.program | FROM.files };
};

/** grep and its like. With `-l` they print names, which others then work on. */
export const search = (rules: OptionRules): Behaviour => {
  const how: Reader = { skip: 1, unless: PATTERNS, keeps: (given) => !given.hasOneOf(PRINTS_OTHERWISE) };
  return ({ args, spot }) => {
    const given = readArguments(args, rules);
    for (const program of given.values("pre", "hostname-bin", "pager")) spot.line.engine.runSource(program, spot);
    for (const file of given.values("f", "file", "exclude-from", "ignore-file")) reads(spot, file);
    for (const pattern of given.values("include", "g", "glob", "iglob"))
      if (!startOf(pattern).startsWith("!"))
        reads(spot, { type: "found", text: `${asPattern(spot.line.place.folder)}/**/${textOf(pattern)}` });
    const { home } = spot.line.place;
    // Everything below a home is looked at, with the keys in it.
    if (given.has("r", "R", "recursive", "dereference-recursive", "hidden", "u", "unrestricted"))
      for (const operand of given.operands)
        for (const path of absolutePaths(operand, spot))
          if (path.type === "known" && (path.text === "/" || `${home}/`.startsWith(`${path.text}/`)))
            reads(spot, known(`${home}/.ssh`));
    const flow = readFiles(given, how, spot);
    const files = given.operands.slice(given.hasOneOf(PATTERNS) ? 0 : 1);
    const isRipgrep = rules === RIPGREP;
    if (given.hasOneOf(LISTS_NAMES) || (!isRipgrep && given.has("L")))
      return foundIn(files, spot, {
        follows: given.has("dereference-recursive", "follow", isRipgrep ? "L" : "R"),
        all: given.has("files") && !given.hasOneOf(SOME_FILES),
      });
    if (files.length === 0 && flow.names) return narrowed(flow, given);
    if (tellsNames(files, spot, { given, isRipgrep })) return { ...flow, sources: foundIn(files, spot).names };
    // Lines of `ps` about our own processes hold their numbers.
    return given.operands.length === 1 && args.some(isOurName) ? { ...flow, from: flow.from | FROM.agents } : flow;
  };
};

const sort = reader({
  rules: {
    valued:
      "o output k key t field-separator S buffer-size T temporary-directory compress-program parallel batch-size files0-from random-source sort",
    long: "reverse numeric-sort unique check merge stable",
  },
  writes: ["o", "output"],
  keeps: (given) => !given.has("files0-from"),
});

export const sorting: Behaviour = (call) => {
  const given = readArguments(call.args, { valued: "compress-program files0-from" });
  for (const list of given.values("files0-from")) for (const file of listedIn(list, call.spot)) reads(call.spot, file);
  for (const program of given.values("compress-program")) call.spot.line.engine.runSource(program, call.spot);
  return sort(call);
};

/** `uniq in out` writes its second operand. */
export const uniq: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "f s w skip-fields skip-chars check-chars" });
  const [source, target] = given.operands;
  const flow = source ? contentOf(source, spot) : spot.input;
  if (target) store(target, changed(flow), { spot });
  return given.has("c", "count") ? changed(flow) : someOf(flow);
};

/** Programs that only tell something, unless one of their arguments says otherwise. */
export const printsUnless =
  (changes: RegExp, prints: Behaviour = () => OUTPUT): Behaviour =>
  (call) => {
    if (call.args.some((arg) => arg.type === "unknown" || changes.test(startOf(arg))))
      noteEffect(call.spot, { kind: "runs", what: `changes something with ${call.name}` });
    return prints(call);
  };

/** `ps e` shows the environment of processes. */
export const ps: Behaviour = ({ args, spot }) => {
  if (/^(?![^e]*$)[a-zA-Z]+$/.test(textOf(args[0] ?? known("")))) reads(spot, known("/proc/self/environ"));
  return showsOurs(args.slice(1)) ? cameFrom(FROM.agents) : OUTPUT;
};

const MAX_NUMBERS = 50;

export const seq: Behaviour = ({ args }) => {
  const [from, to] = (args.length === 1 ? [known("1"), ...args] : args).map((arg) => Number(textOf(arg) || Number.NaN));
  if (args.length > 2 || from === undefined || to === undefined || !(to - from < MAX_NUMBERS)) return OUTPUT;
  let text = "";
  for (let number = from; number <= to; number += 1) text += `${number}\n`;
  return literal(text);
};

/** A calculator that runs what stands behind `!`. */
export const dc: Behaviour = ({ args, spot }) => {
  const said = [...args.map(textOf), spot.input.text ?? ""].join(" ");
  if (said.includes("!")) noteEffect(spot, { kind: "code", what: "lets dc run a command" });
  return OUTPUT;
};

const pages = reader({ rules: { valued: "n b t j k o O p P x y z D T" } });

/** `+!command` runs one. */
export const pager: Behaviour = (call) => {
  const { args, spot } = call;
  if (args.some((arg) => /^\+.*[!|]/s.test(textOf(arg))))
    noteEffect(spot, { kind: "code", what: "lets a pager run a command" });
  const given = readArguments(args, { valued: "o O log-file LOG-FILE k lesskey-file T tag-file" });
  for (const file of given.values("o", "O", "log-file", "LOG-FILE")) writes(spot, file);
  return pages({
    ...call,
    args: args.filter((arg) => !textOf(arg).startsWith("+")),
  });
};

const shows = reader({ copies: true, rules: { valued: "l language r line-range style theme H pager" } });

/** bat: `cat` with a pager. */
export const bat: Behaviour = (call) => {
  const given = readArguments(call.args, { valued: "pager" });
  for (const program of given.values("pager")) judgePager(program, call.spot);
  return shows(call);
};

export const man: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "P pager H html C config-file M manpath S s sections" });
  for (const program of given.values("P", "pager", "H", "html")) judgePager(program, spot);
  return OUTPUT;
};

const queries = reader({ skip: 1 });

export const yq: Behaviour = (call) => {
  const inPlace = call.args.some(
    (arg) => arg.type === "known" && /^(?:-(?![^i]*$)[a-zA-Z]+|--inplace|--in-place)$/.test(arg.text),
  );
  const given = readArguments(call.args, {
    valued: "p input-format o output-format I indent from-file s split-exp arg argjson slurpfile rawfile",
  });
  const [, ...files] = given.operands;
  for (const arg of call.args)
    for (const [, file] of textOf(arg).matchAll(/\bload\w*\(\s*(?:"([^"]*)"|[^)])/g))
      if (file === undefined) noteUnknown(call.spot, "reads a file that cannot be told");
      else reads(call.spot, known(file));
  const flow = queries(call);
  if (inPlace) for (const file of files) store(file, flow, { spot: call.spot });
  // Each part becomes a file that the expression names.
  for (const names of given.values("s", "split-exp"))
    if (/\/|\.\./.test(textOf(names))) noteUnknown(call.spot, "writes files whose names cannot be told");
    else writes(call.spot, known("."));
  return flow;
};

const filters = reader({ rules: { valued: "arg argjson indent L from-file f xpath" }, skip: 1 });

/** jq and its like: `--rawfile name file` reads a file, too. */
export const jq: Behaviour = (call) => {
  const isFile = (at: number): boolean => /^--(?:rawfile|slurpfile)$/.test(textOf(call.args[at - 2] ?? known("")));
  const isName = (at: number): boolean => isFile(at + 1);
  for (const [at, arg] of call.args.entries()) {
    if (isFile(at)) reads(call.spot, arg);
    // A filter can take in the data of another file.
    for (const [, file = ""] of textOf(arg).matchAll(/\b(?:import|include)\s*"([^"]*)"/g))
      reads(call.spot, known(`${file}.json`));
  }
  for (const file of readArguments(call.args, { valued: "f from-file" }).values("f", "from-file"))
    reads(call.spot, file);
  return filters({ ...call, args: call.args.filter((_, at) => !isFile(at) && !isName(at) && !isName(at + 1)) });
};
