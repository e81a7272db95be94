import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { compareConfigs } from "../../config/compare.ts";
import type { Config } from "../../config/config.ts";
import { CONFIG_FILE, parseConfig } from "../../config/load.ts";
import { type Pin, type PinnedFile, readPin } from "../../config/pin.ts";
import { allPlanModules } from "../../config/presets.ts";
import { fileAt } from "../../git/file-at.ts";
import { splitNul } from "../../git/output.ts";
import {
  currentBranch,
  gitAt,
  isAncestor,
  originBranch,
  type Repository,
  resolveCommit,
} from "../../git/repository.ts";
import { NAMED } from "../../hooks/modules/pinned-modules.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { readCheckedOut } from "../../kernel/files.ts";
import { changesLine } from "./pinned.ts";
import {
  checkedOutAgentFiles,
  isPrompt,
  offerOf,
  PROMPTS_DIR,
  pinnedConfig,
  promptPaths,
  type Tree,
} from "./pinning.ts";
import { signersAt } from "./signers.ts";

/** What a person should know about the settings that a start applies; none when they are the usual ones. */
export async function startNotes(repo: Repository, config: Config, pinFile: string): Promise<string[]> {
  const before = lastPin(pinFile);
  const tree = { root: repo.root, path: process.env.PATH };
  const notes = [before && loosenedSince(before.pin, tree, await signersAt(repo, config))];
  notes.push(await otherThanBase(repo, config, before));
  return notes.filter((note) => note !== undefined);
}

interface LastPin {
  readonly pin: Pin;
  readonly config: Config;
}

/** One that cannot be used is about to be replaced. */
function lastPin(pinFile: string): LastPin | undefined {
  try {
    const pin = readPin(pinFile);
    return pin && { pin, config: pinnedConfig(pin) };
  } catch (error) {
    if (error instanceof PrloomError) return undefined;
    throw error;
  }
}

function loosenedSince(pin: Pin, tree: Tree, signers: readonly PinnedFile[]): string | undefined {
  const loosened = offerOf(pin, tree, signers).changes.filter(({ loosens }) => loosens);
  return loosened.length === 0
    ? undefined
    : `this start permits what the last one did not, or checks less: ${changesLine(loosened)}`;
}

async function otherThanBase(
  repo: Repository,
  config: Config,
  before: LastPin | undefined,
): Promise<string | undefined> {
  const base = await baseOf(repo, before?.config.baseBranch, config.baseBranch);
  const branch = await currentBranch(repo);
  if (!base || base.name === branch) return undefined;
  const differing: string[] = [];
  for (const path of await pathsToCompare(repo, config, base.commit)) {
    const there = (await fileAt(repo, { commit: base.commit, names: [path], mostBytes: MAX_BYTES }))?.text;
    if (isOnDisk(repo.root, path, there)) continue;
    differing.push(path === CONFIG_FILE ? configWords(there, config) : path);
  }
  if (differing.length === 0) return undefined;
  const where = branch === undefined ? "no branch is checked out" : `you are on ${branch}`;
  return `${where}, and prloom works with what is there, which is not what ${base.name} has: ${differing.join("; ")}. If you do not mean that: \`prloom stop\`, \`git checkout ${base.name}\`, \`prloom start\``;
}

const MAX_BYTES = 16 * 1024 ** 2;
const withoutReturns = (text: string | undefined) => text?.replaceAll("\r\n", "\n");

export const NEVER_STARTED =
  "prloom was never started here, and what is checked out has commits that the base branch does not have";

/**
 * Whether what is checked out may be a stranger's, and would run when its agents are asked for their versions and its modules are loaded.
 * For a repository without a pin. A branch whose commits are all in the base branch is not, nor is what was not committed.
 */
export async function mayRunForeign(repo: Repository, config: Config, path: string | undefined): Promise<boolean> {
  const [base, head] = [await baseOf(repo), await resolveCommit(repo, "HEAD")];
  if (!base || head === undefined || (await isAncestor(repo, head, base.commit))) return false;
  const tree = { root: repo.root, path };
  if (
    modulesOf(config).length > 0 ||
    Object.values(config.agents).some((agent) => checkedOutAgentFiles(agent, tree).length > 0)
  )
    return true;
  const configAt = async (commit: string) =>
    (await fileAt(repo, { commit, names: [CONFIG_FILE], mostBytes: MAX_BYTES }))?.text;
  return (await configAt(head)) !== (await configAt(base.commit));
}

/** The branch that is the measure: rather what was trusted before than what this very config says. */
async function baseOf(repo: Repository, trusted?: string, own?: string) {
  const names = [trusted, await originBranch(repo), own, "main", "master"];
  for (const name of names) {
    if (!name) continue;
    const commit =
      (await resolveCommit(repo, `refs/heads/${name}`)) ?? (await resolveCommit(repo, `refs/remotes/origin/${name}`));
    if (commit) return { name, commit };
  }
  return undefined;
}

async function pathsToCompare(repo: Repository, config: Config, commit: string): Promise<Set<string>> {
  const { stdout } = await gitAt(repo, ["ls-tree", "-z", "--name-only", commit, "--", `${PROMPTS_DIR}/`]);
  const prompts = [...splitNul(stdout).filter(isPrompt), ...promptPaths(repo.root)];
  const local = modulesOf(config)
    .filter((module) => module.startsWith("./"))
    .map((module) => module.slice(2));
  return new Set([CONFIG_FILE, ...prompts, ...withImports(repo.root, local)]);
}

const MAX_MODULES = 1000;

/** Modules with the files that they name by relative paths: a branch can leave the one and change the other. */
function withImports(root: string, modules: readonly string[]): Set<string> {
  const found = new Set(modules);
  for (const path of found) {
    if (found.size > MAX_MODULES) break;
    for (const [, name = ""] of textAt(root, path).matchAll(NAMED)) {
      const other = join(dirname(path), name);
      if (!other.startsWith("..") && !other.includes("node_modules/") && existsSync(join(root, other)))
        found.add(other);
    }
  }
  return found;
}

function textAt(root: string, path: string): string {
  try {
    return readCheckedOut(join(root, path), MAX_BYTES) ?? "";
  } catch {
    // Loading it will say what is wrong with it.
    return "";
  }
}

function modulesOf(config: Config): string[] {
  const { plugins, bridges } = allPlanModules(config);
  return [...plugins, ...bridges, ...config.globalPlugins, ...config.globalBridges].map(({ module }) => module);
}

/** What cannot be read is another: the branch may have put a device there, or more than anything has that people write. */
function isOnDisk(root: string, path: string, text: string | undefined): boolean {
  try {
    return withoutReturns(readCheckedOut(join(root, path), MAX_BYTES)) === withoutReturns(text);
  } catch {
    return false;
  }
}

function configWords(there: string | undefined, config: Config): string {
  if (there === undefined) return `${CONFIG_FILE}, which it does not have`;
  try {
    const changes = compareConfigs(parseConfig(there, CONFIG_FILE), config);
    return changes.length === 0 ? `${CONFIG_FILE} (means the same)` : changesLine(changes);
  } catch (error) {
    if (error instanceof PrloomError) return `${CONFIG_FILE}, which is broken there`;
    throw error;
  }
}
