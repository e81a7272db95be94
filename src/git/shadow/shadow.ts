import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isMissing, unlessGone, unlessRefused } from "../../kernel/errors.ts";
import { existsNoFollow, listDir, readCheckedOut } from "../../kernel/files.ts";
import { removeTree } from "../../kernel/removal/remove-tree.ts";
import { fileVersion } from "../file-version.ts";
import type { Worktree } from "../worktree/worktrees.ts";
import { type GitSetting, personalSettings, publicSettings, QUIET_SETTINGS, renderSettings } from "./git-settings.ts";

/** Where the real objects are seen by a program that has the shadow in the place of the repository; below the shadow. */
export const REAL_OBJECTS = "real-objects";
/** The user's own settings, as far as an agent's git has them; below the shadow. */
export const PERSONAL_CONFIG = "personal.gitconfig";
/** An empty file, to be laid over what must not be read; below the shadow. */
export const EMPTY_FILE = "empty";

export interface ShadowRequest {
  readonly worktree: Worktree;
  /** Where to make it; what lies there is removed. */
  readonly dir: string;
  /** Where its user will see the real objects. */
  readonly objectsAt: string;
  readonly settings: readonly GitSetting[];
  /** Added to the personal settings: who commits when the user has no identity. */
  readonly extra?: readonly GitSetting[];
}

/**
 * Makes a copy of all of a repository that a worktree's git reads and writes, but for the objects, which are borrowed. In the
 * place of the real one it lets an agent add, stash, commit and rebase, and none of that reaches anything real.
 * Made by copying files: every run waits for it. Returns the folders from which objects are borrowed beside the
 * repository's own.
 */
export async function makeShadow(request: ShadowRequest): Promise<{ alternates: string[] }> {
  const { worktree, dir, settings } = request;
  const { commonDir, name, gitDir } = worktree;
  await removeTree(dir);
  for (const folder of ["objects/info", "refs", `worktrees/${name}`, REAL_OBJECTS]) {
    mkdirSync(join(dir, folder), { recursive: true });
  }
  const alternates = alternatesOf(join(commonDir, "objects"));
  writeFileSync(join(dir, "objects/info/alternates"), [request.objectsAt, ...alternates, ""].join("\n"));
  writeFileSync(join(dir, "config"), renderSettings([...publicSettings(settings), ...QUIET_SETTINGS]));
  const personal = [...personalSettings(settings), ...(request.extra ?? [])];
  // The owner of the folders may be another than the one who runs prloom; inside that is harmless.
  const safe = { scope: "global", key: "safe.directory", value: "*" };
  writeFileSync(join(dir, PERSONAL_CONFIG), renderSettings([...personal, safe]));
  writeFileSync(join(dir, EMPTY_FILE), "");
  for (const file of ["HEAD", "shallow"]) copyIfThere(join(commonDir, file), join(dir, file));
  copyFolder(join(commonDir, "info"), join(dir, "info"), ["grafts"]);
  copyHooks(join(commonDir, "hooks"), join(dir, "hooks"));
  await copyRefs(commonDir, dir);
  await copyAdminFolder(gitDir, join(dir, "worktrees", name));
  return { alternates };
}

/** Removes a shadow, whatever the agent made of it. */
export function removeShadow(dir: string): Promise<void> {
  return removeTree(dir);
}

const CLONE = constants.COPYFILE_FICLONE;

function copyIfThere(from: string, to: string): void {
  if (lstatSync(from, { throwIfNoEntry: false })?.isFile()) copyFileSync(from, to, CLONE);
}

/** Plain files and folders; links are left out, since they would lead out of the copy. */
function copyFolder(from: string, to: string, leaveOut: readonly string[] = []): void {
  if (!lstatSync(from, { throwIfNoEntry: false })?.isDirectory()) return;
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (leaveOut.includes(entry.name)) continue;
    if (entry.isDirectory()) copyFolder(join(from, entry.name), join(to, entry.name));
    else if (entry.isFile()) copyFileSync(join(from, entry.name), join(to, entry.name), CLONE);
  }
}

/** Links stay links: a hook is often one to a script of the repository, and what it calls is beside that. */
function copyHooks(from: string, to: string): void {
  if (lstatSync(from, { throwIfNoEntry: false })?.isSymbolicLink()) {
    symlinkSync(realpathOf(from), to);
    return;
  }
  const names = listDir(from).filter((name) => !name.endsWith(".sample"));
  if (names.length > 0) mkdirSync(to);
  for (const name of names) {
    const stat = lstatSync(join(from, name));
    if (stat.isSymbolicLink()) symlinkSync(readlinkSync(join(from, name)), join(to, name));
    else if (stat.isDirectory()) copyFolder(join(from, name), join(to, name));
    else if (stat.isFile()) copyFileSync(join(from, name), join(to, name), CLONE);
  }
}

function realpathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (isMissing(error)) return readlinkSync(path);
    throw error;
  }
}

