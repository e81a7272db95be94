import type { ServerChange, ServerForge } from "../../forge/port.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { Published } from "../../plan/at-forge.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting, Stopping, Waking } from "../capabilities.ts";
import { type Records, updateRecord } from "../records.ts";

/**
 * The change request of a stacked plan is closed. By a person: the plan is. By the server, because the branch that it was for is gone: it cannot
 * be opened again, and the plan gets another one as soon as it is clear what it is for. True when there is more to do.
 */
export async function settleClosed(
  loom: Records & Reporting & Stopping & Waking,
  forge: ServerForge,
  record: PlanRecord,
): Promise<boolean> {
  const { id, changeRequest, stack } = record;
  const seen = changeRequest ? await forge.look(changeRequest.ref) : "gone";
  const isOpen = seen !== "gone" && seen.state === "open";
  const isOrphan = seen !== "gone" && !isOpen && (await isGone(forge, seen.base));
  if (loom.stopping) return false;
  const lower = stack && loom.store.get(stack.on);
  if (isOrphan && lower && lower.status !== "done" && !lower.deleted)
    throw new Error(`its base ${seen.base} is gone, and what became of ${lower.id} is not known yet`);
  if (isOrphan) {
    const text = `its pull request was closed with the branch ${seen.base}, and it gets another one`;
    loom.report({ planId: id, level: "warn", text });
  }
  const state = isOpen || !changeRequest ? changeRequest : { ...changeRequest, state: "closed" as const };
  updateRecord(loom, id, ({ published }) => ({
    changeRequest: isOrphan ? undefined : state,
    published: { ...published, closed: undefined, ...(isOrphan ? anew(seen) : {}) },
  }));
  crashPoint("server:closed-there");
  loom.wake(id);
  return isOrphan || isOpen;
}

/** What was told to the one that is closed is told to the next as well; one that a person made a draft again is followed by a draft. */
const anew = ({ ready }: ServerChange): Pick<Published, "described" | "based" | "ready"> => ({
  described: undefined,
  based: undefined,
  ...(ready ? { ready: undefined } : {}),
});

async function isGone(forge: ServerForge, branch: string): Promise<boolean> {
  const fetched = await forge.fetch(branch);
  if (fetched.kind === "failed") throw new Error(fetched.reason);
  return fetched.kind === "absent";
}
