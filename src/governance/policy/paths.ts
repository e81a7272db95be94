import { posix } from "node:path";

/** The file system that is asked about links; a test gives one of its own. */
export interface Files {
  /** Where a link leads, as it is written; undefined when the path is not a link. */
  link(path: string): string | undefined;
  kind(path: string): "file" | "folder" | undefined;
}

/** The same file system, which is asked once about each path: for one question, in which several rules look at the same. */
export function askedOnce(files: Files): Files {
  const links = new Map<string, string | undefined>();
  const kinds = new Map<string, ReturnType<Files["kind"]>>();
  return {
    link: (path) => remembered(links, path, () => files.link(path)),
    kind: (path) => remembered(kinds, path, () => files.kind(path)),
  };
}

function remembered<Value>(known: Map<string, Value>, path: string, ask: () => Value): Value {
  if (known.has(path)) return known.get(path) as Value;
  const value = ask();
  known.set(path, value);
  return value;
}

const MAX_LINKS = 40;

/**
 * The real path behind a name, for one that does not exist yet, too. Undefined for links without an end, and where it matters
 * whether `..` is taken before links, as programs do it, or after them, as the kernel does.
 */
export function realPath(path: string, root: string, files: Files): string | undefined {
  const absolute = path.startsWith("/") ? path : `${root}/${path}`;
  const real = follow(absolute, files);
  return /(?:^|\/)\.\.(?:\/|$)/.test(path) && real !== follow(posix.normalize(absolute), files) ? undefined : real;
}

function follow(path: string, files: Files): string | undefined {
  const ahead = partsOf(path);
  let real = "/";
  for (let links = 0; ahead.length > 0; ) {
    const part = ahead.shift() as string;
    const next = part === ".." ? posix.dirname(real) : posix.join(real, part);
    const target = part === ".." ? undefined : files.link(next);
    if (target === undefined) {
      real = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return undefined;
    if (target.startsWith("/")) real = "/";
    ahead.unshift(...partsOf(target));
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

const compiled = { exact: new Map<string, RegExp>(), "any-case": new Map<string, RegExp>() };

/** Patterns of the config: `*` within a folder, `**` across, and a folder stands for what is in it. */
export function matches(path: string, pattern: string, letters: "exact" | "any-case" = "exact"): boolean {
  const known = compiled[letters];
  let regular = known.get(pattern);
  if (!regular) {
    const source = pattern
      .replace(/^\.\//, "")
      .replace(/\/+$/, "")
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replace(/\*\*\/?|\*|\?/g, (found) =>
        found === "**/" ? "(?:.*/)?" : found === "**" ? ".*" : found === "*" ? "[^/]*" : "[^/]",
      );
    regular = new RegExp(`^${source}(?:/.*)?$`, letters === "exact" ? "" : "i");
    if (known.size > 1000) known.clear();
    known.set(pattern, regular);
  }
  return regular.test(path);
}

export const matchesAny = (path: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => matches(path, pattern));
