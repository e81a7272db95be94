import { readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { PROMPT_NAMES } from "../../agents/prompts.ts";
import { type ConfigChange, compareConfigs, needsStart } from "../../config/compare.ts";
import type { AgentConfig, Config } from "../../config/config.ts";
import { CONFIG_FILE, parseConfig, problemLine, readConfig } from "../../config/load.ts";
import { checkedConfig, digestOf, type Pin, type PinnedFile } from "../../config/pin.ts";
import { checkConfig } from "../../config/problems/problems.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import { hashCheckedOut, listDir, MAX_HASHED, readCheckedOut } from "../../kernel/files.ts";
import { sha256 } from "../../kernel/ids.ts";
import { findProgram } from "../../kernel/system/find-program.ts";
import { OWN_FOLDER } from "../../kernel/system/own-folder.ts";
import { statKeyOf, statRegular } from "../intake/stat-key.ts";

export const PROMPTS_DIR = "prloom/prompts";

/** A working tree, and the PATH by which its programs are found. */
export interface Tree {
  readonly root: string;
  readonly path: string | undefined;
}

/** Everything of the working tree that decides what the dispatcher does, but the modules: those are loaded first. */
export function capture(tree: Tree, known?: Pin): { config: Config; files: PinnedFile[] } {
  const text = readConfig(tree.root);
  const checked = known && configText(known) === text ? checkedConfig(known) : undefined;
  const config = checked ?? parseConfig(text, CONFIG_FILE);
  const files: PinnedFile[] = [{ path: CONFIG_FILE, kind: "config", sha256: sha256(text), text }];
  return { config, files: [...files, ...promptsIn(tree.root), ...programsOf(config, tree, known)] };
}

const configText = (pin: Pin) => pin.files.find(({ kind }) => kind === "config")?.text;

/** The config that was pinned; a later version of prloom may find fault with it. */
export function pinnedConfig(pin: Pin): Config {
  const known = checkedConfig(pin);
  if (known) return known;
  const checked = checkConfig(configText(pin) ?? "");
  if (checked.ok) return checked.config;
  const [first] = checked.problems.map((problem) => problemLine(CONFIG_FILE, problem));
  const hint = "`prloom start` takes what is checked out instead; `prloom stop` first, if a dispatcher runs.";
  throw new PrloomError("config-invalid", `The config of the last start cannot be used: ${first}`, hint);
}

const PROMPT_PATHS: ReadonlySet<string> = new Set(PROMPT_NAMES.map((name) => `${PROMPTS_DIR}/${name}.md`));

/** Only those that have a meaning: a branch can bring any number of others. */
export const isPrompt = (path: string): boolean => PROMPT_PATHS.has(path);

export function promptPaths(root: string): string[] {
  const names = listDir(join(root, PROMPTS_DIR));
  return names.map((name) => `${PROMPTS_DIR}/${name}`).filter(isPrompt);
}

function promptsIn(root: string): PinnedFile[] {
  try {
    return promptPaths(root).flatMap((path) => {
      if (!statRegular(join(root, path))) return [];
      const text = readCheckedOut(join(root, path)) ?? "";
      return [{ path, kind: "prompt" as const, sha256: sha256(text), text }];
    });
  } catch (error) {
    const hint = `Make ${PROMPTS_DIR} a folder with files that you can read, then run \`prloom doctor\`.`;
    throw new PrloomError("config-invalid", `${PROMPTS_DIR} cannot be read: ${messageOf(error)}`, hint, error);
  }
}

/** Characters of all commands, whose words are looked for on the disk, and bytes that are hashed: a branch must not hold the dispatcher. */
const MAX_COMMANDS = 64 * 1024;
const MAX_MODULE = 16 * 1024 ** 2;

function programsOf(config: Config, tree: Tree, known: Pin | undefined): PinnedFile[] {
  const scopes = [config, ...Object.values(config.presets)];
  const agents = scopes.flatMap((scope) => Object.values(scope.agents));
  const lines = [...config.initCommands, ...scopes.flatMap(({ checks = [] }) => checks)];
  const commands = [...lines, ...agents.flatMap(({ command, args = [] }) => [command, ...args])];
  if (commands.reduce((length, line) => length + line.length, 0) > MAX_COMMANDS)
    throw unusable(
      `The commands of ${CONFIG_FILE} have more than ${MAX_COMMANDS / 1024} KB.`,
      "Move what they do into scripts",
    );
  const named = [
    ...ownFiles(tree),
    ...agents.flatMap((agent) => checkedOutAgentFiles(agent, tree)),
    ...lines.flatMap((line) => lineFiles(line, tree)),
  ];
  let left = MAX_HASHED;
  return [...new Set(named)].map((path): PinnedFile => {
    const found = statSync(join(tree.root, path));
    const stat = statKeyOf(found);
    const before = known?.files.find((file) => file.path === path && file.stat === stat);
    if (before) return before;
    left -= found.size;
    const hash = left < 0 ? undefined : hashCheckedOut(join(tree.root, path));
    if (hash !== undefined) return { path, kind: "program", sha256: hash, stat };
    const most = `Make it a file that you can read, of ${MAX_HASHED / 1024 ** 2} MB at most together with the others, or name another`;
    throw unusable(`${path}, which ${CONFIG_FILE} names, cannot be read.`, most);
  });
}

function unusable(message: string, remedy: string): PrloomError {
  return new PrloomError("config-invalid", message, `${remedy}, then run \`prloom doctor\`.`);
}

/**
 * What prloom itself runs and reads for each run, where it is installed in the checkout: a branch can bring another. The shim
 * runs outside of every sandbox, and so does all that it imports.
 */
export function ownFiles({ root }: Tree): string[] {
  const own = liesIn(root, OWN) ? filesBelow(OWN) : [];
  return inside(root, [process.execPath, ...own]);
}

const OWN = fileURLToPath(OWN_FOLDER);

function filesBelow(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Files of the checkout that an agent's start runs. A path like `./agent.sh` is none: it lies in the plan's own worktree. */
export function checkedOutAgentFiles({ command, args, env }: AgentConfig, tree: Tree): string[] {
  const [first = "", ...more] = args === undefined ? wordsOf(command) : [command, ...args];
  const isRelative = first.includes("/") && !isAbsolute(first);
  const program = isRelative ? undefined : findProgram(first, env.PATH ?? tree.path, tree.root);
  // One of them may be a line of its own, as that of `sh -c`.
  const named = more.flatMap((word) => [word, ...wordsOf(word)]);
  return inside(tree.root, [...(program === undefined ? [] : [program]), ...named]);
}

/** Files of the checkout that a shell line names. */
export function lineFiles(line: string, { root }: Tree): string[] {
  return inside(root, wordsOf(line));
}

const wordsOf = (line: string): string[] => line.split(/[\s"'=;|&()<>]+/).filter((word) => word !== "");

/** What agents and plans write is not pinned. */
const LOCAL = join("prloom", ".local");

/** Of some words those that are files below the top of the repository, by either their name or what that leads to. */
function inside(root: string, words: readonly string[]): string[] {
  return words.filter(isAbsolute).flatMap((word) => {
    if (!statRegular(word)) return [];
    const found = [word, realpathSync(word)].find((path) => isInside(root, path));
    const path = found && relative(root, found);
    return path === undefined || path.startsWith(`${LOCAL}${sep}`) ? [] : [path];
  });
}

/** Whether a file is of the checkout, or of what agents wrote below it, by either its name or what that leads to. */
export function liesIn(root: string, file: string): boolean {
  return isInside(root, file) || isInside(root, realpathSync(file));
}

function isInside(root: string, path: string): boolean {
  const below = relative(root, path);
  return !below.startsWith(`..${sep}`) && !isAbsolute(below);
}

/** Refuses to run a file of the checkout that is no longer what was pinned. */
export function requirePinned(pin: Pin | undefined, root: string, paths: readonly string[]): void {
  const changed = pin && paths.find((path) => !isAsPinned(pin, root, path));
  if (changed !== undefined) throw pinChanged(changed, "prloom reload");
}

export function isPinned(pin: Pin | undefined, root: string, paths: readonly string[]): boolean {
  return !pin || paths.every((path) => isAsPinned(pin, root, path));
}

/** The same for all plugins and bridges, before one is loaded. */
export function requireModulesPinned(pin: Pin | undefined, root: string): void {
  const changed = pin?.files.find((file) => file.kind === "module" && !isAsPinned(pin, root, file.path));
  if (changed) throw pinChanged(changed.path, "prloom start");
}

function pinChanged(path: string, command: string): PrloomError {
  const message = `${path} is not what it was when the dispatcher was started.`;
  return new PrloomError("pin-changed", message, `Put it back, or apply it with \`${command}\`.`);
}

function isAsPinned(pin: Pin, root: string, path: string): boolean {
  const file = pin.files.find((one) => one.path === path);
  if (!file) return false;
  const stat = statRegular(join(root, path));
  if (!stat) return false;
  return statKeyOf(stat) === file.stat || hashCheckedOut(join(root, path)) === file.sha256;
}

/** What the working tree would change, for the person who decides about it. */
export interface TreeOffer {
  readonly digest: string;
  readonly changes: readonly ConfigChange[];
  /** Parts that a dispatcher reads once, at its start, are among the changes. */
  readonly needsStart: boolean;
  readonly config: Config;
  readonly files: readonly PinnedFile[];
}

/** Compares the working tree with the pin; throws what is wrong with a config that cannot be used. */
export function offerOf(pin: Pin, tree: Tree, signers?: readonly PinnedFile[]): TreeOffer {
  const { config, files: captured } = capture(tree, pin);
  // Only git can tell what the base branch has; where it is not asked they are what they were.
  const known = pin.files.filter(({ kind, path }) => kind === "signers" && path === config.gates.signers);
  const modules = pin.files.filter(({ kind }) => kind === "module").flatMap((file) => onDisk(file, tree.root));
  const files = [...captured, ...modules, ...(signers ?? known)].sort((one, other) => (one.path < other.path ? -1 : 1));
  const before = pinnedConfig(pin);
  const changedFiles = fileChanges(pin.files, files);
  const moduleChanged = pin.files.some(
    ({ kind, path, sha256: hash }) => kind === "module" && hashOf(files, path) !== hash,
  );
  return {
    digest: digestOf(files),
    changes: [...compareConfigs(before, config), ...changedFiles],
    needsStart: moduleChanged || needsStart(before, config),
    config,
    files,
  };
}

function onDisk(file: PinnedFile, root: string): PinnedFile[] {
  const hash = statRegular(join(root, file.path)) && hashCheckedOut(join(root, file.path), MAX_MODULE);
  return hash === undefined ? [] : [{ ...file, sha256: hash }];
}

const hashOf = (files: readonly PinnedFile[], path: string) => files.find((file) => file.path === path)?.sha256;

/** Prompts, modules and programs: what they mean cannot be judged, so any change of them loosens. */
function fileChanges(from: readonly PinnedFile[], to: readonly PinnedFile[]): ConfigChange[] {
  const paths = new Set([...from, ...to].filter(({ kind }) => kind !== "config").map(({ path }) => path));
  return [...paths].sort().flatMap((path) => {
    const [before, after] = [hashOf(from, path), hashOf(to, path)];
    if (before === after) return [];
    const named = (hash: string | undefined) => (hash === undefined ? "absent" : `file ${hash.slice(0, 8)}`);
    return [{ key: path, from: named(before), to: named(after), loosens: true }];
  });
}

/** Tells one state of all that was pinned from another by stats alone. */
export function treeKey(pin: Pin, root: string): string {
  const paths = [CONFIG_FILE, ...promptPaths(root), ...pin.files.map(({ path }) => path)];
  // What a link leads to counts: git may change either.
  const keyOf = (stat: Stats | undefined) => stat && statKeyOf(stat);
  return JSON.stringify(paths.map((path) => [path, keyOf(statRegular(join(root, path)))]));
}
