import { existsSync, type FSWatcher, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../kernel/errors.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import { ensureLinks } from "../layout.ts";
import { homeOf, type Located } from "../paths.ts";
import type { Records } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";
import { PROMPTS_DIR } from "../settings/pinning.ts";
import { planOfFile } from "./inbox.ts";

/** Watches are not free; beyond this many the safety tick finds what changed. */
const MAX_HOMES = 200;

export interface Watching {
  /** Watches again what was replaced since: `git clean -xfd` in the checkout takes the inbox away, and people put it back. */
  rearm(): void;
  /** Watches the home of a plan from the moment that it has left the inbox. Call it before looking at the plan. */
  follow(record: PlanRecord): void;
  close(): void;
}

export interface WatchHooks {
  /** Something happened to a plan in the inbox; without one: anywhere in it, or to a branch. */
  changed(planId?: string): void;
  /** Something happened in a folder from which the dispatcher took what it works with. */
  treeChanged(): void;
  /** The text of an open plan was written. */
  planChanged(id: string): void;
}

/** Directories only, never recursive. A watch that cannot be had costs only time: the safety tick finds everything. */
export function watchDirs(loom: Located & Configured & Records & Reporting, hooks: WatchHooks): Watching {
  const watched = new Map<string, { inode: number; watcher: FSWatcher }>();
  const arm = (dir: string, onChange: (file: string | null) => void): void => {
    try {
      const inode = statSync(dir).ino;
      if (watched.get(dir)?.inode === inode) return;
      watched.get(dir)?.watcher.close();
      const watcher = watch(dir, (_event, file) => onChange(file));
      watcher.on("error", (error) =>
        loom.report({ level: "warn", text: `watching ${dir} failed: ${messageOf(error)}` }),
      );
      watched.set(dir, { inode, watcher });
    } catch (error) {
      loom.report({ level: "warn", text: `cannot watch ${dir} (${messageOf(error)}); looking every 30 s instead` });
    }
  };
  const armHome = (dir: string, id: string): void => arm(dir, (file) => file === "plan.md" && hooks.planChanged(id));
  const rearm = (): void => {
    ensureLinks(loom.paths);
    arm(loom.paths.inbox, (file) => {
      // Temporary names; no scan looks at them either.
      if (!file?.startsWith(".")) hooks.changed(file === null ? undefined : planOfFile(file));
    });
    arm(join(loom.paths.commonDir, "refs", "heads"), () => hooks.changed());
    for (const dir of pinnedDirs(loom)) arm(dir, hooks.treeChanged);
    const homes = openHomes(loom);
    for (const [dir, id] of homes) armHome(dir, id);
    for (const [dir, { watcher }] of watched) {
      if (homes.has(dir) || !dir.startsWith(loom.paths.plans)) continue;
      watcher.close();
      watched.delete(dir);
    }
  };
  rearm();
  return {
    rearm,
    follow(record) {
      const dir = homeOf(loom.paths, record.id).home;
      if (isOpen(record) && !watched.has(dir) && watched.size < MAX_HOMES) armHome(dir, record.id);
    },
    close: () => {
      for (const { watcher } of watched.values()) watcher.close();
    },
  };
}

/** Where the files lie that were pinned, and others like them may appear. */
function pinnedDirs({ paths, pinned }: Located & Configured): Set<string> {
  const files = pinned.pin?.files.map(({ path }) => dirname(join(paths.root, path))) ?? [];
  // A folder that is away, since another branch has none, is found again by the safety tick.
  return new Set(
    [join(paths.root, "prloom"), join(paths.root, PROMPTS_DIR), ...files].filter((dir) => existsSync(dir)),
  );
}

/** Plans that are worked on or in review: a person may edit their text with any editor. */
function openHomes(loom: Located & Records): Map<string, string> {
  const { records } = loom.store.list({ status: ["active", "review"] }, { limit: MAX_HOMES });
  return new Map(records.filter(isOpen).map((record) => [homeOf(loom.paths, record.id).home, record.id]));
}

function isOpen({ status, deleted }: PlanRecord): boolean {
  return !deleted && (status === "active" || status === "review");
}
