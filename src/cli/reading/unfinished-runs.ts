import { existsSync } from "node:fs";
import { join } from "node:path";
import { readExit } from "../../agents/runner/run-exit.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { homeOf } from "../../dispatcher/paths.ts";
import { awaitedRun } from "../../dispatcher/runs/run-record.ts";
import type { PlanRecord } from "../../plan/record.ts";

export interface UnfinishedRun {
  readonly record: PlanRecord;
  readonly run: number;
}

/** Runs that began and have no exit: their agents work while a dispatcher lives, and were interrupted when none does. */
export function unfinishedRuns(loom: Loom): UnfinishedRun[] {
  loom.store.reload();
  const { records } = loom.store.list({ status: ["active", "review"] });
  return records.flatMap((record) => {
    const run = awaitedRun(record);
    if (record.deleted || run === undefined) return [];
    const dir = homeOf(loom.paths, record.id).run(run);
    return isUnfinished(dir) ? [{ record, run }] : [];
  });
}

function isUnfinished(dir: string): boolean {
  try {
    return existsSync(join(dir, "run.json")) && readExit(dir) === undefined;
  } catch {
    // The plan is blocked for it, and `status` says why; the runs of the others are asked for all the same.
    return false;
  }
}
