import { chmodSync, statSync } from "node:fs";
import { homedir, tmpdir, totalmem } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { programOf } from "../../agents/adapters.ts";
import type { EnclosureLevel } from "../../agents/enclosure-level.ts";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import { namespaceWrapper } from "../../agents/runner/runner.ts";
import { type BwrapFeatures, isWithin, type Mount, sandboxArgs } from "../../agents/sandbox/args.ts";
import { layoutSandbox, type SandboxPlan } from "../../agents/sandbox/layout.ts";
import {
  machineSecrets,
  movedCredentials,
  nameServicePlaces,
  type PlaceOptions,
  programPlaces,
  realOf,
  toolPlaces,
  toolSecrets,
} from "../../agents/sandbox/places.ts";
import { prepareMountPoints } from "../../agents/sandbox/private-home.ts";
import { probeSandbox } from "../../agents/sandbox/probe.ts";
import type { StageAgent } from "../../config/presets.ts";
import { type GitSetting, readSettings, settingOf } from "../../git/shadow/git-settings.ts";
import { EMPTY_FILE, makeShadow, PERSONAL_CONFIG, REAL_OBJECTS, removeShadow } from "../../git/shadow/shadow.ts";
import type { Worktree } from "../../git/worktree/worktrees.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { diskError, ensureDir, existsNoFollow, writeRunFile } from "../../kernel/files.ts";
import { ownUser } from "../../kernel/user.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import { type Located, type Paths, worktreeOf } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";
import { cacheFolder, enterHome, type HomeUse, leaveHome, privateHome, stateFolder } from "./private-homes.ts";
import { makeView } from "./run-view.ts";

/** In a run's folder: the file that is `.git` in its worktree. */
const GIT_FILE = "git-file";

/** How a run is kept from everything that is not its own. */
export interface Enclosure {
  readonly wrapper: readonly string[];
  readonly sandboxed: boolean;
  readonly level: EnclosureLevel;
  /** Laid over the agent's environment; undefined removes. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the run sees in the place of the worktree, when that is something else. */
  readonly view?: string;
}

/** In a run's folder: the repository as the run sees it. */
export const SHADOW = "shadow";

export interface EncloseOptions {
  readonly agent: StageAgent;
  readonly runDir: string;
  /** Whose home and cache it has. */
  readonly use: HomeUse;
  /** A commit or tree that the run is to see, in a folder of its own: nothing that others left in the worktree is there. */
  readonly tree?: string;
  /** What the run gets from us to read. */
  readonly ours?: NonNullable<SandboxPlan["ours"]>;
}

/**
 * Makes what a run of this agent is to be started in: a sandbox with a shadow of the repository, or where there is none
 * only a pid namespace. Made anew for each run; `clearEnclosure` takes away what is left of it afterwards.
 */
export async function enclose(
  loom: Located & Configured & Reporting,
  record: PlanRecord,
  options: EncloseOptions,
): Promise<Enclosure> {
  const features = await sandboxFor(options.agent);
  if (features === undefined) return { wrapper: await namespaceWrapper(), sandboxed: false, level: "none", env: {} };
  const where = surroundings(loom);
  const worktree = realWorktree(worktreeOf(loom, record));
  try {
    const settings = await readSettings(loom.paths.commonDir, loom.environment);
    const view =
      options.tree === undefined ? {} : { view: await makeView(loom, worktree, { ...options, tree: options.tree }) };
    const mounts = await mountsFor(loom, { ...options, ...view, record, where, worktree, settings });
    const wrapper = sandboxArgs(prepareMountPoints(mounts), features, totalmem());
    return { wrapper, sandboxed: true, level: "sandbox", env: environmentInside(where, loom.paths), ...view };
  } catch (error) {
    throw diskError(error, options.runDir);
  }
}

/**
 * Takes back a login that the program renewed, and removes what `enclose` made for one run alone; the home that the program
 * keeps its conversations in stays.
 */
export async function clearEnclosure(runDir: string): Promise<void> {
  await leaveHome(runDir);
  await removeShadow(join(runDir, SHADOW));
}

/** What its sandbox is made of, or undefined when it has none. */
async function sandboxFor(agent: StageAgent): Promise<BwrapFeatures | undefined> {
  if (agent.sandbox === "none") return undefined;
  const probe = await probeSandbox();
  if (probe.works) return probe.features;
  if (agent.sandbox === "auto") return undefined;
  throw new PrloomError(
    "sandbox-unavailable",
    `The agent ${agent.name} is to run in a sandbox, and there is none: ${probe.why}.`,
    `To fix it: ${probe.remedy}. \`prloom doctor\` checks it.`,
  );
}

