import { statSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, resolve, sep } from "node:path";
import { programOf } from "../../agents/adapters.ts";
import type { Mount } from "../../agents/sandbox/args.ts";
import {
  machineSecrets,
  nameServicePlaces,
  type PlaceOptions,
  programPlaces,
  realOf,
  toolPlaces,
  toolSecrets,
} from "../../agents/sandbox/places.ts";
import type { StageAgent } from "../../config/presets.ts";
import { type GitSetting, loginFilesOf, settingOf } from "../../git/shadow/git-settings.ts";
import type { Worktree } from "../../git/worktree/worktrees.ts";
import { keyFileOf } from "../../github/app-key.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { isWithin } from "../../kernel/paths.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import { homeFolder, ownUser } from "../../kernel/system/user.ts";
import type { Located } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";
import { stateFolder } from "./private-homes.ts";

/** The user whose machine it is, as far as a run is concerned. */
export interface Surrounding {
  readonly home: string;
  /** Where the home is seen; elsewhere when there is none, or when it is the root of the machine. */
  readonly homeAt: string;
  readonly env: Environment;
}

export function surroundings({ environment: env }: Configured): Surrounding {
  const home = realOf(homeFolder(env));
  if (home === undefined || home === sep) return { home: "/nonexistent", homeAt: "/tmp/home", env };
  return { home, homeAt: home, env };
}

/** Which agent looks, from where. */
export interface Viewer {
  readonly agent: StageAgent;
  readonly where: Surrounding;
  readonly worktree: Worktree;
  readonly settings: readonly GitSetting[];
}

/** What the program would run of the repository's whatever it is told; hidden behind links too. */
export function projectCode(agent: StageAgent, worktree: string): { path: string; isFolder: boolean }[] {
  const names = agent.projectSettings ? [] : (programOf(agent)?.projectCode ?? []);
  return names.flatMap((name) => {
    const real = realOf(join(worktree, name));
    if (real === undefined || !isWithin(real, worktree)) return [];
    return [{ path: real, isFolder: statSync(real).isDirectory() }];
  });
}

/** Where sockets lie, and temporary files and settings of the user; whatever else is needed of them is laid over them. */
export function hiddenFolders(
  loom: Located & Configured,
  { env, home }: Surrounding,
  more: readonly string[],
): string[] {
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
export function foldersOf(paths: readonly (string | undefined)[]): string[] {
  const found = paths.flatMap((path) => (path === undefined || path === "" ? [] : (realOf(path) ?? [])));
  return [...new Set(found)].filter((path) => !["/usr", "/etc"].some((needed) => isWithin(needed, path)));
}

function pathOf({ agent, where }: Pick<Viewer, "agent" | "where">): string {
  return agent.env.PATH ?? where.env.PATH ?? "";
}

/** What is shown to the agent besides its worktree and its home. */
export function placesFor(loom: Located & Configured, { agent, where, worktree, settings }: Viewer): Mount[] {
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

/** Files that are hidden although the folder they lie in is shown. */
export function secretFiles(viewer: Viewer, places: readonly Mount[], moved: readonly string[]): string[] {
  const { home } = viewer.where;
  return [
    ...machineSecrets(),
    ...toolSecrets(places, pathOf(viewer)).filter(
      (file) => places.some(({ path }) => isWithin(file, path)) || !isWithin(file, home),
    ),
    ...moved.filter((file) => !isWithin(file, home)),
  ];
}

/** What git's settings say where logins lie. The repository's own settings are not seen anyway, and its files can be read. */
export function gitLoginFiles({ paths: { root, commonDir } }: Located, { settings, worktree }: Viewer): string[] {
  const shown = [root, commonDir, worktree.path];
  const files = loginFilesOf(settings).flatMap((file) => realOf(file) ?? []);
  return files.filter((file) => !shown.some((folder) => isWithin(file, folder)));
}

/** The key of the GitHub App that we work as. */
export function appKeyFile({ config: { github }, environment }: Configured): string[] {
  const file = github?.app && keyFileOf(github.app, environment);
  return file === undefined ? [] : [realOf(file) ?? []].flat();
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
