import * as z from "zod";
import { writeFileAtomic } from "../../kernel/files.ts";
import { readChecked } from "../../kernel/json-files.ts";
import type { WatchdogNote } from "./watchdog.ts";
import type { HeldWatch } from "./watched-work.ts";

/** A plan that blocked the dispatcher until the watchdog ended it. */
export interface Stall {
  readonly count: number;
  /** What it was at, and for how long, the last time. */
  readonly label: string;
  readonly blockedMs: number;
  /** Which plan of that name: its uid, or the version of its file when it has no record yet. */
  readonly of: string;
}

/** How often each plan blocked the dispatcher. One that did it twice is left alone until a person gives it another chance. */
export interface Stalls {
  /** Counts what a watchdog noted; the same note again, after a kill, counts nothing. */
  count(note: WatchdogNote): void;
  isHeld(planId: string): boolean;
  held(): ReadonlyMap<string, Stall>;
  /** Another chance; false when nothing was counted. */
  forgive(planId: string): boolean;
}

/** What is under way, and which plans are left alone because of what they did. */
export interface Watched {
  /** Told what is under way, and for which plan; the watchdog names it. */
  readonly watch: HeldWatch;
  /** Plans that blocked the dispatcher. */
  readonly stalls: Stalls;
}

const MAX_STALLS = 2;

const stallSchema = z.object({ count: z.int(), label: z.string(), blockedMs: z.number(), of: z.string() });
const fileSchema = z.object({
  schemaVersion: z.literal(1),
  /** Time of the last note that was counted. */
  counted: z.string(),
  plans: z.record(z.string(), stallSchema),
});

/** `identityOf` tells which plan has a name at this moment. */
export function openStalls(file: string, identityOf: (planId: string) => string): Stalls {
  let { counted, plans } = load(file);
  const write = (): void => {
    const value = { schemaVersion: 1, counted, plans: Object.fromEntries(plans) };
    writeFileAtomic(file, `${JSON.stringify(value, null, 2)}\n`);
  };
  const isHeld = (planId: string): boolean => {
    const stall = plans.get(planId);
    return stall !== undefined && stall.count >= MAX_STALLS && stall.of === identityOf(planId);
  };
  return {
    count({ at, plan, label, blockedMs }) {
      if (plan === undefined || at === counted) return;
      const of = identityOf(plan);
      const before = plans.get(plan);
      const count = (before?.of === of ? before.count : 0) + 1;
      counted = at;
      plans = new Map(plans).set(plan, { count, label, blockedMs, of });
      write();
    },
    isHeld,
    held: () => new Map([...plans].filter(([planId]) => isHeld(planId))),
    forgive(planId) {
      if (!plans.has(planId)) return false;
      plans = new Map([...plans].filter(([id]) => id !== planId));
      write();
      return true;
    },
  };
}

/** Only counts are lost with a file that cannot be read: counting what blocks the dispatcher starts over. */
function load(file: string): { counted: string; plans: ReadonlyMap<string, Stall> } {
  const { counted = "", plans = {} } = readChecked(file, fileSchema) ?? {};
  return { counted, plans: new Map(Object.entries(plans)) };
}

/** What a person is told about a plan that is left alone. */
export function stallWords(planId: string, { label, blockedMs }: Stall): { reason: string; hint: string } {
  const time = blockedMs >= 1000 ? `${Math.round(blockedMs / 1000)} s` : `${blockedMs} ms`;
  return {
    reason: `It blocked the dispatcher for ${time}, twice (${label}); the watchdog ended the dispatcher each time.`,
    hint: `Nothing of it is looked at until it is fixed: a plugin must not work for long without an await. \`prloom unblock ${planId}\` gives it another chance.`,
  };
}
