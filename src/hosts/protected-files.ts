import { execFile } from "node:child_process";
import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { matchesAny } from "../governance/policy/paths.ts";
import type { Policy } from "../governance/policy/policy-file.ts";
import { errnoOf } from "../kernel/errors.ts";
import { filesIn } from "./touched-files.ts";

/** How the files of a worktree are touched; paths are below it. */
export interface WorktreeDisk {
  /** All that git does not ignore. */
  files(): Promise<readonly string[]>;
  read(path: string): Promise<Buffer | undefined>;
  /** Gives the owner back a folder that was made unreadable, or may not be written. */
  unlock(folder: string): Promise<void>;
  remove(path: string): Promise<void>;
  write(path: string, bytes: Buffer, mode: number): Promise<void>;
  link(path: string, to: string): Promise<void>;
}

/** For where nothing more can be reached than the agent can reach itself. */
function plainDisk(root: string): WorktreeDisk {
  const removed = async (at: string): Promise<void> => {
    // Nested more deeply than a path can name, only a program that goes from folder to folder gets there.
    await rm(at, { recursive: true, force: true }).catch(() => promisify(execFile)("rm", ["-rf", "--", at]));
  };
  const placed = async (path: string): Promise<string> => {
    const at = join(root, path);
    await removed(at);
    await mkdir(dirname(at), { recursive: true });
    return at;
  };
  return {
    files: () => filesIn(root),
    read: (path) => readFile(join(root, path)),
    unlock: (folder) => chmod(join(root, folder), OWNER_ALL),
    remove: (path) => removed(join(root, path)),
    write: async (path, bytes, mode) => writeFile(await placed(path), bytes, { mode, flag: "wx" }),
    link: async (path, to) => symlink(to, await placed(path)),
  };
}

/** What is larger, or more, is left to the dispatcher, which compares with the commit when the run has ended. */
const MAX_FILES = 1000;
const MAX_BYTES = 1024 ** 2;
/** Far below what a system takes as one path, the worktree's included. */
const MAX_PATH = 1024;
const OWNER_ALL = 0o700;

/** Not the repository's: the run's own folder, git's, which the dispatcher compares, and what OpenCode itself installs. */
const NOT_COMPARED =
  /^prloom\/\.local(?:\/|$)|(?:^|\/)\.git(?:\/|$)|^\.opencode\/(?:node_modules(?:\/|$)|(?:package(?:-lock)?\.json|bun\.lockb?|\.gitignore)$)/;

/** A file or a link as it was; of one that is too large only that it was there. */
interface Kept {
  readonly mark: string;
  readonly mode: number;
  readonly link?: string;
  readonly bytes?: Buffer;
}

/**
 * Protected files of a worktree as they were when the run began. Scripts may run and cannot be looked into, so what they
 * changed there is found after each command, and put back.
 */
export class ProtectedFiles {
  readonly #root: string;
  readonly #disk: WorktreeDisk;
  readonly #protected: readonly string[];
  readonly #places: readonly string[];
  #kept: Promise<Map<string, Kept>> | undefined;
  #isPartial = false;
  /** One at a time: two would put back what the other is about to look at. */
  #comparing: Promise<unknown> = Promise.resolve();

  constructor({ root, protected: patterns }: Pick<Policy, "root" | "protected">, disk = plainDisk(root)) {
    this.#root = root;
    this.#disk = disk;
    this.#protected = patterns;
    this.#places = [...new Set(patterns.map(placeOf))].filter((place) => place !== "" && !NOT_COMPARED.test(place));
  }

  /** Remembers what is there, once. */
  async begin(): Promise<void> {
    this.#kept ??= this.#look();
    await this.#kept;
  }

  /** Puts back what is other than at the beginning, and returns the names; `also` are files that are known to have changed. */
  putBack(also: readonly string[] = []): Promise<readonly string[]> {
    const comparing = this.#comparing.catch(() => undefined).then(() => this.#compare(also));
    this.#comparing = comparing;
    return comparing;
  }

