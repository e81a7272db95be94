import type { ExtendedGlobPart, GlobPart } from "unbash";
import { MAX_CHOICES } from "./text.ts";

/** How far a set like `[a-z]` at a place of a pattern reaches, and whether it has a character. */
function readSet(pattern: string, at: number, character: string): { end: number; has: boolean } | undefined {
  let from = at + 1;
  const isNot = pattern[from] === "!" || pattern[from] === "^";
  if (isNot) from += 1;
  const end = pattern.indexOf("]", from + 1);
  if (end < 0) return undefined;
  const members = pattern.slice(from, end);
  // What a class like `[:alpha:]` has is not looked up: it may have any.
  if (members.includes("[")) return { end: pattern.indexOf("]", end + 1) < 0 ? end : end + 1, has: true };
  let has = false;
  for (let index = 0; index < members.length; index += 1) {
    const [first = "", dash, last] = members.slice(index, index + 3);
    if (dash === "-" && last !== undefined) {
      has ||= first <= character && character <= last;
      index += 2;
    } else has ||= first === character;
  }
  return { end, has: has !== isNot };
}

/** Where a pattern goes on after one character; undefined when it does not fit. */
function step(pattern: string, at: number, character: string): number | undefined {
  const sign = pattern[at];
  if (sign === "?") return at + 1;
  if (sign === "\\") return pattern[at + 1] === character ? at + 2 : undefined;
  const set = sign === "[" ? readSet(pattern, at, character) : undefined;
  if (set) return set.has ? set.end + 1 : undefined;
  return sign === character ? at + 1 : undefined;
}

/** Whether a pattern of a shell fits a name. It takes no more than their lengths multiplied: agents write patterns. */
export function fitsPattern(pattern: string, name: string): boolean {
  let [at, index] = [0, 0];
  let star: { readonly at: number; index: number } | undefined;
  while (index < name.length) {
    if (pattern[at] === "*") {
      star = { at: at + 1, index };
      at += 1;
      continue;
    }
    const next = at < pattern.length ? step(pattern, at, name[index] as string) : undefined;
    if (next !== undefined) [at, index] = [next, index + 1];
    else if (star) {
      star.index += 1;
      [at, index] = [star.at, star.index];
    } else return false;
  }
  while (pattern[at] === "*") at += 1;
  return at === pattern.length;
}

/** The patterns that one such as `@(a|b)` means, of which `!(a)` is all else. */
export function alternatives(part: GlobPart | ExtendedGlobPart): string[] {
  if (part.type === "Glob") return [part.text];
  const { operator, pattern } = part;
  // A plain `*` does not mean names that begin with a dot.
  if (/[()"'`$\\]/.test(pattern)) return pattern.includes(".") || /[`$\\]/.test(pattern) ? ["*", ".*"] : ["*"];
  const each = pattern.split("|");
  if (operator === "@") return each;
  if (operator === "?") return ["", ...each];
  if (operator === "!") return ["*"];
  return ["*", ...each.filter((one) => one.startsWith(".")).map(() => ".*")];
}

/** The same for a path, in which `**` stands for any number of folders. */
export function fitsPath(pattern: string, path: string): boolean {
  const [parts, names] = [pattern.split("/"), path.split("/")];
  let [at, index] = [0, 0];
  let folders: { readonly at: number; index: number } | undefined;
  while (index < names.length) {
    const part = parts[at];
    if (part === "**") {
      folders = { at: at + 1, index };
      at += 1;
    } else if (part !== undefined && fitsPattern(part, names[index] as string)) {
      at += 1;
      index += 1;
    } else if (folders) {
      folders.index += 1;
      [at, index] = [folders.at, folders.index];
    } else return false;
  }
  while (parts[at] === "**") at += 1;
  return at === parts.length;
}

/** Patterns for `fitsPath` in place of one in which a star means slashes as well, as those of whole paths do. Of more than MAX_CHOICES, not all are told. */
export function pathsMeant(pattern: string): string[] {
  const [first = "", ...pieces] = pattern.split(/\*+/);
  let ways = [first];
  for (const [at, piece] of pieces.entries()) {
    const isEnd = piece.startsWith("/") || (piece === "" && at === pieces.length - 1);
    ways = ways.flatMap((way) => {
      if (way === "" || way.endsWith("/")) return [`${way}**${isEnd ? "" : "/*"}${piece}`];
      return [`${way}*${piece}`, `${way}*/**${isEnd ? "" : "/*"}${piece}`];
    });
    if (ways.length > MAX_CHOICES) return ways;
  }
  return ways;
}
