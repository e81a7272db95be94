import { actionId, DISPATCHER } from "../../bus/names.ts";
import type { Action, ReplyAddress } from "../../bus/types.ts";
import { commitsBetween } from "../../git/commits/history.ts";
import { branchTip, resolveCommit } from "../../git/repository.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { eventsBehind } from "../../plan/todos/provenance.ts";
import type { Todo } from "../../plan/todos/todo.ts";
import type { Buses } from "../buses/buses.ts";
import { updateRecord } from "../records.ts";
import type { PublishingAtWork } from "./note-published.ts";

type DoneFor = NonNullable<PlanRecord["doneFor"]>;

/** What a record says when a TODO has ended: where the people who asked for it are to be told. */
export function doneFor(loom: Buses, record: PlanRecord, todo: Todo | undefined): Pick<PlanRecord, "doneFor"> {
  const { current, id, doneFor: before = [] } = record;
  if (!current || !todo) return {};
  const asked = eventsBehind(todo).map((event) => loom.bus(id).findEvent(event));
  // Checks and other systems are not told: what they see is the commit.
  const places = asked.flatMap((event) => (event?.context?.author && event.replyTo ? [event.replyTo] : []));
  const to = [
    ...new Map(places.map(({ target, token }) => [JSON.stringify([target, token]), { target, token }])).values(),
  ];
  return to.length === 0 ? {} : { doneFor: [...before, { todoId: current.todoId, attempt: current.attempt, to }] };
}

/**
 * Tells those who asked for a TODO that it is done, and in which commit: once that is where they can see it. The commit is looked for by
 * its trailer, since a rebase may have made it again.
 */
export async function tellDone(loom: PublishingAtWork & Buses, planId: string): Promise<void> {
  const record = loom.store.byId(planId);
  if (!record?.doneFor?.length || record.deleted || record.baseSha === undefined) return;
  crashPoint("done:due");
  const { baseSha } = record;
  const head = await headThere(loom, record);
  if (head === undefined) return;
  const commits = await commitsBetween(loom.repo, baseSha, head);
  for (const done of record.doneFor) {
    const step = `${record.uid}/${done.todoId}/`;
    const sha = commits.findLast(({ trailer }) => trailer?.startsWith(step))?.sha;
    if (loom.stopping) return;
    if (sha !== undefined) tell(loom, record, { done, sha });
  }
}

/** What was merged, where we have that: the answer to our last push may have been lost. */
async function headThere(
  loom: PublishingAtWork,
  { published = {}, branch = "" }: PlanRecord,
): Promise<string | undefined> {
  if (loom.forge.name === "local") return branchTip(loom.repo, branch);
  const { merged, sha } = published;
  return (merged === undefined || merged === sha ? undefined : await resolveCommit(loom.repo, merged)) ?? sha;
}

function tell(loom: PublishingAtWork & Buses, { id, uid }: PlanRecord, { done, sha }: DoneTold): void {
  const { todoId, attempt, to } = done;
  // Told again after a kill, it is the same.
  const recordId = `done-${uid}-${todoId}-${attempt}`;
  const actions = to.map((target: ReplyAddress, ordinal): Action => {
    const payload = { type: "comment", message: `Done in ${sha.slice(0, 12)}.` } as const;
    return {
      id: actionId({ scope: { planId: id }, recordId, handler: DISPATCHER, ordinal }),
      type: "respond",
      target,
      payload,
    };
  });
  const marks = { closed: true, about: "event" } as const;
  loom.bus(id).settle({ record: recordId, handler: DISPATCHER, outcome: "handled", actions, marks });
  crashPoint("done:told");
  updateRecord(loom, id, (now) => ({
    doneFor: now.doneFor?.filter((one) => one.todoId !== todoId || one.attempt !== attempt),
  }));
  loom.wakeBus(id);
}

interface DoneTold {
  readonly done: DoneFor[number];
  readonly sha: string;
}