  async #compare(also: readonly string[]): Promise<readonly string[]> {
    this.#kept ??= this.#look();
    const kept = await this.#kept;
    const back = await this.#remakeFolders(kept);
    const there = [...(await this.#list()).found, ...also.filter((path) => this.#isProtected(path))];
    const paths = [...new Set([...kept.keys(), ...there])];
    const marks = await Promise.all(paths.map((path) => this.#markOf(path)));
    for (const [at, path] of paths.entries()) {
      const before = kept.get(path);
      if (marks[at] === before?.mark) continue;
      if (await this.#restore(path, before)) back.push(path);
      if (before) kept.set(path, { ...before, mark: (await this.#markOf(path)) ?? "" });
    }
    return back;
  }

  async #look(): Promise<Map<string, Kept>> {
    const isAnywhere = this.#protected.some((pattern) => placeOf(pattern) === "" && !pattern.endsWith(".git"));
    const others = isAnywhere ? (await this.#disk.files()).filter((path) => this.#isProtected(path)) : [];
    const listed = await this.#list();
    const found = [...new Set([...listed.found, ...others])];
    this.#isPartial = !listed.isWhole || found.length >= MAX_FILES;
    const kept = new Map<string, Kept>();
    for (const path of found.slice(0, MAX_FILES)) {
      const stat = await this.#statOf(path);
      if (!stat) continue;
      const at = join(this.#root, path);
      const common = { mark: markOf(stat), mode: Number(stat.mode) & 0o777 };
      if (stat.isSymbolicLink()) kept.set(path, { ...common, link: await readlink(at) });
      else if (stat.isFile() && stat.size <= MAX_BYTES) kept.set(path, { ...common, ...(await this.#bytesOf(path)) });
      else kept.set(path, common);
    }
    return kept;
  }

  async #bytesOf(path: string): Promise<Pick<Kept, "bytes">> {
    const bytes = await this.#disk.read(path);
    return bytes ? { bytes } : {};
  }

  /** A link in the place of a folder would lead what is put back elsewhere, and a folder that is locked would keep it out. */
  async #remakeFolders(kept: ReadonlyMap<string, Kept>): Promise<string[]> {
    const folders = new Set([...kept.keys()].flatMap(foldersOf));
    const back: string[] = [];
    const sorted = [...folders].sort();
    const stats = await Promise.all(sorted.map((folder) => this.#statOf(folder).catch(() => "unreachable" as const)));
    for (const [at, folder] of sorted.entries()) {
      // What is above it is as it was by now.
      const stat = stats[at] === "unreachable" ? await this.#statOf(folder) : stats[at];
      if (stat?.isDirectory()) await this.#unlock(folder, stat);
      if (stat?.isDirectory() !== false) continue;
      await this.#disk.remove(folder);
      back.push(folder);
    }
    return back;
  }

  /** Whether it was other than before: a file that was only touched is as it was. */
  async #restore(path: string, before: Kept | undefined): Promise<boolean> {
    if (!before) {
      // It may have gone with the folder that lay in the place of a file.
      if (this.#isPartial || !(await this.#statOf(path))) return false;
      await this.#disk.remove(path);
      return true;
    }
    if (before.link !== undefined) await this.#disk.link(path, before.link);
    if (before.bytes === undefined) return true;
    const stat = await this.#statOf(path);
    const isSame = stat?.isFile() === true && (await this.#disk.read(path))?.equals(before.bytes) === true;
    if (!isSame || (Number(stat.mode) & 0o777) !== before.mode) await this.#disk.write(path, before.bytes, before.mode);
    return !isSame;
  }

  async #list(): Promise<{ readonly found: readonly string[]; readonly isWhole: boolean }> {
    const found: string[] = [];
    let isWhole = true;
    // Level by level, each asked for at once: most of these places are not there.
    for (let level = this.#places; level.length > 0 && found.length < MAX_FILES; ) {
      const below = (await Promise.all(level.map((path) => this.#lookAt(path, found)))).flat();
      isWhole &&= below.length <= MAX_FILES;
      level = below.slice(0, MAX_FILES);
    }
    return { found, isWhole };
  }

  /** Notes a file, and gives what is in a folder. One whose files no path can name is noted as a whole. */
  async #lookAt(path: string, found: string[]): Promise<string[]> {
    if (NOT_COMPARED.test(path)) return [];
    const stat = await this.#statOf(path);
    const isFolder = stat?.isDirectory() === true;
    if (isFolder && path.length <= MAX_PATH) {
      await this.#unlock(path, stat);
      return (await readdir(join(this.#root, path))).map((name) => `${path}/${name}`);
    }
    if (stat && this.#isProtected(path)) found.push(path);
    return [];
  }

  async #unlock(folder: string, { mode }: { readonly mode: bigint }): Promise<void> {
    if ((Number(mode) & OWNER_ALL) !== OWNER_ALL) await this.#disk.unlock(folder);
  }

  #isProtected(path: string): boolean {
    return !NOT_COMPARED.test(path) && matchesAny(path, this.#protected, "any-case");
  }

  async #markOf(path: string): Promise<string | undefined> {
    const stat = await this.#statOf(path);
    return stat && markOf(stat);
  }

  async #statOf(path: string) {
    try {
      return await lstat(join(this.#root, path), { bigint: true });
    } catch (error) {
      if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
      throw error;
    }
  }
}

const markOf = ({ ino, size, mtimeNs, ctimeNs }: { ino: bigint; size: bigint; mtimeNs: bigint; ctimeNs: bigint }) =>
  `${ino} ${size} ${mtimeNs} ${ctimeNs}`;

/** The folder or file that all of a pattern's paths are in; empty for one that may be anywhere. */
function placeOf(pattern: string): string {
  const parts = pattern.replace(/^\.\//, "").split("/");
  const wild = parts.findIndex((part) => /[*?]/.test(part));
  return parts
    .slice(0, wild < 0 ? parts.length : wild)
    .filter((part) => part !== "")
    .join("/");
}

/** All folders above a file. */
function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}
