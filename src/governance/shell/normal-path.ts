import { posix } from "node:path";
import { fitsPattern } from "./values/glob.ts";
import { describeText, type Text, unknown } from "./values/text.ts";

/** What a system takes as a path. */
const MAX_PATH = 4096;

/** Only what has a slash before a dot, a slash or its end is changed by normalising. */
const mayChange = (path: string): boolean => path.includes("/.") || path.includes("//") || path.endsWith("/");

/** The same text as an absolute path without `.` and `..`. */
export function normal(like: Omit<Extract<Text, { text: string }>, "text">, path: string): Text {
  const made = { ...like, text: path } as Extract<Text, { text: string }>;
  // A pattern with `..` behind a special character can lead anywhere.
  if (made.type !== "known" && leadsUp(path)) return unknown(`${describeText(made)} can be any path`);
  if (path.length > MAX_PATH) return unknown("it is too long for a path");
  if (!mayChange(path)) return made;
  const text = posix.normalize(path);
  return { ...made, text: text.length > 1 && text.endsWith("/") ? text.slice(0, -1) : text };
}

function leadsUp(pattern: string): boolean {
  const special = pattern.search(/[*?[]/);
  if (special < 0 || pattern.indexOf("..", special) >= 0) return special >= 0;
  // One that can be `..` itself: `.?`, `*.`, or `.$!.` where nothing was started.
  const names = pattern.slice(pattern.lastIndexOf("/", special) + 1).split("/");
  return names.some(
    (name, at) => /^\.|\.$/.test(name) && (name !== ".*" || at < names.length - 1) && fitsPattern(name, ".."),
  );
}

/** Whether a path is a folder, or lies in it. */
export function isIn(path: string, folder: string): boolean {
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === "/");
}
