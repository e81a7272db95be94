import { join } from "node:path";

/** Where everything of one repository lies (DESIGN: "On disk"). */
export interface Paths {
  /** Top of the main working tree. */
  readonly root: string;
  readonly commonDir: string;
  /** `<git common dir>/prloom`: out of every working tree, so out of reach of `git clean -xfd`. */
  readonly authority: string;
  readonly plans: string;
  readonly bus: string;
  readonly lock: string;
  readonly daemonFile: string;
  readonly cacheFile: string;
  readonly inboxCacheFile: string;
  readonly local: string;
  readonly inbox: string;
  readonly worktrees: string;
  readonly prompts: string;
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
    lock: join(authority, "daemon.lock"),
    daemonFile: join(authority, "daemon.json"),
    cacheFile: join(authority, "text-cache.json"),
    inboxCacheFile: join(authority, "inbox-cache.json"),
    local,
    inbox: join(local, "inbox"),
    worktrees: join(repo.root, worktreesDir),
    prompts: join(repo.root, "prloom", "prompts"),
  };
}

/** The home of a plan and what lies in it. */
export function homeOf(paths: Paths, id: string) {
  const home = join(paths.plans, id);
  return {
    home,
    plan: join(home, "plan.md"),
    record: join(home, "state.json"),
    bus: join(home, "bus"),
    pluginState: join(home, "plugin-state"),
    runs: join(home, "runs"),
    run: (n: number) => join(home, "runs", String(n)),
    changeRequest: join(home, "change-request.json"),
  };
}

export function inboxOf(paths: Paths, id: string): { text: string; meta: string } {
  return { text: join(paths.inbox, `${id}.md`), meta: join(paths.inbox, `${id}.json`) };
}

/** Below a worktree: the run's copy and what the agent claims. */
export const RUN_COPY = { dir: join("prloom", ".local"), plan: join("prloom", ".local", "plan.md") } as const;
export const TRIAGE_RESULT = join("prloom", ".local", "triage-result.json");
export const EVIDENCE = join("prloom", ".local", "evidence");
