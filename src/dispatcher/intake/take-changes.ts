import type { Naming, Reporting } from "../capabilities.ts";
import type { Located } from "../paths.ts";
import type { Records } from "../records.ts";
import type { Scheduler } from "../steps/scheduler.ts";
import type { Watched } from "../watchdog/stalls.ts";
import { type Intake, inboxIds, takeInbox } from "./intake.ts";
import { inSlices } from "./time-slices.ts";

/** Plans whose lifecycle events are one append, and whose records are written together. */
const AT_ONCE = 50;
/** The same where the texts of new ones are read, each of which may be long. */
const READ_AT_ONCE = 8;

export interface InboxLooking {
  /** Also what should lie in the inbox and does not, and what could not be taken before. */
  readonly whole: boolean;
  mayGoOn(): boolean;
}

/** Takes what changed in the inbox, and wakes the plans that it concerns. */
export function lookAtInbox(
  loom: Located & Naming & Records & Intake & Watched & Reporting,
  scheduler: Scheduler,
  { whole, mayGoOn }: InboxLooking,
): Promise<void> {
  const scan = loom.inbox.scan();
  const items = whole ? new Set([...inboxIds(loom, scan), ...scan.changed]) : scan.changed;
  return inSlices({
    items: groupsOf([...items], AT_ONCE),
    act(ids, isLater) {
      const look = (id: string): string[] => takeInbox(loom, isLater ? loom.inbox.look(id) : scan, [id]);
      const taken = new Set(takeTogether(loom, ids, look));
      for (const id of ids) if (taken.has(id) || (scan.changed.has(id) && loom.store.byId(id))) scheduler.wake(id);
    },
    mayGoOn,
  });
}

/** If one of them cannot be written, each is for itself. */
function takeTogether(loom: Records, ids: readonly string[], take: (id: string) => string[]): string[] {
  try {
    const { result, safe } = loom.store.together(() => ids.flatMap(take));
    // Nothing follows from these records alone: what lies in the inbox is taken again.
    safe.catch(() => undefined);
    return result;
  } catch {
    return ids.flatMap(take);
  }
}

function groupsOf(ids: readonly string[], size: number): string[][] {
  const starts = Array.from({ length: Math.ceil(ids.length / size) }, (_, at) => at * size);
  return starts.map((start) => ids.slice(start, start + size));
}

/**
 * The same for plans by name: thousands may lie beside the one that changed. Returns whether there was news; what prloom
 * wrote itself is none.
 */
export function lookAtPlans(
  loom: Located & Naming & Records & Intake & Watched & Reporting,
  scheduler: Scheduler,
  ids: Iterable<string>,
): boolean {
  let isNews = false;
  for (const id of ids) {
    if (takeInbox(loom, loom.inbox.look(id), [id]).length > 0) isNews = true;
    if (loom.store.byId(id)) scheduler.wake(id);
  }
  return isNews;
}

/** Looks at all plans for changes; returns whether there were any to tell. */
export async function tellAll(loom: Records & Intake, mayGoOn: () => boolean): Promise<boolean> {
  const { records } = loom.store.list();
  const items = groupsOf(
    records.map(({ id }) => id),
    READ_AT_ONCE,
  );
  let isNews = false;
  const act = (ids: string[]): void => {
    if (loom.lifecycle().lookAt(ids).length > 0) isNews = true;
  };
  await inSlices({ items, act, mayGoOn });
  return isNews;
}
