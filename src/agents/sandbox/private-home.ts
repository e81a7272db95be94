import { readFileSync, renameSync, statSync } from "node:fs";
import { cp } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { crashPoint } from "../../kernel/crash-point.ts";
import { isMissing } from "../../kernel/errors.ts";
import { ensureDir, existsNoFollow } from "../../kernel/files.ts";
import { ensureFile, ensureFolder, ensureLinkIn, listInside, moveBetween, placeFile } from "../../kernel/held/files.ts";
import { unlockRoot } from "../../kernel/held/folder.ts";
import { sha256 } from "../../kernel/ids.ts";
import { sweepRemoved } from "../../kernel/removal/remove-aside.ts";
import { removeFrom } from "../../kernel/removal/remove-held.ts";
import { takeTurns } from "../../kernel/turns.ts";
import type { HomeItem } from "../program.ts";
import { type Mount, mountAround } from "./args.ts";
import { realOf } from "./places.ts";

/**
 * Makes the places where something is mounted in folders that agents write to and that are kept. bwrap would make them
 * too, but it follows the links that an agent left there, and makes folders wherever those lead. Returns the mounts that
 * are left to do: a link is made by us, since bwrap refuses one that is there already.
 */
export function prepareMountPoints(mounts: readonly Mount[]): Mount[] {
  const byPath = new Map(mounts.map((mount) => [mount.path, mount]));
  return mounts.filter((mount) => {
    const around = mountAround(byPath, mount.path);
    if (around?.kind !== "write") return true;
    const root = around.from ?? around.path;
    const below = relative(around.path, mount.path);
    if (mount.kind === "link") {
      ensureLinkIn(root, below, mount.to);
      return false;
    }
    const isFolder = mount.kind === "empty" || statSync(mount.from ?? mount.path).isDirectory();
    if (isFolder) ensureFolder(root, below);
    else ensureFile(root, below);
    return true;
  });
}

/** A login of the user that a private home has a copy of. */
export interface CopiedLogin {
  /** The user's file, without links. */
  readonly from: string;
  /** Where the copy lies, relative to the home. */
  readonly to: string;
  /** Of what was copied. */
  readonly hash: string;
}

/** Of one pattern; more cannot be conversations. */
const MAX_KEPT = 1000;
/** Names that are looked at for one pattern: an agent can make a thousand folders with a thousand names each. */
const MAX_NAMES = 10 * MAX_KEPT;

/** The places in a folder that agents write to for which a pattern stands; they need not exist. */
function placesIn(root: string, pattern: string): Buffer[] {
  let places = [Buffer.from("")];
  let left = MAX_NAMES;
  const namesAt = (place: Buffer, part: string): Buffer[] => {
    const [before = "", after] = part.split("*");
    if (after === undefined) return [Buffer.from(part)];
    const names = left > 0 ? listInside(root, place, Math.min(left, MAX_KEPT)) : [];
    // An empty folder costs as much as a name.
    left -= names.length + 1;
    const fits = (name: string) => name.startsWith(before) && name.endsWith(after);
    return names.filter((name) => fits(name.toString("latin1")));
  };
  for (const part of pattern.split("/")) {
    const next = places.flatMap((place) =>
      namesAt(place, part).map((name) => Buffer.concat([place, Buffer.from("/"), name])),
    );
    places = next.slice(0, MAX_KEPT);
  }
  return places;
}

/**
 * Rebuilds a private home, except for what is named: whatever else a run leaves there (settings, hooks, start files of shells,
 * programs) would have a say in the next one. After a kill the next call goes on: nothing runs in the new home as long as
 * the old one is there.
 */
export async function renewHome(home: string, keeps: readonly string[]): Promise<void> {
  const old = join(besideOf(home), "old");
  const isNew = !existsNoFollow(home) && !existsNoFollow(old);
  ensureDir(home);
  if (isNew) return;
  ensureDir(besideOf(home));
  sweepRemoved(dirname(home));
  if (!existsNoFollow(old)) {
    unlockRoot(home);
    renameSync(home, old);
  }
  crashPoint("home:old");
  ensureDir(home);
  for (const place of keeps.flatMap((pattern) => placesIn(old, pattern))) {
    await takeTurns();
    moveBetween(old, home, place);
  }
  crashPoint("home:kept");
  removeFrom(besideOf(home), "old");
}

/** Beside a folder that agents write to: for what is ours about it. */
export function besideOf(home: string): string {
  return `${home}.beside`;
}

export interface Furnishing {
  /** The private home, and a new folder for copies that are shown in it, for one run. */
  readonly home: string;
  readonly overlays: string;
  readonly items: readonly HomeItem[];
}

export interface Furnished {
  /** Folders to be laid over the home; `to` is relative to that. */
  readonly folders: readonly { readonly from: string; readonly to: string }[];
  readonly logins: readonly CopiedLogin[];
}

/**
 * Brings the user's configuration and login of a program into its private home, afresh: what an agent made of the last copy is
 * gone. Files are copies in the home, since programs replace them; a folder is a copy elsewhere that is laid over, so that
 * nothing has to be deleted in the home.
 */
export async function furnishHome({ home, overlays, items }: Furnishing): Promise<Furnished> {
  const folders: Furnished["folders"][number][] = [];
  const logins: CopiedLogin[] = [];
  for (const { from, to, kind } of items) {
    const real = realOf(from);
    const stat = real === undefined ? undefined : statSync(real, { throwIfNoEntry: false });
    const folder = stat?.isDirectory() && kind !== "login" ? real : undefined;
    if (folder !== undefined || kind === "cache") {
      const copy = join(overlays, String(folders.length));
      ensureDir(copy);
      if (folder !== undefined) await copyFolder(folder, copy);
      folders.push({ from: copy, to });
    } else if (real !== undefined && stat?.isFile()) {
      const data = readFileSync(real);
      placeFile(home, to, data);
      if (kind === "login") logins.push({ from: real, to, hash: sha256(data) });
    } else removeFrom(home, to);
  }
  return { folders, logins };
}

/** Links are resolved: people keep their configuration elsewhere and link to it, and there the agent cannot look. */
async function copyFolder(from: string, to: string): Promise<void> {
  try {
    await cp(from, to, { recursive: true, dereference: true, filter: isPlain });
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Sockets and pipes cannot be copied, and a link may lead to nothing. */
function isPlain(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && (stat.isFile() || stat.isDirectory());
}
