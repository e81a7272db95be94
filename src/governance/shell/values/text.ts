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

// Names that a program finds, as it prints them: a pattern in which the name `**` is any number of folders.
// `src/**` is all below a folder, `src/**/*` some of it, `src/**/*.ts` those that are called so; what ends with `/.` are
// folders and no links, and `src/**/.` is the folder itself as well.
export interface FoundNames {
  readonly type: "found";
  readonly text: string;
  /** Whether links may be on the way to them: it was looked behind links, or the names are used where nothing was looked for. */
  readonly follows?: boolean | undefined;
  /** Whether none of them is a link itself. */
  readonly real?: boolean | undefined;
  /** The folder from which they were looked for: in another one, the same names may be links. */
  readonly at?: string | undefined;
  /** Whether there may be none: `$(…)` is nothing then. */
  readonly mayBeNone?: boolean | undefined;
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

/** Where the name begins that has the first special character. */
const patternStart = (pattern: string): number => (/^(?:\\.|[^*?[\\])*/.exec(pattern)?.[0] ?? "").lastIndexOf("/") + 1;

/** The part with special characters, from the beginning of the name in which the first of them is. */
export const patternBehind = (pattern: string): string => pattern.slice(patternStart(pattern));

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

const isEmpty = (part: Text): boolean => part.type === "known" && part.text === "";

/** What a name or a path has, and nothing that means something else in an option or in a line. */
const OF_PATH = /^[\w./+,%~@-]*$/;

/** A name that was found, with an ending, below it or in another folder: `$f.bak`, `$d/index.ts`, `build/$f`. Undefined for what else is made of it. */
function joinFound(parts: readonly Text[]): Text | undefined {
  const some = parts.filter((part) => !isEmpty(part));
  let made: FoundNames | undefined;
  let before = "";
  for (const part of some) {
    if (part.type === "unknown" || (part.type === "known" && !OF_PATH.test(part.text))) return undefined;
    const text = part.type === "known" ? asPattern(part.text) : part.text;
    if (made?.text.endsWith("/.") && !text.startsWith("/")) return undefined;
    if (made?.mayBeNone && text.startsWith("/")) return undefined;
    if (made) made = withMore(made, text);
    else if (part.type === "found") made = before === "" ? part : behind(before, part);
    else before += text;
    if ((made?.text ?? before).length > MAX_FOUND || (part.type === "found" && !made)) return undefined;
  }
  return made;
}

/** Longer than a path that anybody makes of a name, and short enough to look at often. */
const MAX_FOUND = 1000;

function withMore(found: FoundNames, more: string): FoundNames {
  const isBelow = more.startsWith("/");
  const text = isBelow ? found.text + more : foundWith(found.text, more);
  const follows = found.follows || (more.includes("/") && !found.text.endsWith("/."));
  return { type: "found", text, follows, at: found.at };
}

/** The end of a name is the end of the last one. */
export const foundWith = (pattern: string, ending: string): string =>
  ending === "" ? pattern : pattern.replace(/(^|\/)\*\*$/, "$1**/*") + ending;

/** They were not looked for there. A name that may be one of many folders has no beginning. */
function behind(before: string, found: FoundNames): FoundNames | undefined {
  if (before.startsWith("-") || found.mayBeNone || (!before.endsWith("/") && found.text.startsWith("**")))
    return undefined;
  return { type: "found", text: before + found.text, follows: true };
}

/** The folder in which they all are, and what is known about them there. */
export function placeOfFound({ text }: FoundNames): { folder: string; rest: string } {
  const start = folderBefore(text);
  return { folder: start.replace(/(.)\/$/, "$1"), rest: patternBehind(text) };
}

/** What the last part of their names looks like; undefined where that can be anything. */
export function lastNameOf({ text }: FoundNames): string | undefined {
  const path = text.endsWith("/.") ? text.slice(0, -2) : text;
  const last = path.slice(path.lastIndexOf("/") + 1);
  return /^\*+$/.test(last) ? undefined : last;
}

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
  return isLine
    ? {
        type: "unknown",
        why: "it is a name that a program found",
        starts: word.slice(0, word.indexOf(mark)),
        template,
        filled: given,
      }
    : made;
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
  return text.type === "found" ? `what is found below ${placeOfFound(text).folder || "."}` : `? (${text.why})`;
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
    if (all.length > 2 * MAX_CHOICES) return undefined;
  }
  return all;
}
