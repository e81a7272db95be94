import { join } from "node:path";
import { ensureDir, remakeDirNoFollow } from "../../kernel/files.ts";
import { ensureFolder, ensureLinkIn, placeFile } from "../../kernel/held/files.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { EVIDENCE, homeOf, type Located, RUN_COPY, worktreeOf } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";

/** The copy as an agent left it, beside the run's other files; only where another run needs the place of the copy. */
export const LEFT = "left.md";

/**
 * The agent's own copy of the plan, made afresh before each run: what an earlier run left there, links included, is gone.
 * Only the difference that this run leaves behind is read afterwards, as claims.
 */
export function makeRunCopy(
  loom: Located & Configured,
  record: PlanRecord,
  text: string,
  worktree = worktreeOf(loom, record).path,
): void {
  const home = homeOf(loom.paths, record.id);
  remakeDirNoFollow(worktree, RUN_COPY.dir);
  placeFile(worktree, RUN_COPY.plan, text, 0o644);
  ensureFolder(worktree, EVIDENCE);
  ensureDir(home.bus);
  ensureDir(home.pluginState);
  const links = { bus: home.bus, "state.json": home.record, "plugin-state": home.pluginState };
  for (const [name, to] of Object.entries(links)) ensureLinkIn(worktree, join(RUN_COPY.dir, name), to);
}
