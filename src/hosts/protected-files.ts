import { type BigIntStats, lstatSync, readlinkSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { matchesAny } from "../governance/policy/paths.ts";
import type { Policy } from "../governance/policy/policy-file.ts";
import { errnoOf } from "../kernel/errors.ts";
import { quietly } from "./time-limit.ts";
import { plainDisk, type WorktreeDisk } from "./worktree-disk.ts";

/** What is larger, or more, is left to the dispatcher, which compares with the commit when the run has ended. */
const MAX_FILES = 1000;
const MAX_BYTES = 1024 ** 2;
/** Far below what a system takes as one path, the worktree's included. */
const MAX_PATH = 1024;
const OWNER_ALL = 0o700;
/** A folder of so many files that a run made is taken away as one. */
const MANY = 100;
/** So many looks take about a millisecond: after them others have their turn. */
const LOOKS_AT_ONCE = 200;

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

/** A path below the worktree, each byte of it as one character: agents make names that are not UTF-8. */
type BytePath = string;

const bytesOf = (path: BytePath): Buffer => Buffer.from(path, "latin1");
const asBytePath = (name: string): BytePath => Buffer.from(name).toString("latin1");
/** For people, and for the patterns that people wrote. */
const nameOf = (path: BytePath): string => bytesOf(path).toString();

/**
 * Protected files of a worktree as they were when the run began. Scripts may run and cannot be looked into, so what they
 * changed there is found after each command, and put back. It looks as the judge does, without asking other threads: most of
 * these places are not there, and an agent waits for the answer.
 */
export class ProtectedFiles {
  readonly #root: Buffer;
  readonly #disk: WorktreeDisk;
  readonly #protected: readonly string[];
  readonly #places: readonly BytePath[];
  #kept: Promise<Map<BytePath, Kept>> | undefined;
  /** Those that were there when the run began. */
  readonly #folders = new Set<BytePath>();
  #isPartial = false;
  #looks = 0;
  /** One at a time: two would put back what the other is about to look at. */
  #comparing: Promise<unknown> = Promise.resolve();

  constructor({ root, protected: patterns }: Pick<Policy, "root" | "protected">, disk: WorktreeDisk = plainDisk(root)) {
    this.#root = Buffer.from(`${root}/`);
    this.#disk = disk;
    this.#protected = patterns;
    const places = [...new Set(patterns.map(placeOf))].map(asBytePath);
    this.#places = places.filter((place) => place !== "" && !NOT_COMPARED.test(place));
  }

  /** Remembers what is there, once. */
  async begin(): Promise<void> {
    this.#kept ??= this.#look();
    await this.#kept;
  }

  /** Puts back what is other than at the beginning, and returns the names. */
  putBack(): Promise<readonly string[]> {
    return this.#inTurn(async (kept) => {
      const back = await this.#remakeFolders(kept);
      const { found } = await this.#list();
      const paths = new Set([...kept.keys(), ...found.keys()]);
      return [...back, ...(await this.#compare(kept, paths, found))];
    });
  }

  /** The same of files that changed and lie where `putBack` does not look for new ones, because a pattern names no place. */
  putBackFound(files: readonly string[]): Promise<readonly string[]> {
    return this.#inTurn((kept) => {
      const isElsewhere = (path: BytePath): boolean =>
        !kept.has(path) && !this.#places.some((place) => path === place || path.startsWith(`${place}/`));
      const paths = files.map(asBytePath).filter((path) => this.#isProtected(path) && isElsewhere(path));
      return this.#compare(kept, new Set(paths));
    });
  }

  async #inTurn(act: (kept: Map<BytePath, Kept>) => Promise<readonly BytePath[]>): Promise<readonly string[]> {
    const comparing = this.#comparing.then(async () => {
      this.#kept ??= this.#look();
      return act(await this.#kept);
    });
    this.#comparing = comparing.catch(() => undefined);
    return (await comparing).map(nameOf);
  }

  async #compare(
    kept: Map<BytePath, Kept>,
    paths: ReadonlySet<BytePath>,
    found: ReadonlyMap<BytePath, BigIntStats> = new Map(),
  ): Promise<readonly BytePath[]> {
    const back: BytePath[] = [];
    for (const path of paths) {
      const before = kept.get(path);
      const stat = found.get(path) ?? (await this.#statOf(path));
      if ((stat && markOf(stat)) === before?.mark) continue;
      // One that cannot be put back now, as while a script still changes it, keeps no other one from that.
      const isBack = await this.#restore(path, before).catch(() => undefined);
      if (isBack === undefined) continue;
      if (isBack) back.push(path);
      // As it was before it was found to be the same: what is written from then on is another change.
      else if (before) kept.set(path, { ...before, mark: stat ? markOf(stat) : "" });
    }
    return back;
  }

  async #look(): Promise<Map<BytePath, Kept>> {
    const isAnywhere = this.#protected.some((pattern) => placeOf(pattern) === "" && !pattern.endsWith(".git"));
    const others = isAnywhere
      ? (await this.#disk.files()).map(asBytePath).filter((path) => this.#isProtected(path))
      : [];
    const listed = await this.#list((folder) => void this.#folders.add(folder));
    const found = [...new Set([...listed.found.keys(), ...others])];
    this.#isPartial = !listed.isWhole || found.length >= MAX_FILES;
    const kept = new Map<BytePath, Kept>();
    for (const path of found.slice(0, MAX_FILES)) {
      const stat = listed.found.get(path) ?? (await this.#statOf(path));
      if (!stat) continue;
      const common = { mark: markOf(stat), mode: Number(stat.mode) & 0o777 };
      if (stat.isSymbolicLink()) kept.set(path, { ...common, link: readlinkSync(this.#at(path)) });
      else if (stat.isFile() && stat.size <= MAX_BYTES) kept.set(path, { ...common, ...(await this.#contentOf(path)) });
      else kept.set(path, common);
    }
    return kept;
  }

  /** Of a file that may not be read, nothing. */
  async #contentOf(path: BytePath): Promise<Pick<Kept, "bytes">> {
    const bytes = await this.#disk.read(bytesOf(path)).catch(() => undefined);
    return bytes ? { bytes } : {};
  }

  /** A link in the place of a folder would lead what is put back elsewhere, and a folder that is locked would keep it out. */
  async #remakeFolders(kept: ReadonlyMap<BytePath, Kept>): Promise<BytePath[]> {
    const folders = new Set([...kept.keys()].flatMap(foldersOf));
    const back: BytePath[] = [];
    // What is above each is as it was by then.
    for (const folder of [...folders].sort()) {
      const stat = await this.#statOf(folder);
      if (stat?.isDirectory()) await this.#unlock(folder, stat);
      if (stat?.isDirectory() !== false) continue;
      const isGone = await this.#disk.remove(bytesOf(folder)).then(
        () => true,
        () => false,
      );
      if (isGone) back.push(folder);
    }
    return back;
  }

  /** Whether it was other than before: a file that was only touched is as it was. */
  async #restore(path: BytePath, before: Kept | undefined): Promise<boolean> {
    const at = bytesOf(path);
    if (!before) {
      // It may have gone with the folder that lay in the place of a file.
      if (this.#isPartial || !(await this.#statOf(path))) return false;
      await this.#disk.remove(at);
      return true;
    }
    const stat = await this.#statOf(path);
    if (before.link !== undefined) {
      if (stat?.isSymbolicLink() && readlinkSync(this.#at(path)) === before.link) return false;
      await this.#disk.link(at, before.link);
      return true;
    }
    // Too large, or not to be read: the dispatcher compares it with the commit.
    if (before.bytes === undefined) return false;
    const isSame = stat?.isFile() === true && (await this.#contentOf(path)).bytes?.equals(before.bytes) === true;
    if (!isSame || (Number(stat.mode) & 0o777) !== before.mode) await this.#disk.write(at, before.bytes, before.mode);
    return !isSame;
  }

  async #list(
    note?: (folder: BytePath) => void,
  ): Promise<{ readonly found: ReadonlyMap<BytePath, BigIntStats>; readonly isWhole: boolean }> {
    const found = new Map<BytePath, BigIntStats>();
    let isWhole = true;
    for (let level = this.#places; level.length > 0 && found.size < MAX_FILES; ) {
      const below: BytePath[] = [];
      for (const path of level) below.push(...(await this.#lookAt(path, found, note)));
      isWhole &&= below.length <= MAX_FILES;
      level = below.slice(0, MAX_FILES);
    }
    return { found, isWhole };
  }

  /** Notes a file, and gives what is in a folder. One whose files no path can name is noted as a whole. */
  async #lookAt(
    path: BytePath,
    found: Map<BytePath, BigIntStats>,
    note: ((folder: BytePath) => void) | undefined,
  ): Promise<BytePath[]> {
    if (NOT_COMPARED.test(path)) return [];
    const stat = await this.#statOf(path);
    if (stat?.isDirectory() && path.length <= MAX_PATH) {
      await this.#unlock(path, stat);
      // It may be gone by now.
      const names = await this.#disk.list(bytesOf(path), MAX_FILES + 1).catch(() => []);
      note?.(path);
      if (names.length < MANY || !this.#isNew(path)) return names.map((name) => `${path}/${name}`);
    }
    if (stat && this.#isProtected(path)) found.set(path, stat);
    return [];
  }

  /** A folder of the run's own, in which all is protected. In one that is a place itself, files of programs may lie. */
  #isNew(folder: BytePath): boolean {
    return !this.#folders.has(folder) && !this.#places.includes(folder) && this.#isProtected(folder);
  }

  async #unlock(folder: BytePath, { mode }: { readonly mode: bigint }): Promise<void> {
    if ((Number(mode) & OWNER_ALL) !== OWNER_ALL) await quietly(() => this.#disk.unlock(bytesOf(folder)));
  }

  #isProtected(path: BytePath): boolean {
    return !NOT_COMPARED.test(path) && matchesAny(nameOf(path), this.#protected, "any-case");
  }

  #at(path: BytePath): Buffer {
    return Buffer.concat([this.#root, bytesOf(path)]);
  }

  async #statOf(path: BytePath): Promise<BigIntStats | undefined> {
    this.#looks += 1;
    if (this.#looks % LOOKS_AT_ONCE === 0) await setImmediate();
    try {
      return lstatSync(this.#at(path), { bigint: true, throwIfNoEntry: false });
    } catch (error) {
      if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return undefined;
      throw error;
    }
  }
}

const markOf = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string => `${ino} ${size} ${mtimeNs} ${ctimeNs}`;

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
function foldersOf(path: BytePath): BytePath[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}
