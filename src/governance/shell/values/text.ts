/** What is known, without running anything, about a string that the shell makes. */
export type Text =
  | { readonly type: "known"; readonly text: string }
  /** A pattern. Characters that are not special in it have a backslash before them. */
  | {
      readonly type: "glob";
      readonly text: string;
      /** Each star in it is letters and digits, whatever else of it is known: nothing that a shell reads otherwise. */
      readonly plain?: boolean | undefined;
    }
  | FoundNames
  /** What it begins with may still be known, and where it comes from, as bits of FROM. */
  | {
      readonly type: "unknown";
      readonly why: string;
      readonly starts?: string | undefined;
      /** The whole of it, with a gap for each part that is not known. */
      readonly template?: string | undefined;
      /** What each gap is filled with, where a program fills the same into all of them. */
      readonly filled?: Text | undefined;
      /** What stands in the gap, where there is one and it is a name that was found. */
      readonly found?: FoundNames | undefined;
      readonly from?: number | undefined;
    };

/** Names that a program finds below a folder: all of them, or those that a filter leaves. */
export interface FoundNames {
  readonly type: "found";
  readonly folder: string;
  readonly all: boolean;
  /** Whether it was looked behind links, which lead anywhere. */
  readonly follows?: boolean | undefined;
  /** Patterns of which each of them fits one; with a slash they are of the whole path. */
  readonly names?: readonly string[] | undefined;
  /** Whether the folder itself is none of them. */
  readonly within?: boolean | undefined;
  /** Whether each of them lies in the folder itself. */
  readonly last?: boolean | undefined;
  /** Whether each of them is a folder, and no link to one. */
  readonly folders?: boolean | undefined;
  /** The folder from which they are told, where they are told from one: elsewhere they mean something else. */
  readonly base?: string | undefined;
}

export const known = (text: string): Text => ({ type: "known", text });
export const unknown = (why: string): Text => ({ type: "unknown", why });

/** A word without slashes, dots and spaces, of which nothing else is known: a number, a date. */
export const plainWord: Text = { type: "glob", text: "*" };

/** The number of a process, of words, of letters. */
export const aNumber: Text = { ...plainWord, plain: true };

const SPECIAL = /[*?[\]\\]/g;

