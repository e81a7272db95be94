import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import type { Repository } from "../git/repository.ts";
import type { Worktree } from "../git/worktree/worktrees.ts";
import { isWithin } from "../kernel/paths.ts";
import type { PlanRecord } from "../plan/record.ts";

/** Where everything of one repository lies. */
export interface Paths {
  /** Top of the main working tree. */
  readonly root: string;
  readonly commonDir: string;
  /** `<git common dir>/prloom`: out of every working tree, so out of reach of `git clean -xfd`. */
  readonly authority: string;
  readonly plans: string;
  readonly bus: string;
  readonly gates: string;
  /** Of all plugins, beyond one plan. */
  readonly pluginState: string;
  readonly lock: string;
  readonly daemonFile: string;
  /** What the dispatcher was started with. */
  readonly pinFile: string;
  readonly cacheFile: string;
  readonly inboxCacheFile: string;
  /** Where plugins threw. */
  readonly pluginErrors: string;
  readonly stallsFile: string;
  readonly local: string;
  readonly inbox: string;
  readonly worktrees: string;
}

/** Where things are. */
export interface Located {
  readonly repo: Repository;
  readonly paths: Paths;
}

export function pathsOf(repo: { root: string; commonDir: string }, worktreesDir = "prloom/.local/worktrees"): Paths {
  const authority = join(repo.commonDir, "prloom");
  const local = join(repo.root, "prloom", ".local");
  return {
    root: repo.root,
    commonDir: repo.commonDir,
    authority,
    plans: join(authority, "plans"),
    bus: join(authority, "bus"),
    gates: join(authority, "gates"),
    pluginState: join(authority, "plugin-state-global"),
    lock: join(authority, "daemon.lock"),
    daemonFile: join(authority, "daemon.json"),
    pinFile: join(authority, "pinned.json"),
    cacheFile: join(authority, "text-cache.json"),
    pluginErrors: join(authority, "plugin-errors.log"),
    stallsFile: join(authority, "stalls.json"),
    inboxCacheFile: join(authority, "inbox-cache.json"),
    local,
    inbox: join(local, "inbox"),
    worktrees: resolve(repo.root, worktreesDir.replace(/^~(?=\/|$)/, homedir)),
  };
}

/** Where agents write, as git's paths have it; not what lies outside of the main working tree. A bare repository is its own root. */
export const agentPlaces = ({ root, local, worktrees, commonDir }: Paths): string[] =>
  [local, worktrees, commonDir]
    .filter((place) => place !== root && isWithin(place, root))
    .map((place) => relative(root, place));

/** The home of a plan and what lies in it. Paths are put together when they are asked for: lists ask for thousands. */
export class Home {
  readonly home: string;

  constructor(paths: Paths, id: string) {
    this.home = `${paths.plans}/${id}`;
  }
  get plan(): string {
    return `${this.home}/plan.md`;
  }
  get record(): string {
    return `${this.home}/state.json`;
  }
  get bus(): string {
    return `${this.home}/bus`;
  }
  get pluginState(): string {
    return `${this.home}/plugin-state`;
  }
  get proposal(): string {
    return `${this.home}/proposed.md`;
  }
  get runs(): string {
    return `${this.home}/runs`;
  }
  get changeRequest(): string {
    return `${this.home}/change-request.json`;
  }
  run(number: number): string {
    return `${this.home}/runs/${number}`;
  }
}

export function homeOf(paths: Paths, id: string): Home {
  return new Home(paths, id);
}

/** Whether a plan has a bus at all: thousands of drafts without a comment cost one stat each. */
export function hasBus({ paths }: { readonly paths: Paths }, id: string): boolean {
  return existsSync(homeOf(paths, id).bus);
}

export function inboxOf(paths: Paths, id: string): { text: string; meta: string } {
  return { text: `${paths.inbox}/${id}.md`, meta: `${paths.inbox}/${id}.json` };
}

/** True while the text of the plan is the inbox file. */
export function isInboxRecord(record: PlanRecord): boolean {
  return record.status === "draft" || record.status === "queued";
}

/** Where the text of a plan lies: the inbox file before activation, the home's plan.md after it. */
export function textPath(loom: Pick<Located, "paths">, record: PlanRecord): string {
  return isInboxRecord(record) ? inboxOf(loom.paths, record.id).text : homeOf(loom.paths, record.id).plan;
}

/** The worktree of a plan, whether or not it is there. */
export function worktreeOf(loom: Pick<Located, "paths"> & { readonly config: Config }, record: PlanRecord): Worktree {
  const path = record.worktree ?? join(loom.paths.worktrees, record.id);
  const name = record.worktreeName ?? record.id;
  const { commonDir } = loom.paths;
  const { trustedFilters } = loom.config;
  return { path, name, gitDir: join(commonDir, "worktrees", name), commonDir, trustedFilters };
}

/** Below a worktree: the run's copy and what the agent claims. */
export const RUN_COPY = {
  dir: join("prloom", ".local"),
  plan: join("prloom", ".local", "plan.md"),
  /** Where a run may say how it ended, besides ticking its TODO. */
  outcome: join("prloom", ".local", "outcome.json"),
} as const;
export const TRIAGE_RESULT = join("prloom", ".local", "triage-result.json");
export const REVIEW_RESULT = join("prloom", ".local", "review-result.json");
export const EVIDENCE = join("prloom", ".local", "evidence");
