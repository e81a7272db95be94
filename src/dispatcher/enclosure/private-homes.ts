import { isAbsolute, join } from "node:path";
import { programOf } from "../../agents/adapters.ts";
import type { UserPlace } from "../../agents/program.ts";
import { keepLogins, type ProgramSpec, type Renewal, returnLogins } from "../../agents/sandbox/login-return.ts";
import { besideOf, type Furnished, furnishHome, renewHome } from "../../agents/sandbox/private-home.ts";
import { PACKAGES } from "../../agents/sandbox/toolchains.ts";
import type { Stage } from "../../config/agent-words.ts";
import type { StageAgent } from "../../config/presets.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { listDir, readTextIfExists, writeRunFile } from "../../kernel/files.ts";
import { shortHash } from "../../kernel/ids.ts";
import { removeTree } from "../../kernel/removal/remove-tree.ts";
import { homeFolder, NO_HOME, ownUser } from "../../kernel/system/user.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Located } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";

/** In a run's folder: the user's configuration as the run sees it, and where its private home lies if that has logins. */
const OVERLAYS = "overlays";
const HOME_FILE = "private-home";

/**
 * Who a home and a cache are for. Each has its own: the worker must not prepare the program of the reviewer, nor the ground on which
 * commands of the user (checks, initCommands, git hooks) judge its work.
 */
export type HomeUse = Stage | "checks";

/** The home that the runs of an agent in one stage of a plan have. */
export function privateHome(
  loom: Located & Configured,
  { uid }: PlanRecord,
  who: { agent: string; use: HomeUse },
): string {
  return join(stateFolder(loom), "homes", uid, folderName(who.agent), who.use);
}

interface Entering {
  readonly agent: StageAgent;
  readonly use: HomeUse;
  readonly runDir: string;
  readonly home: string;
  readonly user: UserPlace;
  /** The folder of the conversation that the run goes on with; undefined when it begins one. */
  readonly goesOnIn: string | undefined;
}

/** Rebuilds a private home, with what its program needs of the user; returns what is to be laid over it. */
export async function enterHome({ agent, use, runDir, home, user, goesOnIn }: Entering): Promise<Furnished["folders"]> {
  // Renewed in a run whose end no dispatcher saw: the copy is made again now.
  returnLogins(home, renewalOf);
  // Commands of the user need no login of an agent.
  const program = use === "checks" ? undefined : programOf(agent);
  await renewHome(home, [...PACKAGES, ...(use === "checks" ? [] : agent.keeps), ...(program?.keeps ?? [])]);
  await program?.renewKept?.(home, besideOf(home), goesOnIn);
  const overlays = join(runDir, OVERLAYS);
  await removeTree(overlays);
  const items = program?.homeItems({ home: user.home, env: user.env }) ?? [];
  const { folders, logins } = await furnishHome({ home, overlays, items });
  keepLogins(home, agent, logins);
  if (logins.length > 0) writeRunFile(join(runDir, HOME_FILE), home, 0o600);
  return folders;
}

/** Takes back a login that the program renewed in a run, and removes what was made for that run alone. */
export async function leaveHome(runDir: string): Promise<void> {
  const home = readTextIfExists(join(runDir, HOME_FILE));
  if (home !== undefined) returnLogins(home, renewalOf);
  await removeTree(join(runDir, OVERLAYS));
}

function renewalOf(spec: ProgramSpec): Renewal | undefined {
  return programOf(spec)?.renewedLogin;
}

/** Removes what the agents of a plan kept between its runs. For a plan that is over. */
export async function removePrivateHomes(loom: Located & Configured, record: PlanRecord): Promise<void> {
  const homes = join(stateFolder(loom), "homes", record.uid);
  for (const agent of listDir(homes)) {
    for (const stage of listDir(join(homes, agent))) returnLogins(join(homes, agent, stage), renewalOf);
  }
  await removeTree(homes);
}

/** The folder of this repository where programs keep what they know between runs; out of the repository. */
export function stateFolder(loom: Located & Configured): string {
  const state = xdgFolder(loom, "XDG_STATE_HOME", ".local/state");
  return join(state, "prloom", shortHash(loom.paths.commonDir, 16));
}

/** Seen at `.cache` of the private homes; kept for all plans of the repository. */
export function cacheFolder(loom: Located & Configured, use: HomeUse): string {
  return join(cachesFolder(loom), use);
}

function cachesFolder(loom: Located & Configured): string {
  return join(xdgFolder(loom, "XDG_CACHE_HOME", ".cache"), "prloom", shortHash(loom.paths.commonDir, 16));
}

function xdgFolder({ environment }: Configured, variable: string, below: string): string {
  const set = environment[variable];
  if (set && isAbsolute(set)) return set;
  const home = homeFolder(environment);
  if (home !== NO_HOME) return join(home, below);
  const message = `There is no home folder: HOME is not set, and the system knows none for the user ${ownUser().name}.`;
  const hint = "Set HOME to a folder that you can write in, where `prloom start` is called.";
  throw new PrloomError("no-permission", message, hint);
}

/** Names come from the config, and may be anything. */
function folderName(agent: string): string {
  return /^[a-z0-9][a-z0-9_-]*$/i.test(agent) ? agent : shortHash(agent);
}
