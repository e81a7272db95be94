import { lstatSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { isMissing } from "../../kernel/files.ts";
import type { HomeItem } from "../program.ts";
import { type Mount, mountAround } from "./args.ts";

/**
 * Makes `<root>/<below>` a real folder, and everything between. The agent could put links there in an earlier run: with our
 * rights they must not be followed, so whatever is no folder is removed.
 */
export function ensureFolderNoFollow(root: string, below: string): string {
  let path = root;
  for (const part of below.split(sep).filter((one) => one !== "")) {
    path = join(path, part);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory()) continue;
    if (stat) rmSync(path, { force: true });
    mkdirSync(path, { mode: 0o700 });
  }
  return path;
}

/** Makes `<root>/<below>` a real file; one that is there stays as it is. */
function ensureFileNoFollow(root: string, below: string): void {
  const path = join(ensureFolderNoFollow(root, folderOf(below)), below.split(sep).at(-1) ?? "");
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile()) return;
  rmSync(path, { recursive: true, force: true });
  writeFileSync(path, "", { mode: 0o600 });
}

function ensureLinkNoFollow(root: string, below: string, to: string): void {
  const path = join(ensureFolderNoFollow(root, folderOf(below)), below.split(sep).at(-1) ?? "");
  rmSync(path, { recursive: true, force: true });
  symlinkSync(to, path);
}

function folderOf(below: string): string {
  return dirname(below) === "." ? "" : dirname(below);
}

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
      ensureLinkNoFollow(root, below, mount.to);
      return false;
    }
    const isFolder = mount.kind === "empty" || statSync(mount.from ?? mount.path).isDirectory();
    if (isFolder) ensureFolderNoFollow(root, below);
    else ensureFileNoFollow(root, below);
    return true;
  });
}

/** Brings the user's configuration of a program into the private home, anew: what an agent made of the last copy is gone. */
export async function copyConfig(home: string, items: readonly HomeItem[]): Promise<void> {
  for (const item of items) {
    if (item.kind !== "config") continue;
    const below = relative(home, join(home, item.to));
    const folder = ensureFolderNoFollow(home, folderOf(below));
    const to = join(folder, below.split(sep).at(-1) ?? "");
    rmSync(to, { recursive: true, force: true });
    await copyPlain(item.from, to);
  }
}

/** Links are resolved: people keep their configuration elsewhere and link to it, and there the agent cannot look. */
async function copyPlain(from: string, to: string): Promise<void> {
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
