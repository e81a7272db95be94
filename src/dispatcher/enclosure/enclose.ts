import { chmodSync } from "node:fs";
import { totalmem } from "node:os";
import { join, relative } from "node:path";
import type { EnclosureLevel } from "../../agents/enclosure-level.ts";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import { namespaceWrapper } from "../../agents/runner/runner.ts";
import { type BwrapFeatures, type Mount, sandboxArgs } from "../../agents/sandbox/args.ts";
import { layoutSandbox, type SandboxPlan } from "../../agents/sandbox/layout.ts";
import { movedCredentials } from "../../agents/sandbox/moved-credentials.ts";
import { realOf } from "../../agents/sandbox/places.ts";
import { prepareMountPoints } from "../../agents/sandbox/private-home.ts";
import { probeSandbox } from "../../agents/sandbox/probe.ts";
import type { StageAgent } from "../../config/presets.ts";
import { type GitSetting, readSettings } from "../../git/shadow/git-settings.ts";
import { EMPTY_FILE, makeShadow, PERSONAL_CONFIG, REAL_OBJECTS, removeShadow } from "../../git/shadow/shadow.ts";
import type { Worktree } from "../../git/worktree/worktrees.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { diskError, ensureDir, existsNoFollow, writeRunFile } from "../../kernel/files.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import { homeOf, type Located, type Paths, worktreeOf } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";
import { cacheFolder, enterHome, type HomeUse, leaveHome, privateHome } from "./private-homes.ts";
import { linksOf } from "./run-copy.ts";
import { makeView } from "./run-view.ts";
import {
  appKeyFile,
  foldersOf,
  gitLoginFiles,
  hiddenFolders,
  placesFor,
  projectCode,
  type Surrounding,
  secretFiles,
  surroundings,
  type Viewer,
} from "./visible-places.ts";

/** In a run's folder: the file that is `.git` in its worktree. */
const GIT_FILE = "git-file";

/** How a run is kept from everything that is not its own. */
export interface Enclosure {
  readonly wrapper: readonly string[];
  readonly sandboxed: boolean;
  readonly level: EnclosureLevel;
  /** Laid over the agent's environment; undefined removes. */
  readonly env: Environment;
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
  /** It begins a conversation, and needs none that its program has kept. */
  readonly begins?: boolean;
  /** It may look at the worktree, and change nothing there. */
  readonly readOnly?: true;
}

/**
 * Makes what a run of this agent is to be started in: a sandbox with a shadow of the repository, or where there is none
 * only a pid namespace. Made afresh for each run; `clearEnclosure` removes what is left of it afterwards.
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

/** bwrap takes paths as they are: a link on the way to a place would lead it elsewhere. */
function realWorktree(worktree: Worktree): Worktree {
  return { ...worktree, path: realOf(worktree.path) ?? worktree.path };
}

interface Wanted extends EncloseOptions, Viewer {
  readonly record: PlanRecord;
  readonly view?: string;
}

async function mountsFor(loom: Located & Configured, wanted: Wanted): Promise<Mount[]> {
  const { agent, use, runDir, record, where, worktree, settings, begins = false } = wanted;
  const { root, commonDir, local, worktrees } = loom.paths;
  const shadow = join(runDir, SHADOW);
  const objectsAt = join(commonDir, REAL_OBJECTS);
  const identity = identitySettings(loom);
  const { alternates } = await makeShadow({ worktree, dir: shadow, objectsAt, settings, extra: identity });
  const homeFrom = privateHome(loom, record, { agent: agent.name, use });
  const cache = cacheFolder(loom, use);
  const agentDir = join(runDir, RUN_FILES.agentDir);
  for (const dir of [cache, agentDir]) ensureDir(dir);
  const goesOnIn = begins ? undefined : worktree.path;
  const folders = await enterHome({ agent, use, runDir, home: homeFrom, user: where, goesOnIn });
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
    secret: secretFiles(wanted, places, [...moved.files, ...gitLoginFiles(loom, wanted), ...appKeyFile(loom)]),
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
    worktree: { path: worktree.path, from: view, gitFile, ...(wanted.readOnly ? { readOnly: true } : {}) },
    masked: projectCode(agent, view).map((code) => ({ ...code, path: join(worktree.path, relative(view, code.path)) })),
    agentDir,
    blank: Object.values(linksOf(homeOf(loom.paths, record.id))),
    places,
    configuration: folders.map(({ from, to }) => ({ from, path: join(where.homeAt, to) })),
    ...(wanted.ours === undefined ? {} : { ours: wanted.ours }),
  });
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
