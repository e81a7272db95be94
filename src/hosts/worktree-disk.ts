import { execFile } from "node:child_process";
import { lstatSync, readdirSync } from "node:fs";
import { chmod, mkdir, opendir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { filesIn } from "./touched-files.ts";

/** How the files of a worktree are touched; paths are below it, and bytes: not every name is UTF-8. */
export interface WorktreeDisk {
  /** All that git does not ignore. */
  files(): Promise<readonly string[]>;
  /** The first names in a folder, each byte as one character. */
  list(folder: Buffer, most: number): Promise<readonly string[]>;
  read(path: Buffer): Promise<Buffer | undefined>;
  /** Gives the owner back a folder that was made unreadable, or may not be written. */
  unlock(folder: Buffer): Promise<void>;
  remove(path: Buffer): Promise<void>;
  write(path: Buffer, bytes: Buffer, mode: number): Promise<void>;
  link(path: Buffer, to: string): Promise<void>;
}

const OWNER_ALL = 0o700;
/** A folder of this size may have thousands of names. */
const LARGE = 64 * 1024;

/** A file until it is whole. */
const UNFINISHED = `.prloom-${process.pid}.tmp`;

/** For where nothing more can be reached than the agent can reach itself. */
export function plainDisk(root: string): WorktreeDisk {
  const at = (path: Buffer): Buffer => Buffer.concat([Buffer.from(`${root}/`), path]);
  const placed = async (path: Buffer): Promise<Buffer> => {
    await removed(at(path));
    await mkdir(at(path.subarray(0, Math.max(0, path.lastIndexOf("/")))), { recursive: true });
    return at(path);
  };
  return {
    files: () => filesIn(root),
    list: (folder, most) => namesIn(at(folder), most),
    read: (path) => readFile(at(path)),
    unlock: (folder) => chmod(at(folder), OWNER_ALL),
    remove: (path) => removed(at(path)),
    write: async (path, bytes, mode) => {
      const place = await placed(path);
      const made = Buffer.concat([place.subarray(0, place.lastIndexOf("/") + 1), Buffer.from(UNFINISHED)]);
      await removed(made);
      await writeFile(made, bytes, { mode, flag: "wx" });
      // A script may have made it anew by now.
      await rename(made, place);
    },
    link: async (path, to) => symlink(to, await placed(path)),
  };
}

/** Small folders are read at once: to ask another thread takes longer, and most calls have nothing else to wait for. */
async function namesIn(folder: Buffer, most: number): Promise<readonly string[]> {
  if (lstatSync(folder).size <= LARGE) return readdirSync(folder, "latin1").slice(0, most);
  const names: string[] = [];
  for await (const { name } of await opendir(folder, { encoding: "latin1", bufferSize: most }))
    if (names.push(name) >= most) break;
  return names;
}

async function removed(path: Buffer): Promise<void> {
  const options = { recursive: true, force: true };
  // Nested more deeply than a path can name, only a program that goes from folder to folder gets there.
  await rm(path, options).catch(() => promisify(execFile)("rm", ["-rf", "--", path.toString()]));
}
