import { callOwner } from "../dispatcher/owner.ts";
import type { Call } from "./output.ts";
import { refuseInsideRun, suggesting } from "./plans.ts";
import { errorData, errorLines } from "./report-error.ts";

export type PlainChange = "queue" | "hide" | "unhide" | "pause" | "resume";

const DONE: Readonly<Record<PlainChange, string>> = {
  queue: "is queued",
  hide: "is hidden",
  unhide: "is no longer hidden",
  pause: "is paused",
  resume: "goes on",
};

/** Changes each of the plans; one that cannot be changed does not keep the others from it. */
export async function changePlans(call: Call, name: PlainChange, plans: readonly string[]): Promise<number> {
  refuseInsideRun(call);
  const { output } = call;
  const changed: string[] = [];
  const failed: { plan: string; error: ReturnType<typeof errorData> }[] = [];
  for (const plan of new Set(plans)) {
    try {
      await suggesting(call, plan, () => callOwner(call.cwd, name, { plan }));
    } catch (error) {
      if (plans.length === 1) throw error;
      failed.push({ plan, error: errorData(error) });
      output.note(errorLines(error, [name, ...plans]).join("\n"));
      continue;
    }
    changed.push(plan);
    output.line(`${plan} ${DONE[name]}`);
  }
  output.data({ changed, failed });
  return failed.length === 0 ? 0 : 1;
}
