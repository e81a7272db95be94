import { posix } from "node:path";

/** The file system that is asked about links; a test gives one of its own. */
export interface Files {
  /** Where a link leads, as it is written; undefined when the path is not a link, null when there is nothing, also not below it. */
  link(path: string): string | undefined | null;
  kind(path: string): "file" | "folder" | undefined;
}

/** The same file system, which is asked once about each path: for one question, in which several rules look at the same. */
export function askedOnce(files: Files): Files {
  // Many questions name no path.
  let links: Map<string, ReturnType<Files["link"]>> | undefined;
  let kinds: Map<string, ReturnType<Files["kind"]>> | undefined;
  const link = (path: string) => {
    links ??= new Map();
    const before = links.get(path);
    if (before !== undefined || links.has(path)) return before;
    const target = files.link(path);
    links.set(path, target);
    return target;
  };
  const kind = (path: string) => {
    kinds ??= new Map();
    const before = kinds.get(path);
    if (before !== undefined || kinds.has(path)) return before;
    const found = link(path) === null ? undefined : files.kind(path);
    kinds.set(path, found);
    return found;
  };
  return { link, kind };
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

function follow(path: string, files: Files, ground: Ground | undefined): string | undefined {
  const inside = ground && below(path, ground.given);
  let ahead = partsOf(inside ?? path);
  let real = ground && inside !== undefined ? ground.root : "/";
  let isMissing = false;
  for (let at = 0, links = 0; at < ahead.length; at += 1) {
    const part = ahead[at] as string;
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
    ahead = [...partsOf(target), ...ahead.slice(at + 1)];
    at = -1;
  }
  return real;
}

const partsOf = (path: string): string[] => path.split("/").filter((part) => part !== "" && part !== ".");

/** The path below a folder; undefined when it is outside. */
export function below(path: string, folder: string): string | undefined {
  if (path === folder) return "";
  const start = folder.endsWith("/") ? folder : `${folder}/`;
  return path.startsWith(start) ? path.slice(start.length) : undefined;
}

type Letters = "exact" | "any-case";

/** By the list itself: the lists of a policy stay the same for as long as it is in force. */
const compiled = {
  exact: new WeakMap<readonly string[], RegExp>(),
  "any-case": new WeakMap<readonly string[], RegExp>(),
};

/** Patterns of the config: `*` within a folder, `**` across, and a folder stands for what is in it. */
export function matchesAny(path: string, patterns: readonly string[], letters: Letters = "exact"): boolean {
  if (patterns.length === 0) return false;
  let regular = compiled[letters].get(patterns);
  if (!regular) {
    const sources = patterns.map(sourceOf).join("|");
    regular = new RegExp(`^(?:${sources})(?:/.*)?$`, letters === "exact" ? "s" : "is");
    compiled[letters].set(patterns, regular);
  }
  return regular.test(path);
}

const sourceOf = (pattern: string): string =>
  pattern
    .replace(/^\.\//, "")
    .replace(/\/+$/, "")
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*\*\/?|\*|\?/g, (found) =>
      found === "**/" ? "(?:.*/)?" : found === "**" ? ".*" : found === "*" ? "[^/]*" : "[^/]",
    );

/** The first of them that matches, to be told. */
export function matching(path: string, patterns: readonly string[], letters: Letters = "exact"): string | undefined {
  if (!matchesAny(path, patterns, letters)) return undefined;
  return patterns.find((pattern) => matchesAny(path, [pattern], letters));
}
