import { lstatSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { PrloomError } from "../../kernel/errors.ts";

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
  const leadsTo = /^(\.{0,2}\/|file:)/.test(specifier)
    ? fileBehind(fileURLToPath(new URL(specifier, parentURL)), since)
    : packageBehind(specifier, dirname(fileURLToPath(parentURL)), since);
  if (leadsTo?.(found)) return;
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
  if (stat?.isDirectory()) return packageAt(real, since);
  // `require` adds an ending.
  return stat
    ? (found) => found === real
    : (found) => found.startsWith(`${real}.`) && !found.slice(real.length).includes(sep);
}

function packageBehind(specifier: string, from: string, since: number): LeadsTo | undefined {
  // Its own package.json says where this leads. That of a project is not enough: its folders may be links by now.
  if (specifier.startsWith("#")) {
    const own = from.includes(`${sep}node_modules${sep}`) ? findUp(from, "package.json") : undefined;
    return own === undefined ? undefined : packageAt(dirname(own), since);
  }
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join(sep);
  const folder = findUp(from, join("node_modules", name));
  return folder === undefined ? undefined : packageAt(folder, since);
}

function packageAt(folder: string, since: number): LeadsTo {
  const real = follow(folder, since);
  const manifest = follow(join(real, "package.json"), since);
  if ((statOf(manifest)?.ctimeMs ?? 0) >= since) throw changedSinceStart(manifest);
  return (found) => found.startsWith(`${real}${sep}`) && !found.slice(real.length).includes(AGENTS_PLACE);
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
