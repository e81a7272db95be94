import type { Governor } from "./governor.ts";
import type { CallId } from "./host-call.ts";
import type { ProtectedFiles } from "./protected-files.ts";
import { withTimeLimit } from "./time-limit.ts";
import type { TouchedFiles } from "./touched-files.ts";

/** A script can leave more than is put back while its agent waits. */
const PUT_BACK_MS = 4000;

/** What a run needs to tell what its calls did to the worktree. */
export interface WorktreeLooks {
  readonly governor: Governor;
  readonly touched: TouchedFiles;
  readonly kept: ProtectedFiles;
}

interface Ended {
  /** What its agent is told. */
  readonly note: string;
  /** Finds out what else the call changed, and records it; its agent has gone on. */
  record(): Promise<void>;
}

/** After a call that may have changed files: what is protected is put back before its agent goes on, unless that takes long. */
export async function callEnded(looks: WorktreeLooks, call: CallId, ok: boolean): Promise<Ended> {
  const { governor, touched, kept } = looks;
  const putting = kept.putBack().catch(() => []);
  const inTime = await withTimeLimit(putting, PUT_BACK_MS).catch(() => undefined);
  return {
    note: governor.changedProtected(call, inTime ?? []),
    async record() {
      const back = await putting;
      if (!inTime) governor.changedLater(call, back, { isSure: true });
      const files = await touched.look();
      const late = await kept.putBackFound(files).catch(() => []);
      const putBack = [...back, ...late];
      touched.forget(putBack);
      governor.changedLater(call, late);
      await governor.after(call, { ok, files: files.filter((file) => !putBack.includes(file)), putBack });
    },
  };
}
