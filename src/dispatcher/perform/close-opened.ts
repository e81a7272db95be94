import { join } from "node:path";
import { removeTree } from "../../git/tree.ts";
import { endRun, isAlive } from "../../kernel/process-tree.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { type Loom, updateRecord } from "../loom.ts";
import { homeOf } from "../paths.ts";

/** What everything carries that a person starts through `prloom open`. */
export function openRunId(record: PlanRecord): string {
  return `${record.uid}/open`;
}

/** Where the interface that a person has open is enclosed. */
export function openRunDir(loom: Loom, record: PlanRecord): string {
  return join(homeOf(loom.paths, record.id).runs, "open");
}

/** Ends what the interface left running, and removes what it was enclosed with. */
export async function endOpened(loom: Loom, record: PlanRecord): Promise<void> {
  await endRun({ id: openRunId(record), groups: [] }, { graceMs: loom.config.limits.stopGraceMs });
  await removeTree(openRunDir(loom, record));
}

/** The process that kept the plan open has died without a word: nothing of it may work beside the next step. */
export async function closeOpened(loom: Loom, record: PlanRecord): Promise<void> {
  if (!record.opened || isAlive(record.opened)) return;
  await endOpened(loom, record);
  updateRecord(loom, record.id, () => ({ opened: undefined }));
  loom.report({ planId: record.id, level: "warn", text: "`prloom open` ended without closing it; going on" });
}
