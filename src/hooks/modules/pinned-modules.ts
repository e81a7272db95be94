import { readFileSync, realpathSync, statSync } from "node:fs";
import type { registerHooks } from "node:module";
import { isAbsolute, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";
import { PrloomError } from "../../kernel/errors.ts";
import { hashCheckedOut } from "../../kernel/files.ts";
import { sha256 } from "../../kernel/ids.ts";
import { OWN_FOLDER } from "../../kernel/system/own-folder.ts";
import { refuseEndless, refuseEndlessPackage } from "./endless-files.ts";
import { changedSinceStart, refuseNewerWay } from "./resolution-age.ts";

type LoaderHooks = Parameters<typeof registerHooks>[0];
export type Resolve = NonNullable<LoaderHooks["resolve"]>;
type Load = NonNullable<LoaderHooks["load"]>;
type Loaded = ReturnType<Load>;

/** prloom's own files. They are not kept, but what is loaded late must not be newer either: it would be another version. */
const OWN = OWN_FOLDER.href;

/** Under this name threads find what all of them share. */
const SEAL = "prloom:sealed";

/** Modules of repositories that were loaded, or are named by one that was, by their addresses. */
const recorded = new Map<string, Loaded>();
/** The addresses of all files that were loaded, packages included: to import one again loads nothing. */
const loadedBefore = new Set<string>();
/** Since then, by the clock of the file system, nothing that is new is loaded, in no thread; 0 before. */
const seal = new Float64Array(sharedSeal());
const sealedAt = (): number | undefined => seal[0] || undefined;
function sharedSeal(): SharedArrayBuffer {
  const ours = getEnvironmentData(SEAL);
  if (ours instanceof SharedArrayBuffer) return ours;
  const made = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  setEnvironmentData(SEAL, made);
  return made;
}

/** What files had at the last start, by their paths: such a one may be new, as after another branch and back. */
let asPinned: ReadonlyMap<string, string> = new Map();

/**
 * From this time on a file is loaded as it was then: a module that was named until now from memory, any other only if it
 * did not change since. Without a time everything is loaded: no dispatcher runs here.
 */
export function sealModules(at: number | undefined, hashes: ReadonlyMap<string, string> = new Map()): void {
  seal[0] = at ?? 0;
  asPinned = hashes;
}

/** Modules below a folder, as they were loaded. Packages are not among them: their age is enough. */
export function recordedModules(root: string): { path: string; kind: "module"; sha256: string }[] {
  return [...recorded].flatMap(([url, { source }]) => {
    const path = relative(root, fileURLToPath(url));
    if (path.startsWith(`..${sep}`) || isAbsolute(path)) return [];
    return [{ path: path.split(sep).join("/"), kind: "module", sha256: sha256(bytesOf(source)) }];
  });
}

/** A library of machine code: `require` opens it by its path, and asks no `load`. */
const isAddon = (url: string): boolean => url.startsWith("file:") && url.endsWith(".node");

/** A module that is in memory is found there, even if its file is gone. */
export const resolvePinned: Resolve = (specifier, context, nextResolve) => {
  const since = sealedAt();
  if (since !== undefined && /^\.{1,2}\//.test(specifier) && context.parentURL?.startsWith("file:")) {
    const url = new URL(specifier, context.parentURL).href;
    const known = recorded.get(url);
    if (known && !isAddon(url)) return { url, format: known.format, shortCircuit: true };
  }
  refuseEndlessPackage(specifier, context.parentURL);
  const resolved = nextResolve(specifier, context);
  const { url } = resolved;
  if (since === undefined || !url.startsWith("file:")) return resolved;
  if (isAddon(url)) refuseNewer(url, since);
  const found = fileURLToPath(url);
  const isKnown = recorded.has(url) || loadedBefore.has(url) || hasPinnedHash(found);
  // The first file of a thread has none.
  const parentURL = context.parentURL?.startsWith("file:") ? context.parentURL : url;
  if (!isKnown) refuseNewerWay({ specifier, parentURL, found }, since);
  return resolved;
};

/** Keeps what is loaded; once sealed it gives that, and refuses what is newer. */
export const loadPinned: Load = (url, context, nextLoad) => {
  if (!url.startsWith("file:")) return nextLoad(url, context);
  const since = sealedAt();
  const known = since === undefined ? undefined : recorded.get(url);
  if (known) return { ...known, shortCircuit: true };
  if (since !== undefined) refuseNewer(url, since);
  const load = (one: string, how: Context): Loaded => {
    refuseEndless(one);
    return nextLoad(one, how);
  };
  const loaded = load(url, context);
  if (since === undefined) {
    loadedBefore.add(url);
    if (!url.startsWith(OWN) && !url.includes("/node_modules/"))
      record(url, loaded, (other) => load(other, plain(other, context)));
  }
  return loaded;
};

/** For the first file of a thread: Node asks for it without the links that led there. */
export function refuseNewerLinks(file: string | URL): void {
  const since = sealedAt();
  const { href, protocol } = file instanceof URL ? file : pathToFileURL(file);
  if (since === undefined || protocol !== "file:") return;
  refuseNewerWay({ specifier: href, parentURL: href, found: realpathSync(fileURLToPath(href)) }, since);
}

/** For `module.register`: Node loads that in a thread of its own, which has none of our hooks and cannot be given any. */
export function refuseForeignThread(specifier: string): void {
  if (sealedAt() === undefined) return;
  const text = `${specifier} cannot be registered: the age of what it loads cannot be told`;
  const hint =
    "Call `module.register` while the module is loaded, and start the dispatcher on the branch that you mean.";
  throw new PrloomError("pin-changed", `${text}. ${hint}`, hint);
}

function refuseNewer(url: string, since: number): void {
  const path = fileURLToPath(url);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat && stat.ctimeMs >= since && !hasPinnedHash(path)) throw changedSinceStart(path);
}

function hasPinnedHash(path: string): boolean {
  const pinned = asPinned.get(path);
  return pinned !== undefined && hashCheckedOut(path) === pinned;
}

type Context = Parameters<Load>[1];

/** For a module that was not asked for yet. */
function plain(url: string, context: Context): Context {
  return { ...context, format: undefined, importAttributes: url.endsWith(".json") ? { type: "json" } : {} };
}

/** Files that a module names, to be loaded now or later. Too many do no harm; what is missed is loaded only while it is old. */
export const NAMED = /\b(?:from|import|require)\s*(?:\(\s*)?["'`](\.{1,2}\/[^"'`$]+)["'`]/g;

function record(url: string, loaded: Loaded, peek: (url: string) => Loaded): void {
  const source = loaded.source ?? readFileSync(fileURLToPath(url));
  recorded.set(url, { ...loaded, source });
  for (const [, specifier = ""] of Buffer.from(bytesOf(source)).toString("utf8").matchAll(NAMED)) {
    const other = new URL(specifier, url).href;
    if (recorded.has(other) || other.includes("/node_modules/")) continue;
    try {
      record(other, peek(other), peek);
    } catch {
      // There is no such file, or it is not a module: an import of it will say so.
    }
  }
}

function bytesOf(source: Loaded["source"]): Uint8Array {
  if (source === undefined || typeof source === "string") return Buffer.from(source ?? "");
  return source instanceof Uint8Array ? source : new Uint8Array(source as ArrayBuffer);
}
