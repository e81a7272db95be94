import { posix } from "node:path";
import {
  asPattern,
  beforePattern,
  type FoundNames,
  foundWith,
  isPattern,
  known,
  patternWithout,
  type Text,
} from "./text.ts";

/** Where the folder that they are in is one of them, it is not known how it is spelled. */
export const isFolders = (text: Text): boolean => text.type === "found" && text.text.endsWith("/.");

const patternOrName = (text: string): Text =>
  isPattern(text) ? { type: "glob", text } : known(beforePattern(text) || ".");

/** The last part of a name, as `basename` prints it. Of one that was found, that is a name like those of a pattern. */
export function lastPart(text: Text): Text[] | undefined {
  if (text.type === "unknown") return undefined;
  if (text.type === "known") return [known(posix.basename(text.text) || "/")];
  return [patternOrName(posix.basename(text.text.replace(/\/\.$/, "")).replace(/^\*\*$/, "*"))];
}

/** The folder of a name, as `dirname` prints it. */
export function folderPart(text: Text): Text[] | undefined {
  if (text.type === "unknown") return undefined;
  if (text.type === "known") return [known(posix.dirname(text.text))];
  if (text.type === "glob") return [patternOrName(posix.dirname(text.text))];
  const path = text.text.startsWith("/") ? text.text : `./${text.text}`;
  const [, folder, last] = /^(.*?)\/\*\*(\/[^/]*)?$/.exec(path) ?? [];
  if (folder === undefined) return undefined;
  // Of the folder that they are in, it is one more up.
  const isUp = last === "/." && /^\.(?:\/[^*?[/.]+)*$/.test(folder);
  if (last === "/." && !isUp) return undefined;
  const above = isUp ? folder.replace(/(.)\/[^/]*$/, "$1") : folder;
  return [{ type: "found", text: `${above}/**/.`, follows: text.follows, at: text.at, mayBeNone: false }];
}

/** Names with another ending in place of one: each is one of these, since not all may have it. */
export function otherEnding(text: Text, ending: string, by: string): Text[] | undefined {
  if (text.type === "unknown" || isFolders(text) || ending === "" || ending.includes("/") || !/^[\w.+,%~-]*$/.test(by))
    return undefined;
  if (text.type === "known")
    return [text.text.endsWith(ending) ? known(text.text.slice(0, text.text.length - ending.length) + by) : text];
  const made = renamed(text, foundWith(patternWithout(text.text, ending), asPattern(by)));
  return text.text.endsWith(asPattern(ending)) || made.text === text.text ? [made] : [made, text];
}

/** Names without an ending, as `${name%ending}` has them. */
export function withoutEnding(names: Extract<Text, { type: "glob" | "found" }>, ending: string): Text {
  const made = { ...names, text: patternWithout(names.text, ending) };
  // A name at the top can be all ending; one that begins with a dot is hardly one.
  const mayBeAll = made.type === "found" && names.text.startsWith("*") && !ending.startsWith(".");
  return mayBeAll ? { ...made, mayBeNone: true } : made;
}

const renamed = <T extends FoundNames | Extract<Text, { type: "glob" }>>(text: T, name: string): T =>
  text.type === "glob" ? { ...text, text: name, plain: undefined } : { ...text, text: name, real: undefined };

const PLAIN = /^\.?[\w+,%~-][\w.+,%~-]*$/;

interface OtherPart {
  readonly by: string;
  /** Wherever it stands, or only the first time. */
  readonly isEvery: boolean;
}

/** Names in which one text stands for another, as by `${name/text/other}`. */
export function otherPart(text: Text, part: string, { by, isEvery }: OtherPart): Text[] | undefined {
  if (text.type === "known" || text.type === "unknown" || isFolders(text) || !/^[\w.+,%~ -]+$/.test(part))
    return undefined;
  const isPlain = PLAIN.test(by) && (!by.startsWith(".") || part.startsWith("."));
  const start = /^[^*?[\\]*/.exec(text.text)?.[0] ?? "";
  // Before the first wildcard it is there for sure.
  if (start.includes(part) && !isEvery && (isPlain || text.type === "glob"))
    return [
      moved(
        text,
        text.text.replace(part, () => asPattern(by)),
      ),
    ];
  const folder = text.text.slice(0, text.text.lastIndexOf("/") + 1);
  const name = text.text.slice(folder.length);
  if (/^\\?\./.test(name) || !(isPlain || (by === "" && text.type === "glob"))) return undefined;
  if (text.type === "glob" && isPattern(folder)) return undefined;
  const into = isEvery ? folder.replaceAll(part, by) : folder;
  return otherNames(name, part, by).map((one) => moved(text, into + one));
}

const moved = (text: FoundNames | Extract<Text, { type: "glob" }>, name: string): Text =>
  text.type === "glob"
    ? { type: "glob", text: name }
    : { type: "found", text: name, follows: true, mayBeNone: text.mayBeNone };

/** Patterns of a name in which a text stands for another one, or may. */
function otherNames(pattern: string, part: string, by: string): string[] {
  const made = by === "" ? "*" : `*${asPattern(by)}*`;
  const same = pattern === "**" ? "**/*" : pattern;
  return pattern.split(/[*?[\]]/).some((piece) => piece.includes(part)) ? [made] : [same, made];
}