interface Surrounding {
  readonly home: string;
  /** Where the home is seen; elsewhere when there is none, or when it is the root of the machine. */
  readonly homeAt: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

function surroundings({ environment: env }: Configured): Surrounding {
  const home = realOf(env.HOME || homedir());
  if (home === undefined || home === sep) return { home: "/nonexistent", homeAt: "/tmp/home", env };
  return { home, homeAt: home, env };
}

/** bwrap takes paths as they are: a link on the way to a place would lead it elsewhere. */
function realWorktree(worktree: Worktree): Worktree {
  return { ...worktree, path: realOf(worktree.path) ?? worktree.path };
}

interface Wanted extends EncloseOptions {
  readonly record: PlanRecord;
  readonly where: Surrounding;
  readonly worktree: Worktree;
  readonly settings: readonly GitSetting[];
  readonly view?: string;
}

async function mountsFor(loom: Located & Configured, wanted: Wanted): Promise<Mount[]> {
  const { agent, use, runDir, record, where, worktree, settings } = wanted;
  const { root, commonDir, local, worktrees } = loom.paths;
  const shadow = join(runDir, SHADOW);
  const objectsAt = join(commonDir, REAL_OBJECTS);
  const identity = identitySettings(loom);
  const { alternates } = await makeShadow({ worktree, dir: shadow, objectsAt, settings, extra: identity });
  const homeFrom = privateHome(loom, record, { agent: agent.name, use });
  const cache = cacheFolder(loom, use);
  const agentDir = join(runDir, RUN_FILES.agentDir);
  for (const dir of [cache, agentDir]) ensureDir(dir);
  const folders = await enterHome({ agent, use, runDir, home: homeFrom, user: where });
  for (const dir of [homeFrom, cache]) chmodSync(dir, 0o700);
  const moved = movedCredentials(where.env, agent.passEnv);
  const places = placesFor(loom, wanted);
  const { view = worktree.path } = wanted;
  const gitFile = join(runDir, GIT_FILE);
  // Not the worktree's own: bwrap would follow a link that is put there.
  writeRunFile(gitFile, `gitdir: ${worktree.gitDir}\n`);
  const objects = join(commonDir, "objects");
  const modules = join(worktree.gitDir, "modules");
  return layoutSandbox({
    home: { path: where.homeAt, from: homeFrom },
    cache,
    hidden: hiddenFolders(loom, where, moved.folders),
    sealed: foldersOf([local, worktrees]),
    secret: [
      ...machineSecrets(),
      ...toolSecrets(places, pathOf(wanted)).filter(
        (file) => places.some(({ path }) => isWithin(file, path)) || !isWithin(file, where.home),
      ),
      ...moved.files.filter((file) => !isWithin(file, where.home)),
    ],
    repository: {
      root,
      commonDir,
      objects,
      objectsAt,
      alternates,
      hasAlternates: existsNoFollow(join(objects, "info", "alternates")),
      shadow,
      emptyFile: join(shadow, EMPTY_FILE),
      ...(existsNoFollow(modules) ? { modules } : {}),
    },
    worktree: { path: worktree.path, from: view, gitFile },
    masked: projectCode(agent, view).map((code) => ({ ...code, path: join(worktree.path, relative(view, code.path)) })),
    agentDir,
    places,
    configuration: folders.map(({ from, to }) => ({ from, path: join(where.homeAt, to) })),
    ...(wanted.ours === undefined ? {} : { ours: wanted.ours }),
  });
}

/** What the program would run of the repository's whatever it is told; a link is no way around it, it is hidden itself. */
function projectCode(agent: StageAgent, worktree: string): { path: string; isFolder: boolean }[] {
  const names = agent.projectSettings ? [] : (programOf(agent)?.projectCode ?? []);
  return names.flatMap((name) => {
    const real = realOf(join(worktree, name));
    if (real === undefined || !isWithin(real, worktree)) return [];
    return [{ path: real, isFolder: statSync(real).isDirectory() }];
  });
}

/** Where sockets lie, and temporary files and settings of the user; whatever else is needed of them is laid over them. */
function hiddenFolders(loom: Located & Configured, { env, home }: Surrounding, more: readonly string[]): string[] {
  const { uid, home: ownHome } = ownUser();
  const folders = foldersOf([
    ...["/tmp", "/var/tmp", "/run"],
    ...[env.TMPDIR, env.XDG_RUNTIME_DIR, `/run/user/${uid}`, join(tmpdir(), `prloom-${uid}`)],
    ...[env.XDG_CONFIG_HOME, env.XDG_DATA_HOME, env.XDG_STATE_HOME, env.XDG_CACHE_HOME],
    stateFolder(loom),
    ...more,
    // Of the user that we really are, when the environment names another user's home.
    ...(ownHome === home ? [] : [ownHome]),
  ]);
  // Below the home they are hidden with it, and what programs keep there in the private one must be seen.
  return folders.filter((folder) => !isWithin(folder, home));
}

/** Those that are folders, without links; never the root of the machine, nor what programs and their settings lie in. */
function foldersOf(paths: readonly (string | undefined)[]): string[] {
  const found = paths.flatMap((path) => (path === undefined || path === "" ? [] : (realOf(path) ?? [])));
  return [...new Set(found)].filter((path) => !["/usr", "/etc"].some((needed) => isWithin(needed, path)));
}

function pathOf({ agent, where }: Pick<Wanted, "agent" | "where">): string {
  return agent.env.PATH ?? where.env.PATH ?? "";
}

function placesFor(loom: Located & Configured, { agent, where, worktree, settings }: Wanted): Mount[] {
  const { root, commonDir, worktrees, local } = loom.paths;
  const options: PlaceOptions = {
    homes: [where.home, ownUser().home ?? where.home],
    path: pathOf({ agent, where }),
    cwd: worktree.path,
    never: [where.home, root, commonDir, worktrees, stateFolder(loom)],
    own: [root, commonDir, worktrees, local, worktree.path],
  };
  const readable = agent.readable.map((path) => readablePlace(path, agent, options));
  const settingsFiles = ["core.excludesfile", "core.attributesfile", "core.hookspath"].map((key) =>
    expandHome(settingOf(settings, key) ?? "", where.home),
  );
  const ofGit = [...settingsFiles, join(where.home, ".config/git/ignore"), join(where.home, ".config/git/attributes")];
  const extra = [...readable.flat(), ...ofGit].filter((path) => isAbsolute(path) && realOf(path) !== undefined);
  return [
    ...nameServicePlaces(),
    ...toolPlaces(options),
    ...programPlaces(agent, options),
    ...extra
      .filter((path) => !options.own.some((one) => isWithin(path, one)) && !options.never.includes(path))
      .map((path): Mount => ({ kind: "read", path })),
    ...guardedFolders(loom, where)
      .filter((folder) => extra.some((path) => isWithin(folder, path)))
      .map((path): Mount => ({ kind: "empty", path })),
  ];
}

/** Ours, below a home: hidden with it, unless `readable` names a folder that they lie in. */
function guardedFolders(loom: Located & Configured, { env }: Surrounding): string[] {
  return foldersOf([stateFolder(loom), env.XDG_RUNTIME_DIR && join(env.XDG_RUNTIME_DIR, "prloom")]);
}

function expandHome(path: string, home: string): string {
  return path === "~" || path.startsWith("~/") ? join(home, path.slice(2)) : path;
}

/** A path of `agents.<name>.readable`; one that would show what the sandbox is there to hide is refused. */
function readablePlace(path: string, agent: StageAgent, { homes: [home = sep], own, never }: PlaceOptions): string[] {
  const place = resolve(home, expandHome(path, home));
  const real = realOf(place) ?? place;
  const opens = never.some((one) => one === real) || own.slice(1).some((one) => isWithin(real, one));
  if (!opens) return [place, real];
  throw new PrloomError(
    "config-invalid",
    `agents.${agent.name}.readable: ${path} is what the sandbox hides (the home itself, or folders of prloom and git).`,
    "Name the folders that the agent needs, in prloom/config.json; `prloom doctor` checks it.",
  );
}

/** An agent's git needs an author to commit as. */
function identitySettings({ identity, environment }: Configured): GitSetting[] {
  const { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email } = { ...environment, ...identity };
  if (name === undefined || email === undefined) return [];
  return [
    { scope: "global", key: "user.name", value: name },
    { scope: "global", key: "user.email", value: email },
  ];
}

function environmentInside({ homeAt }: Surrounding, paths: Paths): Enclosure["env"] {
  const cache = join(homeAt, ".cache");
  return {
    HOME: homeAt,
    TMPDIR: "/tmp",
    // Their places below the home are the private home's.
    XDG_CONFIG_HOME: undefined,
    XDG_DATA_HOME: undefined,
    XDG_STATE_HOME: undefined,
    XDG_CACHE_HOME: undefined,
    XDG_RUNTIME_DIR: undefined,
    GIT_CONFIG_GLOBAL: join(paths.commonDir, PERSONAL_CONFIG),
    npm_config_cache: join(cache, "npm"),
    // Beside its programs otherwise, and there nothing can be written.
    npm_config_store_dir: join(cache, "pnpm-store"),
  };
}
