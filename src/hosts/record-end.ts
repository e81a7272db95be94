import type { Governor } from "./governor.ts";
import type { CallId } from "./host-call.ts";
import type { ProtectedFiles } from "./protected-files.ts";
import type { TouchedFiles } from "./touched-files.ts";

/** What a run needs to tell what its calls did to the worktree. */
export interface WorktreeLooks {
  readonly governor: Governor;
  readonly touched: TouchedFiles;
  readonly kept: ProtectedFiles;
}

/** Finds out what a call changed, and records it. Its agent has gone on; `back` was put back before that. */
export async function recordEnd(
  { governor, touched, kept }: WorktreeLooks,
  call: CallId,
  { ok, back }: { readonly ok: boolean; readonly back: readonly string[] },
): Promise<void> {
  const files = await touched.look();
  const late = await kept.putBackFound(files).catch(() => []);
  const putBack = [...back, ...late];
  touched.forget(putBack);
  governor.changedLater(call, late);
  await governor.after(call, { ok, files: files.filter((file) => !putBack.includes(file)), putBack });
}
