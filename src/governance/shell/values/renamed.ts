import { posix } from "node:path";
import {
  asPattern,
  beforePattern,
  type FoundNames,
  foundFolders,
  isPattern,
  joinTexts,
  known,
  lastOf,
  MAX_CHOICES,
  patternWithout,
  type Text,
  withoutEnding,
} from "./text.ts";

const patternOrName = (text: string): Text =>
  isPattern(text) ? { type: "glob", text } : known(beforePattern(text) || ".");

/** The last part of a name, as `basename` prints it. */
export function lastPart(text: Text, folder: string): Text | undefined {
  if (text.type === "unknown") return undefined;
  if (text.type === "found") return lastOf(text, folder);
  if (text.type === "known") return known(posix.basename(text.text) || "/");
  return patternOrName(posix.basename(text.text));
}

/** The folder of a name, as `dirname` prints it. */
export function folderPart(text: Text): Text | undefined {
  if (text.type === "unknown") return undefined;
  if (text.type === "found") return foundFolders(text);
  return text.type === "known" ? known(posix.dirname(text.text)) : patternOrName(posix.dirname(text.text));
}

/** Names with another ending in place of one: each is one of these, since not all may have it. */
export function otherEnding(text: Text, ending: string, by: string): Text[] | undefined {
  if (text.type === "unknown" || ending === "" || ending.includes("/") || !/^[\w.+,%~-]*$/.test(by)) return undefined;
  if (text.type === "found") {
    const made = joinTexts([withoutEnding(text, ending), known(by)]);
    const names = [...(made.type === "found" ? (made.names ?? []) : []), ...(text.names ?? [])];
    return made.type === "found" ? withNames(made, names) : undefined;
  }
  if (text.type === "known")
    return [text.text.endsWith(ending) ? known(text.text.slice(0, text.text.length - ending.length) + by) : text];
  const made: Text = { type: "glob", text: patternWithout(text.text, ending) + asPattern(by) };
  return text.text.endsWith(asPattern(ending)) ? [made] : [made, text];
}

const PLAIN = /^\.?[\w+,%~-][\w.+,%~-]*$/;

interface OtherPart {
  readonly by: string;
  /** Wherever it stands, or only the first time. */
  readonly isEvery: boolean;
}

/** Names in which one text stands for another, as by `${name/text/other}`. */
export function otherPart(text: Text, part: string, { by, isEvery }: OtherPart): Text[] | undefined {
  if (!/^[\w.+,%~ -]+$/.test(part)) return undefined;
  const isPlain = PLAIN.test(by) && (!by.startsWith(".") || part.startsWith("."));
  if (text.type === "found") return isPlain ? otherFound(text, part, by) : undefined;
  if (text.type !== "glob") return undefined;
  const start = /^[^*?[\\]*/.exec(text.text)?.[0] ?? "";
  // Before the first wildcard it is there for sure.
  if (start.includes(part) && !isEvery) return [{ type: "glob", text: text.text.replace(part, () => asPattern(by)) }];
  const folder = text.text.slice(0, text.text.lastIndexOf("/") + 1);
  const name = text.text.slice(folder.length);
  if (isPattern(folder) || /^\\?\./.test(name) || !(isPlain || by === "")) return undefined;
  const into = isEvery ? folder.replaceAll(part, by) : folder;
  return otherNames(name, part, by).map((one) => ({ type: "glob", text: into + one }));
}

function otherFound(found: FoundNames, part: string, by: string): Text[] | undefined {
  const { base, folder } = found;
  if (base === undefined || (folder !== base && !folder.startsWith(`${base}/`))) return undefined;
  const names = found.names?.flatMap((name) => otherNames(name.slice(name.lastIndexOf("/") + 1), part, by));
  const made = { ...found, folder: base, all: false, within: true, follows: true, last: false, folders: false };
  return withNames(made, names ?? []);
}

/** Undefined for too many: one after the other, each step could double them. */
function withNames(found: FoundNames, names: readonly string[]): Text[] | undefined {
  const all = [...new Set(names)];
  return all.length > MAX_CHOICES ? undefined : [{ ...found, names: found.names && all }];
}

/** Patterns of a name in which a text stands for another one, or may. */
function otherNames(pattern: string, part: string, by: string): string[] {
  const made = by === "" ? "*" : `*${asPattern(by)}*`;
  return pattern.split(/[*?[\]]/).some((piece) => piece.includes(part)) ? [made] : [pattern, made];
}