/** Into one file: every run waits for the small ones to be made, and again for their end. */
async function copyRefs(commonDir: string, dir: string): Promise<void> {
  copyFolder(join(commonDir, "reftable"), join(dir, "reftable"));
  const packed = join(commonDir, "packed-refs");
  const loose = looseRefs(commonDir);
  const plain = [...loose].filter(([, text]) => SHA_LINE.test(text));
  if (plain.length > 0) {
    const merged = packRefs(readRefs(packed) ?? "", plain);
    writeFileSync(join(dir, "packed-refs"), merged, "latin1");
    for (const [ref] of plain) loose.delete(ref);
  } else if (existsNoFollow(packed)) await copyFile(packed, join(dir, "packed-refs"), CLONE);
  for (const [ref, text] of loose) {
    mkdirSync(refPath(dir, dirname(ref)), { recursive: true });
    writeFileSync(refPath(dir, ref), text, "latin1");
  }
}

const SHA_LINE = /^[0-9a-f]{40}(?:[0-9a-f]{24})?\n$/;

/** Names of refs are bytes, and so latin1 here: a branch may come from a machine that names files in another way. */
function refPath(dir: string, ref: string): Buffer {
  return Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(ref, "latin1")]);
}

/** Undefined for what a git of the user deleted or packed meanwhile, with the folders that were empty then. */
function readRefs(path: string | Buffer): string | undefined {
  return unlessGone(() => readFileSync(path, "latin1"));
}

/** What a loose ref says, and the version of its file. */
type LooseRef = { readonly version: string; readonly text: string };

/** Those that the last shadow had: every run copies all of them, and few have changed since. By their paths. */
let knownRefs: ReadonlyMap<string, LooseRef> = new Map();

/** Names and contents; without locks, and without the stash, which is nothing without its log. */
function looseRefs(commonDir: string): Map<string, string> {
  const found = new Map<string, LooseRef>();
  const refs = new Map<string, string>();
  const visit = (below: string): void => {
    const list = () => readdirSync(refPath(commonDir, below), { withFileTypes: true, encoding: "latin1" });
    for (const entry of unlessGone(list) ?? []) {
      const ref = `${below}/${entry.name}`;
      if (entry.isDirectory()) visit(ref);
      else if (entry.isFile() && ref !== "refs/stash" && !ref.endsWith(".lock")) {
        const known = looseRef(commonDir, ref);
        if (known === undefined) continue;
        found.set(`${commonDir}/${ref}`, known);
        refs.set(ref, known.text);
      }
    }
  };
  visit("refs");
  knownRefs = found;
  return refs;
}

function looseRef(commonDir: string, ref: string): LooseRef | undefined {
  const path = refPath(commonDir, ref);
  const known = knownRefs.get(`${commonDir}/${ref}`);
  // Before it is read: what is put there meanwhile has another version.
  const version = fileVersion(path);
  if (known !== undefined && known.version === version) return known;
  const text = readRefs(path);
  return text === undefined ? undefined : { version, text };
}

/** The packed refs with loose ones laid over them. Git peels by itself what no line says is peeled. */
export function packRefs(packed: string, loose: Iterable<readonly [ref: string, line: string]>): string {
  const byRef = new Map<string, string>();
  let last = "";
  for (const line of packed.split("\n")) {
    if (line.startsWith("^")) byRef.set(last, `${byRef.get(last)}${line}\n`);
    else if (line !== "" && !line.startsWith("#")) {
      last = line.slice(line.indexOf(" ") + 1);
      byRef.set(last, `${line}\n`);
    }
  }
  for (const [ref, line] of loose) byRef.set(ref, `${line.trimEnd()} ${ref}\n`);
  // By bytes, as git compares them: each character is one.
  const sorted = [...byRef].sort(([a], [b]) => (a < b ? -1 : 1));
  return `# pack-refs with: sorted \n${sorted.map(([, lines]) => lines).join("")}`;
}

/** Git's folder of the worktree. Its submodules' repositories are too large to copy; they are shown read-only. */
async function copyAdminFolder(gitDir: string, to: string): Promise<void> {
  const indexes = listDir(gitDir).filter((name) => name === "index" || name.startsWith("sharedindex."));
  copyFolder(gitDir, to, [...indexes, "modules", "config.worktree", "prloom-partial.index"]);
  for (const index of indexes) await copyFile(join(gitDir, index), join(to, index), CLONE);
}

const MAX_ALTERNATES = 32;

/** Where else a repository takes objects from, and those from where; absolute, each once. */
function alternatesOf(objects: string, found: string[] = []): string[] {
  for (const line of (readCheckedOut(join(objects, "info/alternates")) ?? "").split("\n")) {
    if (line === "" || line.startsWith("#") || found.length >= MAX_ALTERNATES) continue;
    const path = folderAt(isAbsolute(line) ? line : resolve(objects, line));
    if (path === undefined || found.includes(path)) continue;
    found.push(path);
    alternatesOf(path, found);
  }
  return found;
}

/** Where a folder really is; undefined where there is none that can be reached. Git goes on without it, too. */
function folderAt(path: string): string | undefined {
  return unlessRefused(() => {
    const real = realpathSync(path);
    return lstatSync(real).isDirectory() ? real : undefined;
  });
}
