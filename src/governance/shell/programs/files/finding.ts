import { basename } from "node:path/posix";
import type { Behaviour } from "../../call.ts";
import { type OptionRules, readArguments } from "../../options.ts";
import { absolutePaths, inFolder, reads, touch, writes } from "../../paths.ts";
import { noteUnknown, type Spot } from "../../state/state.ts";
import { type Flow, FROM, literal, NOTHING, OUTPUT } from "../../values/flow.ts";
import { fitsPattern, pathsMeant } from "../../values/glob.ts";
import { otherEnding } from "../../values/renamed.ts";
import {
  asPattern,
  fillIn,
  known,
  MAX_CHOICES,
  type Text,
  textOf,
  unknown,
  withoutWildcards,
} from "../../values/text.ts";

const FILTERS =
  /^-(?:i?name|i?path|i?wholename|i?regex|i?lname|newer\w*|[acm]min|[acm]time|size|user|group|perm|samefile|inum|links|type|xtype|maxdepth|mindepth)$/;
const FOLLOWS = new Set(["-H", "-L", "-follow"]);
const NOT = new Set(["!", "-not"]);
const OR = new Set(["-o", "-or", ","]);
const NAMES = /^-(?:i?name|i?path|i?wholename|i?regex|i?lname|samefile|inum)$/;

/** Longer than a name or a path that is looked for. */
const MAX_TEST = 1000;

