import { posix } from "node:path";
import { wildcardMatcher } from "./wildcards.ts";

/** The file system that is asked about links; a test gives one of its own. */
export interface Files {
  /** Where a link leads, as it is written; undefined when the path is not a link, null when there is nothing, also not below it. */
  link(path: string): string | undefined | null;
  kind(path: string): "file" | "folder" | undefined;
  /** Names in a folder, by what they are; none when it cannot be read. */
  entries(path: string): Entries;
}

export interface Entries {
  readonly links: readonly string[];
  readonly folders: readonly string[];
  readonly others: readonly string[];
}

/** The same file system, which is asked once about each path: for one question, in which several rules look at the same. */
export class AskedOnce implements Files {
  private readonly files: Files;
  // Many questions name no path. What is undefined as an answer is kept as false.
  private links: Map<string, string | null | false> | undefined;
  private kinds: Map<string, "file" | "folder" | false> | undefined;
  private folders: Map<string, Entries> | undefined;

  constructor(files: Files) {
    this.files = files;
  }

  entries(path: string): Entries {
    this.folders ??= new Map();
    const before = this.folders.get(path);
    if (before) return before;
    const found = this.files.entries(path);
    this.folders.set(path, found);
    return found;
  }

  link(path: string): ReturnType<Files["link"]> {
    this.links ??= new Map();
    const before = this.links.get(path);
    if (before !== undefined) return before === false ? undefined : before;
    const target = this.files.link(path);
    this.links.set(path, target === undefined ? false : target);
    return target;
  }

  kind(path: string): ReturnType<Files["kind"]> {
    this.kinds ??= new Map();
    const before = this.kinds.get(path);
    if (before !== undefined) return before || undefined;
    const found = this.link(path) === null ? undefined : this.files.kind(path);
    this.kinds.set(path, found ?? false);
    return found;
  }
}

const MAX_LINKS = 40;

/** Folders of a policy. Their own paths are followed once: a link that is put in their place later does not move them. */
export interface Ground {
  /** The worktree as the policy has it, and what that really is. */
  readonly given: string;
  readonly root: string;
  readonly temporary: string;
}

export function groundOf({ root, temporary }: { root: string; temporary: string }, files: Files): Ground {
  const real = (path: string) => realPath(path, "/", files) ?? path;
  return { given: root, root: real(root), temporary: real(temporary) };
}

/**
 * The real path behind a name, for one that does not exist yet, too. Undefined for links without an end, and where it matters
 * whether `..` is taken before links, as programs do it, or after them, as the kernel does.
 */
export function realPath(path: string, root: string, files: Files, ground?: Ground): string | undefined {
  const absolute = path.startsWith("/") ? path : `${root}/${path}`;
  const real = follow(absolute, files, ground);
  const goesUp = path.includes("..") && /(?:^|\/)\.\.(?:\/|$)/.test(path);
  return goesUp && real !== follow(posix.normalize(absolute), files, ground) ? undefined : real;
}

/** The same as the kernel has it: `..` counts from where links before it lead. */
export function follow(path: string, files: Files, ground: Ground | undefined): string | undefined {
  const inside = ground && below(path, ground.given);
  let ahead = (inside ?? path).split("/");
  let real = ground && inside !== undefined ? ground.root : "/";
  let isMissing = false;
  for (let at = 0, links = 0; at < ahead.length; at += 1) {
    const part = ahead[at] as string;
    if (part === "" || part === ".") continue;
    if (part === "..") {
      real = posix.dirname(real);
      isMissing = false;
      continue;
    }
    const next = real === "/" ? `/${part}` : `${real}/${part}`;
    const target: ReturnType<Files["link"]> = isMissing ? null : files.link(next);
    if (target === undefined || target === null) {
      real = next;
      isMissing = target === null;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return undefined;
    if (target.startsWith("/")) real = "/";
    ahead = [...target.split("/"), ...ahead.slice(at + 1)];
    at = -1;
  }
  return real;
}

/** The path below a folder; undefined when it is outside. */
export function below(path: string, folder: string): string | undefined {
  if (!path.startsWith(folder)) return undefined;
  if (path.length === folder.length) return "";
  if (folder.endsWith("/")) return path.slice(folder.length);
  return path[folder.length] === "/" ? path.slice(folder.length + 1) : undefined;
}

/**
 * A worktree may itself lie in the folder for temporary files: it is not one of them, and neither is what lies around it there,
 * nor the folder in which the dispatcher listens if the user has none for that.
 */
export function isTemporary(real: string, { root, temporary }: Ground): boolean {
  const inside = below(real, temporary);
  if (inside === undefined) return false;
  const [own] = below(root, temporary)?.split("/") ?? [];
  const [first = ""] = inside.split("/");
  return own !== "" && first !== own && !/^prloom-\d+$/.test(first);
}

type Letters = "exact" | "any-case";

/** By the list itself: the lists of a policy stay the same for as long as it is in force. */
const exact = new WeakMap<readonly string[], Matcher>();
const anyCase = new WeakMap<readonly string[], Matcher>();

type Matcher = (path: string) => boolean;

/** With more of them a regular expression can take for ever; it is the faster way with fewer. */
const MAX_WILDCARDS = 2;
// A row of stars is as many wildcards as `sourceOf` makes of it.
const isSimple = (pattern: string): boolean => (pattern.match(/\*\*?/g) ?? []).length <= MAX_WILDCARDS;
/** For a longer path even two of them take too long, hundreds of patterns in one list: its length counts twice. */
const MAX_QUICK = 500;

function compile(patterns: readonly string[], letters: Letters): Matcher {
  if (patterns.includes("**")) return () => true;
  const cased = (text: string): string => (letters === "exact" ? text : text.toLowerCase());
  const walking = (some: readonly string[]) => some.map((one) => wildcardMatcher(cased(trimmed(one))));
  const others = walking(patterns.filter((one) => !isSimple(one)));
  const sources = patterns.filter(isSimple).map(sourceOf).join("|");
  const regular = new RegExp(sources === "" ? "(?!)" : `^(?:${sources})(?:/.*)?$`, letters === "exact" ? "s" : "is");
  return (path) =>
    path.length > MAX_QUICK
      ? walking(patterns).some((fits) => fits(cased(path)))
      : regular.test(path) || others.some((fits) => fits(cased(path)));
}

/** Patterns of the config: `*` within a folder, `**` across, and a folder stands for what is in it. */
export function matchesAny(path: string, patterns: readonly string[], letters: Letters = "exact"): boolean {
  if (patterns.length === 0) return false;
  const compiled = letters === "exact" ? exact : anyCase;
  let matcher = compiled.get(patterns);
  if (!matcher) {
    matcher = compile(patterns, letters);
    compiled.set(patterns, matcher);
  }
  return matcher(path);
}

const trimmed = (pattern: string): string => pattern.replace(/^\.\//, "").replace(/(?<!\/)\/+$/, "");

const sourceOf = (pattern: string): string =>
  trimmed(pattern)
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*\*\/?|\*|\?/g, (found) =>
      found === "**/" ? "(?:.*/)?" : found === "**" ? ".*" : found === "*" ? "[^/]*" : "[^/]",
    );

/** The first of them that matches, to be told. */
export function matching(path: string, patterns: readonly string[], letters: Letters = "exact"): string | undefined {
  if (!matchesAny(path, patterns, letters)) return undefined;
  return patterns.find((pattern) => matchesAny(path, [pattern], letters));
}
