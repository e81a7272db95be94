import type { ServerForge } from "../../forge/port.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { wantsStack } from "../../plan/metadata.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { draftOf } from "../acceptance/commit-todo.ts";
import type { Waking } from "../capabilities.ts";
import type { Located } from "../paths.ts";
import { saidNow } from "../publishing/level.ts";
import { type Records, updateRecord } from "../records.ts";

/** The open plans that are stacked on this one. */
function above({ store }: Records, { uid }: PlanRecord): PlanRecord[] {
  const { records } = store.list();
  return records.filter(({ stack, deleted, status }) => stack?.on === uid && !deleted && status !== "done");
}

/** The branch of a plan moved, or is there to be stacked on: others may wait for that. */
export function wakeAbove(loom: Records & Waking, record: PlanRecord): void {
  const { records } = loom.store.list({ status: "queued" });
  const waiting = records.filter(({ metadata, deleted }) => !deleted && wantsStack(metadata));
  for (const { id } of [...above(loom, record), ...waiting]) loom.wake(id);
}

/**
 * Right before a merge: where the server deletes the branch with it, change requests that have it as base would be closed for good. That what
 * they say is not known any more is on record first, so that they are set right if the merge does not come about.
 */
export async function retargetAbove(loom: Located & Records, forge: ServerForge, record: PlanRecord): Promise<void> {
  for (const { id, changeRequest } of above(loom, record)) {
    if (changeRequest?.state !== "open") continue;
    const unknown = { described: undefined, based: undefined };
    const child = updateRecord(loom, id, ({ published }) => ({ published: { ...published, ...unknown } }));
    loom.store.sync();
    const draft = { ...draftOf(loom, child), base: record.baseBranch ?? "" };
    const outcome = await forge.describe(changeRequest.ref, saidNow(child.published ?? {}, draft), false);
    crashPoint("server:retargeted");
    if ("refused" in outcome) throw new Error(`${id}, which is stacked on it, keeps its base: ${outcome.refused}`);
  }
}