export const isPattern = (text: string): boolean => /[*?[]/.test(text);

export function asPattern(text: string): string {
  return text.replace(SPECIAL, "\\$&");
}

/** The text in front of the first special character, and whether there is one. */
export function beforePattern(pattern: string): string {
  const plain = /^(?:\\.|[^*?[\\])*/.exec(pattern)?.[0] ?? "";
  return plain.replace(/\\(.)/g, "$1");
}

/** The folder in which a pattern begins to mean several things, with its slash. */
export function folderBefore(pattern: string): string {
  const start = beforePattern(pattern);
  return start.slice(0, start.lastIndexOf("/") + 1);
}

/** A pattern in which something else stands for each wildcard. */
export function withoutWildcards(pattern: string, instead: string): string {
  // Behind the last bracket nothing closes one, and looking for that from each would take long.
  const end = pattern.lastIndexOf("]") + 1;
  const classes = pattern.slice(0, end).replace(/\*+|\?|\[[^\]]*\]?/g, instead);
  return classes + pattern.slice(end).replace(/\*+|\?/g, instead);
}

/** Of a command, for people. */
export const MAX_SHOWN = 120;

/** Longer than anything that is typed: variables could double it without end. */
export const MAX_TEXT = 64 * 1024;

/** In templates, where a part is that is not known. */
export const GAP = "\u{FFFC}";

export function joinTexts(parts: readonly Text[]): Text {
  const [only] = parts;
  if (parts.length === 1 && only) return only;
  const lost = parts.find((part) => part.type === "unknown" || part.type === "found");
  if (lost) return joinFound(parts) ?? beginning(parts, lost);
  let length = 0;
  for (const part of parts) length += textOf(part).length;
  if (length > MAX_TEXT) return unknown("it is too long");
  if (parts.every((part) => part.type === "known")) return known(parts.map((part) => textOf(part)).join(""));
  return {
    type: "glob",
    text: parts.map((part) => (part.type === "glob" ? part.text : asPattern(textOf(part)))).join(""),
    plain: parts.every((part) => part.type === "known" || isPlain(part)),
  };
}

const parentOf = (folder: string): string => folder.slice(0, Math.max(folder.lastIndexOf("/"), 1));

/** A name that was found, with an ending, below it or in another folder: `$f.bak`, `$d/index.ts`, `build/$f`. Undefined for what else is made of it. */
function joinFound(parts: readonly Text[]): Text | undefined {
  // A name below a folder is made of two; what has more of them is looked at part by part, as deep as there are parts.
  if (parts.filter(({ type }) => type === "found").length > 2) return undefined;
  const at = parts.findIndex(({ type }) => type === "found");
  const [found, next] = [parts[at], parts[at + 1]];
  const before = parts.slice(0, at);
  if (found?.type !== "found" || found.names?.some((name) => name.length > MAX_SHOWN)) return undefined;
  // A number is a name like any other.
  if (before.some((part) => part.type !== "known" && !isPlain(part))) return undefined;
  const isFolder = next?.type === "known" && next.text.startsWith("/");
  const made = isFolder
    ? below(found, joinTexts([known(next.text.slice(1)), ...parts.slice(at + 2)].filter((part) => !isEmpty(part))))
    : withEnding(found, joinTexts([known(""), ...parts.slice(at + 1)]));
  if (!made || before.every(isEmpty)) return made;
  return movedInto(before.map((part) => (isPlain(part) ? "0" : textOf(part))).join(""), made);
}

const isEmpty = (part: Text): boolean => part.type === "known" && part.text === "";

const PLAIN_ENDING = /^[\w.+,%~-]*$/;

function withEnding(found: FoundNames, ending: Text): FoundNames | undefined {
  if (isEmpty(ending)) return found;
  if (ending.type !== "known" || !PLAIN_ENDING.test(ending.text)) return undefined;
  const folder = found.within ? found.folder : parentOf(found.folder);
  const names = found.names?.map((name) => name + asPattern(ending.text));
  return { ...found, folder, all: false, names, folders: false };
}

/** Whether it is known what a link among them is called. */
const isNamed = ({ last, names = [] }: FoundNames): boolean => last === true && names.length > 0;

/** What is called so in folders that were found. */
function below(found: FoundNames, rest: Text): FoundNames | undefined {
  const isName = rest.type === "known" && /^[\w+,%~-][\w.+,%~-]*$|^\.[\w+,%~-][\w.+,%~-]*$/.test(rest.text);
  if (!isName && !(rest.type === "found" && rest.base !== undefined)) return undefined;
  const names = rest.type === "found" ? rest.names : [asPattern(textOf(rest))];
  const follows =
    found.follows || !found.folders || (rest.type === "found" && !(isNamed(rest) && rest.folder === rest.base));
  return { ...found, all: false, names, within: true, last: false, folders: false, follows };
}

/** In front of a name stands a folder, or a folder and the beginning of another name. */
function movedInto(before: string, found: FoundNames): Text | undefined {
  const { base } = found;
  const folder = before.slice(0, before.lastIndexOf("/") + 1);
  const start = before.slice(folder.length);
  if (base === undefined || !/^(?!-)[\w./+,%-]*$/.test(folder) || folder.includes("..")) return undefined;
  if (!/^(?:[\w+,%][\w.+,%-]*)?$/.test(start) || start.endsWith(".")) return undefined;
  if (found.folder !== base && !found.folder.startsWith(`${base}/`)) return undefined;
  const into = folder.startsWith("/") ? folder : `${base}/${folder}`;
  const rest = start === "" ? found.folder.slice(base.length) : "";
  const path = `${into}/${rest}`.replace(/\/(?:\.?\/)+/g, "/").replace(/(.)\/\.?$/, "$1");
  const names = found.names?.map((name) =>
    name.includes("/") ? `*/${start && "*"}${name.replace(/^\.?\//, "")}` : `${start && "*"}${name}`,
  );
  return {
    ...found,
    folder: path,
    names,
    // They were not looked for there: links may be on the way.
    follows: found.follows || !isNamed(found),
    folders: false,
    within: found.within || start !== "",
    base: folder.startsWith("/") ? undefined : base,
  };
}

/** The folders of names that were found. */
export const foundFolders = (found: FoundNames): FoundNames => ({
  ...found,
  folder: found.within ? found.folder : parentOf(found.folder),
  all: true,
  names: undefined,
  within: false,
  last: false,
  folders: !found.follows,
});

/** The last parts of names that were found, as names in a folder. */
export const lastOf = ({ names }: FoundNames, folder: string): FoundNames => ({
  type: "found",
  folder,
  base: folder,
  all: false,
  within: true,
  names: names?.map((name) => name.slice(name.lastIndexOf("/") + 1)),
  last: true,
  follows: !names?.length,
});

/** Names that were found, without an ending. */
export const withoutEnding = (found: FoundNames, ending: string): FoundNames => ({
  ...found,
  folder: found.within ? found.folder : parentOf(found.folder),
  all: false,
  folders: false,
  names: found.names?.map((name) => patternWithout(name, ending)),
});

/** A pattern of what is left of names when an ending is taken away. */
export function patternWithout(pattern: string, ending: string): string {
  const escaped = asPattern(ending);
  if (pattern.endsWith(escaped)) return pattern.slice(0, pattern.length - escaped.length);
  const [, start, tail = ""] = /^(.*)(?:[*?]|\[[^[\]]*\])([^*?\]]*)$/s.exec(pattern) ?? [];
  // What the last wildcard means may end with a part of it.
  return start !== undefined && escaped.endsWith(tail) ? `${start}*` : pattern;
}

