import { callOwner } from "../../dispatcher/commands/owner.ts";
import type { OwnerCommandName } from "../../dispatcher/commands/table.ts";
import type { Loom } from "../../dispatcher/loom.ts";
import { currentRecords } from "../../dispatcher/report/current-records.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Call } from "../output.ts";
import { reading, refuseInsideRun, suggesting, tellWithoutDispatcher } from "../plans.ts";
import { errorData, errorLines } from "../report-error.ts";

export type PlainChange = "queue" | "hide" | "unhide" | "pause" | "resume";

export interface ChangeOptions {
  /** In place of names. */
  readonly all?: boolean;
  readonly now?: boolean;
}

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
  { plans, all = false, now = false }: ChangeOptions & { plans: readonly string[] },
): Promise<number> {
  refuseInsideRun(call);
  if (all === plans.length > 0)
    throw new PrloomError("usage", "Which plans?", `Name them, or all of them: prloom ${name} --all`);
  const meant = all ? await reading(call, (loom) => plansFor(loom, name)) : plans;
  if (all && meant.length === 0) call.output.line(`There is no plan to ${name}.`);
  const needsDispatcher = name === "queue" || name === "resume";
  const done = now ? `${DONE[name]}, and nothing of it is at work any more` : DONE[name];
  const args = now ? { now } : {};
  return changeEach(call, meant, { name, args, done: () => done, needsDispatcher, data: {} });
}

function plansFor(loom: Loom, name: PlainChange): string[] {
  return currentRecords(loom, loom.inbox.scan().entries)
    .filter(({ status, paused }) => (name === "resume" ? paused : status !== "done"))
    .map(({ id }) => id);
}

export interface PlanChange {
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
export async function changeEach(call: Call, plans: readonly string[], change: PlanChange): Promise<number> {
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
