import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureDir, ensureLink, remakeDirNoFollow } from "../../kernel/files.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Loom } from "../loom.ts";
import { worktreeOf } from "../observe.ts";
import { EVIDENCE, homeOf, RUN_COPY } from "../paths.ts";

/** The copy as an agent left it, beside the run's other files; only where another run needs the place of the copy. */
export const LEFT = "left.md";

/**
 * The agent's own copy of the plan, made anew before each run: what an earlier run left there, links included, is gone.
 * Only the difference that this run leaves behind is read afterwards, as claims.
 */
export function makeRunCopy(loom: Loom, record: PlanRecord, text: string): void {
  const worktree = worktreeOf(loom, record).path;
  const home = homeOf(loom.paths, record.id);
  const local = remakeDirNoFollow(worktree, RUN_COPY.dir);
  writeFileSync(join(worktree, RUN_COPY.plan), text);
  mkdirSync(join(worktree, EVIDENCE));
  ensureDir(home.bus);
  ensureDir(home.pluginState);
  ensureLink(join(local, "bus"), home.bus);
  ensureLink(join(local, "state.json"), home.record);
  ensureLink(join(local, "plugin-state"), home.pluginState);
}
