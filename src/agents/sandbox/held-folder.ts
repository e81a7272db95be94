import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { join, sep } from "node:path";
import { errnoOf } from "../../kernel/errors.ts";
import { ensureDir, isMissing, writeRunFile } from "../../kernel/files.ts";

/**
 * What is done by us in folders that an agent writes to, perhaps at this very moment: folders are opened one in another,
 * never through a link, and everything is named by the open folder it lies in. So whatever the agent puts in the place
 * of a folder after it was looked at, we are not led elsewhere. Nothing is ever deleted but single files and links.
 */
const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A name in a folder that is open. */
function inside(folder: number, name: string): string {
  return `/proc/self/fd/${folder}/${name}`;
}

/** So often something else may be put where a folder was just made; then somebody does it on purpose. */
const MOST_TRIES = 16;

function enter(folder: number, name: string): number {
  for (let tries = 1; ; tries += 1) {
    try {
      return openSync(inside(folder, name), FOLDER);
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
      if (errnoOf(error) === "ENOENT") attempt(() => mkdirSync(inside(folder, name), { mode: 0o700 }), ["EEXIST"]);
      else if (["ENOTDIR", "ELOOP"].includes(errnoOf(error) ?? "")) removeSingle(folder, name);
      else throw error;
    }
  }
}

/** Tells whether it was done; no when it failed with one of these errors. */
function attempt(act: () => void, expected: readonly string[]): boolean {
  try {
    act();
    return true;
  } catch (error) {
    if (expected.includes(errnoOf(error) ?? "")) return false;
    throw error;
  }
}

/** A file or a link; a folder stays. */
function removeSingle(folder: number, name: string): void {
  attempt(() => unlinkSync(inside(folder, name)), ["ENOENT", "EISDIR"]);
}

function partsOf(below: string): string[] {
  return below.split(sep).filter((part) => part !== "" && part !== ".");
}

type Enter = (folder: number, name: string) => number;

/** Opens a folder, then the next in it, and so on; the last is open for as long as `use` takes. */
function within<T>(root: string, below: readonly string[], use: (folder: number) => T, go: Enter = enter): T {
  let folder = openSync(root, FOLDER);
  try {
    for (const part of below) {
      const next = go(folder, part);
      closeSync(folder);
      folder = next;
    }
    return use(folder);
  } finally {
    closeSync(folder);
  }
}

function withinParent<T>(root: string, below: string, use: (folder: number, name: string) => T): T {
  const parts = partsOf(below);
  return within(root, parts.slice(0, -1), (folder) => use(folder, parts.at(-1) ?? ""));
}

/** Beside a folder that agents write to: for what is ours about it, and for what is in the way there. */
export function besideOf(root: string): string {
  return `${root}.beside`;
}

/** Takes a folder out of the way without looking into it: what deleting it costs would be the agent's choice. */
function putAside(root: string, folder: number, name: string): void {
  if (!lstatSync(inside(folder, name), { throwIfNoEntry: false })) return;
  ensureDir(besideOf(root));
  const place = mkdtempSync(join(besideOf(root), "aside-"));
  const isMoved = attempt(() => renameSync(inside(folder, name), join(place, "it")), ["ENOENT"]);
  if (!isMoved) rmdirSync(place);
}

function clear(root: string, folder: number, name: string): void {
  removeSingle(folder, name);
  putAside(root, folder, name);
}

/** Makes `<root>/<below>` a real folder, and everything between; what is in it stays. */
export function ensureFolder(root: string, below: string): void {
  within(root, partsOf(below), () => undefined);
}

/** Makes `<root>/<below>` a real file; one that is there stays as it is. */
export function ensureFile(root: string, below: string): void {
  withinParent(root, below, (folder, name) => {
    const create = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    if (isFileAt(folder, name)) return;
    clear(root, folder, name);
    attempt(() => closeSync(openSync(inside(folder, name), create, 0o600)), ["EEXIST"]);
  });
}

/** Makes `<root>/<below>` a link. */
export function ensureLink(root: string, below: string, to: string): void {
  withinParent(root, below, (folder, name) => {
    if (linkAt(folder, name) === to) return;
    clear(root, folder, name);
    symlinkSync(to, inside(folder, name));
  });
}

/** Puts a file in place, wholly or not at all; whatever was there is gone. */
export function placeFile(root: string, below: string, data: Uint8Array): void {
  ensureDir(besideOf(root));
  const place = mkdtempSync(join(besideOf(root), "new-"));
  const file = join(place, "it");
  withinParent(root, below, (folder, name) => {
    writeRunFile(file, data, 0o600);
    const put = () => renameSync(file, inside(folder, name));
    if (attempt(put, ["EISDIR", "ENOTEMPTY", "EEXIST"])) return;
    putAside(root, folder, name);
    put();
  });
  rmdirSync(place);
}

/** Takes away what lies at `<root>/<below>`. */
export function removeFrom(root: string, below: string): void {
  withinParent(root, below, (folder, name) => clear(root, folder, name));
}

function openFile(folder: number, name: string): number | undefined {
  try {
    // A pipe would wait for somebody who writes.
    return openSync(inside(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (isMissing(error) || ["ELOOP", "ENXIO", "EACCES"].includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}

function isFileAt(folder: number, name: string): boolean {
  const file = openFile(folder, name);
  if (file === undefined) return false;
  try {
    return fstatSync(file).isFile();
  } finally {
    closeSync(file);
  }
}

function linkAt(folder: number, name: string): string | undefined {
  try {
    return readlinkSync(inside(folder, name));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The text of `<root>/<below>`; undefined when that is no real file in real folders, or too large. */
export function readInside(root: string, below: string, maxBytes: number): string | undefined {
  const parts = partsOf(below);
  const read = (folder: number) => readFileAt(folder, parts.at(-1) ?? "", maxBytes);
  try {
    return within(root, parts.slice(0, -1), read, (folder, name) => openSync(inside(folder, name), FOLDER));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

function readFileAt(folder: number, name: string, maxBytes: number): string | undefined {
  const file = openFile(folder, name);
  if (file === undefined) return undefined;
  try {
    const stat = fstatSync(file);
    return stat.isFile() && stat.size <= maxBytes ? readFileSync(file, "utf8") : undefined;
  } finally {
    closeSync(file);
  }
}
