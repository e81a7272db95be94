import { lstatSync, readlinkSync } from "node:fs";
import { dirname, extname, isAbsolute, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { PrloomError } from "../../kernel/errors.ts";
import { readCheckedOut } from "../../kernel/files.ts";

/** An import that Node resolved. */
export interface Resolution {
  readonly specifier: string;
  /** The module that imports it. */
  readonly parentURL: string;
  /** The file that Node found, without links. */
  readonly found: string;
}

const MAX_LINKS = 40;
/** What lies below was written by agents; a repository can be a package itself. */
const AGENTS_PLACE = `${sep}prloom${sep}.local${sep}`;
const NEXT = "`prloom stop`, then `prloom start`, applies it.";

/**
 * An old file can be reached by a new name: a branch brings a link, a package nearer to the importer, or a package.json with another
 * entry. Follows the name as Node does, and refuses what is not older than `since`, or where that cannot be told.
 */
export function refuseNewerWay({ specifier, parentURL, found }: Resolution, since: number): void {
  const leadsTo = /^(\.{0,2}\/|\.{1,2}$|file:)/.test(specifier)
    ? fileBehind(fileURLToPath(new URL(specifier, parentURL)), since)
    : packageBehind(specifier, dirname(fileURLToPath(parentURL)), since);
  if (leadsTo(found)) return;
  const text = `${specifier}, which ${fileURLToPath(parentURL)} imports, leads elsewhere than when the dispatcher was started, or was not loaded then`;
  throw new PrloomError("pin-changed", `${text}. ${NEXT}`, NEXT);
}

export function changedSinceStart(path: string): PrloomError {
  return new PrloomError("pin-changed", `${path} changed after the dispatcher was started. ${NEXT}`, NEXT);
}

type LeadsTo = (found: string) => boolean;

function fileBehind(path: string, since: number): LeadsTo {
  const real = follow(path, since);
  const stat = statOf(real);
  if (stat && !stat.isDirectory()) return (found) => found === real;
  // `require` adds an ending, and rather takes a file with one than the folder of that name.
  const isWithEnding: LeadsTo = (found) => found === `${real}${extname(found)}`;
  return stat ? (found) => isWithEnding(found) || packageAt(real, since)(found) : isWithEnding;
}

function packageBehind(specifier: string, from: string, since: number): LeadsTo {
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join(sep);
  const folder = specifier.startsWith("#") ? undefined : findUp(from, join("node_modules", name));
  const own = findUp(from, "package.json");
  return (found) =>
    (folder !== undefined && packageAt(folder, since)(found)) ||
    (own !== undefined && mappedBy(own, specifier, since)(found));
}

/** What the importer's own package.json says about a name. The folders that it names may be links by now. */
function mappedBy(manifest: string, specifier: string, since: number): LeadsTo {
  const folder = dirname(manifest);
  const targets = targetsIn(oldManifest(folder, since), specifier);
  return (found) =>
    targets.some((target) =>
      target.startsWith("./")
        ? follow(join(folder, target), since) === found
        : !target.startsWith("#") && packageBehind(target, folder, since)(found),
    );
}

function packageAt(folder: string, since: number): LeadsTo {
  const real = follow(folder, since);
  oldManifest(real, since);
  return (found) => found.startsWith(`${real}${sep}`) && !found.slice(real.length).includes(AGENTS_PLACE);
}

function oldManifest(folder: string, since: number): string {
  const manifest = follow(join(folder, "package.json"), since);
  if ((statOf(manifest)?.ctimeMs ?? 0) >= since) throw changedSinceStart(manifest);
  return manifest;
}

/** The real path behind a name; a link on the way must be older. */
function follow(path: string, since: number): string {
  const ahead = partsOf(path);
  let real: string = sep;
  for (let part = ahead.shift(), links = 0; part !== undefined; part = ahead.shift()) {
    const next = join(real, part);
    const stat = statOf(next);
    if (!stat?.isSymbolicLink()) {
      real = next;
      continue;
    }
    links += 1;
    if (stat.ctimeMs >= since || links > MAX_LINKS) throw changedSinceStart(next);
    const target = readlinkSync(next);
    if (isAbsolute(target)) real = sep;
    ahead.unshift(...partsOf(target));
  }
  return real;
}

const partsOf = (path: string): string[] => path.split(sep).filter((part) => part !== "" && part !== ".");
const statOf = (path: string) => lstatSync(path, { throwIfNoEntry: false });

function findUp(from: string, name: string): string | undefined {
  const path = join(from, name);
  if (statOf(path)) return path;
  const parent = dirname(from);
  return parent === from ? undefined : findUp(parent, name);
}

/** All that a package.json could mean by a name (`#part`, or the package's own name and what follows it), whatever the conditions. */
function targetsIn(manifest: string, name: string): string[] {
  const { name: own, imports, exports }: Manifest = JSON.parse(readCheckedOut(manifest) ?? "{}");
  if (name.startsWith("#")) return targetsOf(imports, name);
  if (own === undefined || (name !== own && !name.startsWith(`${own}/`))) return [];
  const sub = `.${name.slice(own.length)}`;
  return hasPaths(exports) ? targetsOf(exports, sub) : sub === "." ? leavesOf(exports) : [];
}

interface Manifest {
  readonly name?: string;
  readonly imports?: unknown;
  readonly exports?: unknown;
}

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];
const hasPaths = (map: unknown): boolean => entriesOf(map).some(([key]) => key.startsWith("."));

function targetsOf(map: unknown, name: string): string[] {
  return entriesOf(map).flatMap(([key, value]) => {
    const [before = "", after] = key.split("*");
    if (after === undefined) return key === name ? leavesOf(value) : [];
    if (!name.startsWith(before) || !name.endsWith(after) || name.length < key.length) return [];
    const star = name.slice(before.length, name.length - after.length);
    return leavesOf(value).map((target) => target.replaceAll("*", star));
  });
}

function leavesOf(value: unknown): string[] {
  return typeof value === "string" ? [value] : entriesOf(value).flatMap(([, one]) => leavesOf(one));
}
