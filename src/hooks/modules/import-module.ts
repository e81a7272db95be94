import { existsSync, readdirSync, statSync } from "node:fs";
import { registerHooks } from "node:module";
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { noteForeignCode } from "../../kernel/foreign-code.ts";
import { problemOf } from "./module-problem.ts";
import { loadPinned, type Resolve, resolvePinned } from "./pinned-modules.ts";
import { hookThreads } from "./threads.ts";

export interface ModuleName {
  /** Top of the main working tree. */
  readonly repoRoot: string;
  /** `./…` from the root of the repository, else the name of a package. */
  readonly specifier: string;
}

const AUTHORS_ENTRY = "prloom/plugin";
/** Our own scheme: Node's resolution, as if the import were in a file at the root of the repository. */
const FROM_ROOT = "prloom-from-root:";

/** From the sources our file lies one folder up; the bundle and its parts lie beside it. */
const ownEntry = import.meta.url.endsWith(".ts")
  ? new URL("../../plugin.ts", import.meta.url)
  : new URL("./plugin.js", import.meta.url);

let registered = false;
/** The file that was asked for last: Node does not tell in which one a syntax error is. */
let lastFile: string | undefined;

/**
 * Plugins import `prloom/plugin` wherever prloom is installed, also where the repository has no node_modules at all.
 * Nothing else is resolved differently than Node would.
 */
export function registerOnce(): void {
  if (registered) return;
  registered = true;
  hookThreads();
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier === AUTHORS_ENTRY) return { url: ownEntry.href, shortCircuit: true };
      const [name, from] = specifier.startsWith(FROM_ROOT) ? fromRoot(specifier, context) : [specifier, context];
      const found = resolvePinned(name, from, nextResolve);
      if (found.url.startsWith("file:")) lastFile = found.url;
      return found;
    },
    load: loadPinned,
  });
}

type Context = Parameters<Resolve>[1];

function fromRoot(specifier: string, context: Context): [name: string, context: Context] {
  const { parentURL, name } = JSON.parse(decodeURIComponent(specifier.slice(FROM_ROOT.length)));
  return [name, { ...context, parentURL }];
}

/** Imports a module as the config names it and gives its default export; undefined when it has none. */
export async function importModule({ repoRoot, specifier }: ModuleName): Promise<unknown> {
  registerOnce();
  noteForeignCode();
  const isPath = specifier.startsWith(".") || isAbsolute(specifier);
  const url = isPath ? fileUrl(repoRoot, specifier) : packageUrl(repoRoot, specifier);
  try {
    const imported: unknown = await import(url);
    return defaultOf(imported);
  } catch (error) {
    throw problemOf(error, { repoRoot, specifier, isPath, lastFile });
  }
}

function fileUrl(repoRoot: string, specifier: string): string {
  const path = resolve(repoRoot, specifier);
  const inside = relative(repoRoot, path);
  if (inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside)) {
    throw new Error(`${specifier} lies outside the repository; write a path below it, like ./plugins/name.ts`);
  }
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile()) return pathToFileURL(path).href;
  if (stat)
    throw new Error(`${specifier} is a folder; name the file in it, like ${specifier.replace(/\/$/, "")}/index.ts`);
  throw new Error(`there is no file ${specifier} (from the root of the repository)${likely(path, specifier)}`);
}

/** The file that was probably meant, when the ending was left out or mistaken. */
function likely(path: string, specifier: string): string {
  const folder = dirname(path);
  const stem = basename(path, extname(path));
  const found = existsSync(folder)
    ? readdirSync(folder).find((name) => name.replace(/\.[^.]+$/, "") === stem)
    : undefined;
  return found === undefined ? "" : `; did you mean ${specifier.slice(0, specifier.lastIndexOf("/") + 1)}${found}?`;
}

function packageUrl(repoRoot: string, name: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(name)) {
    throw new Error(`"${name}" is neither a path that starts with ./ nor the name of a package`);
  }
  const parentURL = pathToFileURL(join(repoRoot, "package.json")).href;
  return `${FROM_ROOT}${encodeURIComponent(JSON.stringify({ parentURL, name }))}`;
}

/** A CommonJS file that was compiled from an ES module keeps its default export one level deeper. */
function defaultOf(imported: unknown): unknown {
  const outer = memberOf(imported, "default");
  return memberOf(outer, "__esModule") === true ? memberOf(outer, "default") : outer;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && name in value
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
