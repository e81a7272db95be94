import { callOwner } from "../../dispatcher/commands/owner.ts";
import type { OwnerCommandName } from "../../dispatcher/commands/table.ts";
import type { Call } from "../output.ts";
import { refuseInsideRun, suggesting, tellWithoutDispatcher } from "../plans.ts";
import { errorData, errorLines } from "../report-error.ts";

export type PlainChange = "queue" | "hide" | "unhide" | "pause" | "resume";

const DONE: Readonly<Record<PlainChange, string>> = {
  queue: "is queued",
  hide: "is hidden",
  unhide: "is no longer hidden",
  pause: "is paused",
  resume: "goes on",
};

/** Changes each of the plans in one of the ways that need no more words. */
export async function changePlans(
  call: Call,
  name: PlainChange,
  { plans, now }: { plans: readonly string[]; now: boolean },
): Promise<number> {
  refuseInsideRun(call);
  const needsDispatcher = name === "queue" || name === "resume";
  const done = now ? `${DONE[name]}, and nothing of it is at work any more` : DONE[name];
  const args = now ? { now } : {};
  return changeEach(call, plans, { name, args, done: () => done, needsDispatcher, data: {} });
}

export interface Change {
  readonly name: OwnerCommandName;
  /** Beside the plan. */
  readonly args: Readonly<Record<string, unknown>>;
  /** What is said about a plan that was changed, after its name; `answer` is the owner's. */
  done(plan: string, answer: unknown): string;
  /** Nothing comes of it while no dispatcher runs. */
  readonly needsDispatcher: boolean;
  /** Goes into the JSON result. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Changes each of the plans; one that cannot be changed does not keep the others from it. */
export async function changeEach(call: Call, plans: readonly string[], change: Change): Promise<number> {
  const { output } = call;
  const changed: string[] = [];
  const failed: { plan: string; error: ReturnType<typeof errorData> }[] = [];
  for (const plan of new Set(plans)) {
    let answer: unknown;
    try {
      answer = await suggesting(call, plan, () => callOwner(call.cwd, change.name, { ...change.args, plan }));
    } catch (error) {
      if (plans.length === 1) throw error;
      failed.push({ plan, error: errorData(error) });
      output.note(errorLines(error, [change.name, ...plans]).join("\n"));
      continue;
    }
    changed.push(plan);
    output.line(`${plan} ${change.done(plan, answer)}`);
  }
  if (change.needsDispatcher && changed.length > 0) await tellWithoutDispatcher(call);
  output.data({ changed, failed, ...change.data });
  return failed.length === 0 ? 0 : 1;
}
