import { actionId, DISPATCHER } from "../../bus/names.ts";
import type { Action } from "../../bus/types.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import { threadOf } from "../gates/posting.ts";
import { notePublished, type PublishingAtWork } from "./note-published.ts";

/** Says at the change request that it is not going to be merged by the server, which was asked to: the one who asked waits for that. */
export function tellUnqueued(loom: PublishingAtWork & Buses & Extended, planId: string): void {
  const record = loom.store.byId(planId);
  const { unqueued } = record?.published ?? {};
  if (!record || unqueued === undefined || loom.stopping) return;
  const { id, uid, deleted, status, changeRequest } = record;
  if (!deleted && status !== "done") {
    // Told again after a kill, it is the same.
    const recordId = `unqueued-${uid}-${unqueued.at}`;
    const { address: target } = threadOf(loom, { ...record, source: undefined });
    const message = `Not merged: ${unqueued.sha.slice(0, 12)} is no longer in the merge queue, and GitHub's page tells why. When that is settled, ask for the merge again, or run \`prloom merge ${id}\`.`;
    const action: Action = {
      ...{
        id: actionId({ scope: { planId: id }, recordId, handler: DISPATCHER, ordinal: 0 }),
        type: "respond",
        target,
      },
      payload: { type: "comment", message },
    };
    const marks = { closed: true, about: "event" } as const;
    loom.bus(id).settle({ record: recordId, handler: DISPATCHER, outcome: "handled", actions: [action], marks });
    const text = `is no longer in the merge queue, and not merged: ${changeRequest?.url}`;
    loom.report({ planId: id, level: "bad", text });
    crashPoint("server:unqueued");
  }
  notePublished(loom, id, { unqueued: undefined });
  loom.wakeBus(id);
}