/** Folders to look in, what it looks for, and what it does with what it finds. */
export const find: Behaviour = ({ args, spot }) => {
  const first = args.findIndex((arg) => /^(?:-(?![HLPXxdEsOD]$|O\d|D)|[(!])/.test(textOf(arg)));
  const end = first < 0 ? args.length : first;
  const folders = args.slice(0, end).filter((arg) => !/^-/.test(textOf(arg)) || arg.type !== "known");
  const starts = folders.length > 0 ? folders : [known(".")];
  const tests = args.slice(end);
  if (folders.slice(1).some((folder) => folder.type === "unknown"))
    noteUnknown(spot, "gives find something that cannot be told, and it may delete");
  if (tests.some((test) => textOf(test).length > MAX_TEST)) {
    noteUnknown(spot, "gives find more than can be looked at");
    return { from: FROM.program };
  }
  const isNarrow = narrows(tests);
  const names = isNarrow ? patternsIn(tests) : [];
  const follows = args.some((arg) => FOLLOWS.has(textOf(arg)));
  const word = (at: number) => textOf(tests[at] ?? known(""));
  const types = tests.flatMap((test, at) => (word(at - 1) === "-type" && !NOT.has(word(at - 2)) ? textOf(test) : []));
  const type = tests.some((test) => OR.has(textOf(test))) ? "" : types.join();
  const isFile = type === "f";
  const isFolders = type === "d" && !follows;
  const patterns = isNarrow ? (names.length > 0 ? names : ["**/*"]) : ["**"];
  const found = foundBelow(starts, spot, {
    patterns: isFolders ? patterns.map((one) => `${one}/.`) : patterns,
    follows,
    real: isFile,
    itself: (name) => !isFile && (!isNarrow || names.some((one) => fitsPattern(one.replace(/^\*\*\//, ""), name))),
  });
  for (const folder of starts) reads(spot, folder);
  for (const [at, test] of tests.entries()) if (textOf(tests[at - 1] ?? known("")) === "-samefile") reads(spot, test);
  for (let at = 0; at < tests.length; at += 1) at = action(tests, at, { spot, found, starts });
  // What else it prints of them is not their names.
  const formats = tests.filter((_, at) => /^-f?printf$/.test(textOf(tests[at - 1] ?? known(""))));
  const isNames = formats.every((format) => /^%p(?:\\n|\\0|\n)$/.test(textOf(format)));
  return { from: FROM.program, names: isNames ? found : undefined };
};

interface Search {
  /** What names below a folder look like. */
  readonly patterns: readonly string[];
  readonly follows?: boolean | undefined;
  readonly real?: boolean | undefined;
  /** Whether a folder of this name is told itself. */
  readonly itself: (name: string) => boolean;
}

/** What is found below folders, or is one of them; files that are given are told themselves. */
function foundBelow(starts: readonly Text[], spot: Spot, { patterns, follows, real, itself }: Search): Text[] {
  if (patterns.length > MAX_CHOICES) return [unknown("it looks for too many names")];
  return starts.flatMap((start): Text[] => {
    if (start.type === "unknown") return [start];
    const paths = absolutePaths(start, spot);
    const kinds = paths.map((path) => (path.type === "known" ? spot.line.place.look(path.text) : undefined));
    const isTold = paths.some(
      (path, at) => kinds[at] === "file" || path.type !== "known" || itself(basename(textOf(path))),
    );
    const folder = (start.type === "known" ? asPattern(start.text) : start.text).replace(/\/$/, "");
    const below = patterns.map((one): Text => {
      const isPath = /^(?:\.?\/|[^*]*\/)/.test(one) && one.startsWith(folder);
      // With a slash behind it, a link is what it leads to.
      const isBehind = start.type === "glob" && start.text.endsWith("/");
      return {
        type: "found",
        text: isPath ? one : `${folder}/${one}`,
        follows: follows || isBehind,
        real,
        at: spot.shell.folders[0],
      };
    });
    return [...(isTold ? [start] : []), ...(kinds.every((kind) => kind === "file") ? [] : below)];
  });
}

/** A pattern of names in place of a regular expression, which fits at least the same. */
function globOfRegular(regular: string): string {
  const open = regular.search(/[[(]/);
  const end = Math.max(regular.lastIndexOf("]"), regular.lastIndexOf(")")) + 1;
  const signs: Readonly<Record<string, string>> = { "\\.": ".", ".": "?" };
  const plain = (part: string) => part.replace(/\\\.|\.[*+?]|[.*+?^$|\\]/g, (sign) => signs[sign] ?? "*");
  if (open < 0 || end <= open) return plain(regular);
  return `${plain(regular.slice(0, open))}*${plain(regular.slice(end))}`;
}

/** What names and paths must look like, whichever of the alternatives is the one that counts. */
function patternsIn(tests: readonly Text[]): string[] {
  return tests.flatMap((test, at) => {
    const isNegated = at > 0 && NOT.has(textOf(tests[at - 1] as Text));
    const value = textOf(tests[at + 1] ?? known(""));
    if (isNegated) return [];
    if (/^-i?name$/.test(textOf(test))) return [`**/${value}`];
    if (/^-i?(?:path|wholename)$/.test(textOf(test))) return pathsMeant(value);
    return /^-i?regex$/.test(textOf(test)) ? pathsMeant(globOfRegular(value)) : [];
  });
}

/** Whether what is found is some of the files only: every alternative must name them, and not by what they are not called. */
function narrows(tests: readonly Text[]): boolean {
  let isNamed = false;
  for (const [at, test] of tests.entries()) {
    const word = textOf(test);
    if (OR.has(word)) {
      if (!isNamed) return false;
      isNamed = false;
    }
    const isNegated = at > 0 && NOT.has(textOf(tests[at - 1] as Text));
    if (isNegated) continue;
    if (word === "-empty" || (NAMES.test(word) && !isWide(word, textOf(tests[at + 1] ?? known(""))))) isNamed = true;
  }
  return isNamed;
}

/** What fd puts the name of a file in place of: `{}`, `{/}` and their like. */
const hasBraces = (word: Text): boolean => {
  const text = textOf(word);
  return text.includes("{") && text.indexOf("}", text.indexOf("{")) > 0;
};

/** A pattern of wildcards alone. That of names which begin with a dot is none. */
const isWide = (test: string, pattern: string): boolean =>
  (test.endsWith("regex") ? /^[.*+/\\]*$/ : /^(?:\.?\/)?[*/]*$/).test(withoutWildcards(pattern, "*"));

type FoundBelow = Record<"found" | "starts", readonly Text[]>;

function action(tests: readonly Text[], at: number, { spot, found, starts }: FoundBelow & { spot: Spot }): number {
  const name = textOf(tests[at] as Text);
  if (tests[at]?.type === "unknown") noteUnknown(spot, "gives find something that cannot be told, and it may delete");
  if (FILTERS.test(name)) return at + 1;
  if (name === "-delete") for (const path of found) touch(spot, { kind: "deletes", path, whole: true });
  const isList = name === "-files0-from";
  if (isList || /^-f(?:print[0f]?|ls)$/.test(name)) {
    const path = tests[at + 1];
    if (path) (isList ? reads : writes)(spot, path);
    return at + 1;
  }
  if (!/^-(?:exec|execdir|ok|okdir)$/.test(name)) return at;
  const rest = tests.slice(at + 1);
  const length = rest.findIndex(
    (word, index) =>
      textOf(word) === ";" ||
      textOf(word) === "\\;" ||
      (textOf(word) === "+" && textOf(rest[index - 1] ?? known("")) === "{}"),
  );
  const words = length < 0 ? rest : rest.slice(0, length);
  // In the folder of what is found, which can be the one above.
  const above = starts.map((one) => inFolder(spot, /^\.\/*$/.test(textOf(one)) ? [one] : [one, known("..")]));
  for (const inside of name.endsWith("dir") ? above : [spot])
    for (const path of found)
      spot.line.engine.runWords(
        words.map((word) => (word.type === "known" && word.text.includes("{}") ? fillIn(word.text, "{}", path) : word)),
        { ...inside, input: NOTHING },
      );
  return at + words.length + 1;
}

/** fd: a pattern, folders, and `-x` with a command. */
export const fd: Behaviour = ({ args, spot }) => {
  const at = args.findIndex((arg) => /^(?:-x|-X|--exec|--exec-batch)$/.test(textOf(arg)));
  const given = readArguments(at < 0 ? args : args.slice(0, at), {
    valued:
      "e extension t type d max-depth E exclude S size changed-within changed-before c color o owner j threads base-directory search-path path-separator format max-results",
  });
  const [pattern, ...folders] = given.operands;
  const isNarrow =
    (pattern !== undefined && !/^\.?\*?$/.test(textOf(pattern))) ||
    given.has("e", "extension", "S", "size", "changed-within", "changed-before");
  const starts = [...folders, ...given.values("search-path", "base-directory")];
  const endings = given.values("e", "extension").map((ending) => `**/*.${textOf(ending)}`);
  const named = isNarrow && pattern ? `**/*${textOf(pattern).replace(/[\^$\\]/g, "")}*` : "**/*";
  const found = foundBelow(starts.length > 0 ? starts : [known(".")], spot, {
    patterns: endings.length > 0 ? endings : [isNarrow ? named : "**"],
    follows: given.has("L", "follow"),
    itself: () => false,
  });
  if (at >= 0) {
    const words = args.slice(at + 1);
    const hasMark = words.some(hasBraces);
    for (const path of found)
      spot.line.engine.runWords(hasMark ? words.map((word) => (hasBraces(word) ? path : word)) : [...words, path], {
        ...spot,
        input: NOTHING,
      });
  }
  return { from: FROM.program, names: found };
};

/** Of what a pattern means, some may be folders, and what is in them is printed. */
const SOME: Text = { type: "found", text: "**/*", real: true };

const isNameHere = (path: Text): boolean => path.type === "known" && /^(?:\.\/)?[^/~]+$/.test(path.text);

/** Programs that print names of files in the folders that they are given, and those that they are given. */
export const lists =
  (rules: OptionRules): Behaviour =>
  ({ args, spot }) => {
    const given = readArguments(args, rules);
    const { operands } = given;
    // That a file is in the worktree is not a secret.
    for (const operand of operands) if (!isNameHere(operand)) reads(spot, operand);
    const from = FROM.program | FROM.files;
    // Then it prints more than names, or `..` among them.
    if (given.has("l", "a", "all", "long")) return { from };
    const isFile = (path: Text) => path.type === "known" && spot.line.place.look(path.text) === "file";
    const isFolder = (operand: Text) => absolutePaths(operand, spot).some((path) => !isFile(path));
    if (given.has("d", "directory")) return { from, names: operands };
    // Of what is in a folder, it prints the last part: what a star means there.
    const inside: Text = { type: "glob", text: "*" };
    if (operands.length === 0) return { from, names: [inside] };
    return {
      from,
      names: operands.flatMap((one): Text[] => (one.type !== "known" ? [one, SOME] : isFolder(one) ? [inside] : [one])),
    };
  };

/** Names of files that a search finds something in, below folders or among files. */
export function foundIn(folders: readonly Text[], spot: Spot, { follows = false, all = false } = {}): Flow {
  const patterns = [all ? "**" : "**/*"];
  const search = { patterns, real: !follows, follows, itself: () => false };
  return {
    from: FROM.program | FROM.files,
    names: foundBelow(folders.length > 0 ? folders : [known(".")], spot, search),
  };
}

/** `basename` and `dirname`. */
export const partOfName =
  (part: (name: Text) => Text[] | undefined): Behaviour =>
  ({ name, args }) => {
    const given = readArguments(args, { valued: "s suffix" });
    const isOne = name === "basename" && given.options.length === 0;
    const [only, ending, ...others] = isOne ? given.operands : [...given.operands, ...given.values("s", "suffix")];
    if (!only || others.length > 0 || (ending && ending.type !== "known")) return OUTPUT;
    const made = part(only);
    const ways = ending ? made?.map((one) => otherEnding(one, textOf(ending), "")) : [made];
    if (!ways || ways.includes(undefined)) return OUTPUT;
    const names = ways.flatMap((some) => some ?? []);
    const [plain] = names;
    if (names.length === 1 && plain?.type === "known") return literal(`${plain.text}\n`);
    return { from: FROM.program, names };
  };