export const isPlain = (text: Text): boolean => text.type === "glob" && text.plain === true;

/** Words as one line, as `eval` takes them. */
export const joinLine = (words: readonly Text[]): Text =>
  joinTexts(words.flatMap((word, at) => (at === 0 ? [word] : [known(" "), word])));

function beginning(parts: readonly Text[], lost: Text): Text {
  const why = lost.type === "unknown" ? lost.why : "it is part of a name that a program found";
  const [first] = parts;
  const starts = first?.type === "known" ? first.text : first?.type === "unknown" ? first.starts : undefined;
  let from = 0;
  for (const part of parts) if (part.type === "unknown") from |= part.from ?? 0;
  const isOne = lost.type === "found" && parts.every((part) => part === lost || part.type === "known");
  return { type: "unknown", why, starts, from, template: templateOf(parts), found: isOne ? lost : undefined };
}

function templateOf(parts: readonly Text[]): string | undefined {
  let template = "";
  for (const part of parts) {
    template += part.type === "known" ? part.text : ((part.type === "unknown" ? part.template : undefined) ?? GAP);
    if (template.length > MAX_TEXT) return undefined;
  }
  return template;
}

/** A word with something in place of each mark. */
export function fillIn(word: string, mark: string, value: Text | undefined): Text {
  const given = value ?? unknown("nothing tells what it gets");
  if (word === mark) return given;
  const made = joinTexts(word.split(mark).flatMap((part, at) => (at === 0 ? [known(part)] : [given, known(part)])));
  const template = word.replaceAll(mark, GAP);
  if (made.type === "unknown") return { ...made, template, filled: given };
  // In a line, a name that is only known as a pattern is not what a shell would make of the pattern.
  const isLine = /\s/.test(word) && given.type === "glob" && !isPlain(given);
  return isLine ? { type: "unknown", why: "it is a name that a program found", template, filled: given } : made;
}

/** The characters of a text as they are written; empty for one that is not known. */
export function textOf(text: Text): string {
  return text.type === "known" || text.type === "glob" ? text.text : "";
}

/** What a text begins with, as far as that is known. */
export function startOf(text: Text): string {
  return text.type === "unknown" ? (text.starts ?? "") : textOf(text);
}

/** For people: what a text is, or where it comes from. */
export function describeText(text: Text): string {
  if (text.type === "known") return text.text;
  if (text.type === "glob") return text.text.replace(/\\(.)/g, "$1");
  return text.type === "found" ? `what is found below ${text.folder}` : `? (${text.why})`;
}

export function sameText(one: Text, other: Text): boolean {
  if (one.type === "found") return JSON.stringify(one) === JSON.stringify(other);
  return one.type === other.type && describeText(one) === describeText(other) && isPlain(one) === isPlain(other);
}

/** More than these are too many to look at each. */
export const MAX_CHOICES = 16;

export function addChoice(choices: readonly Text[], more: readonly Text[]): Text[] {
  const all = [...choices];
  for (const one of more) if (!all.some((other) => sameText(one, other))) all.push(one);
  return all.length > MAX_CHOICES ? [unknown("it can be too many things")] : all;
}

/** Every way to take one of each. Undefined when there are too many. */
export function combinations<T>(choices: readonly (readonly T[])[]): T[][] | undefined {
  let all: T[][] = [[]];
  for (const some of choices) {
    if (some.length === 1) {
      for (const one of all) one.push(some[0] as T);
      continue;
    }
    all = all.flatMap((head) => some.map((one) => [...head, one]));
    if (all.length > MAX_CHOICES) return undefined;
  }
  return all;
}
