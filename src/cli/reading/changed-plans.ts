import type { ListedPlan } from "../../dispatcher/report/read.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { Output } from "../output.ts";
import { jsonText, visible } from "../render/safe-text.ts";
import { planLine } from "../render/tables/plan-table.ts";
import { isShownInStatus, type StatusOptions, type StatusView } from "./status-lines.ts";

/** What was last told of each plan and of the dispatcher, which stands under an id that no plan has. */
class ToldPlans {
  readonly #told = new Map<string, string>();

  has(id: string): boolean {
    return this.#told.has(id);
  }

  /** Whether it is to be told: it was never, or otherwise. */
  isNews(id: string, words: string): boolean {
    const before = this.#told.get(id);
    this.#told.set(id, words);
    return before !== words;
  }

  /** Plans that were told and are no more, once. */
  gone(plans: readonly ListedPlan[]): string[] {
    const there = new Set(["", ...plans.map(({ planId }) => planId)]);
    const gone = [...this.#told.keys()].filter((id) => !there.has(id));
    for (const id of gone) this.#told.delete(id);
    return gone;
  }
}

/** A line for each plan that changed, and when the dispatcher came or went; for files and pipes. */
export function changesAsLines(output: Output, options: StatusOptions): StatusView {
  const told = new ToldPlans();
  return {
    show({ plans, daemon }, now) {
      const line = (text: string): void => output.line(`${isoTime(now)}  ${text}`);
      const running = daemon.running ? `running (pid ${daemon.pid})` : "not running";
      if (told.isNews("", running)) line(`dispatcher: ${running}`);
      for (const plan of plans) {
        if (!told.has(plan.planId) && !isShownInStatus(plan, options, now)) continue;
        const words = planLine(plan);
        if (told.isNews(plan.planId, words)) line(words);
      }
      for (const id of told.gone(plans)) line(`${visible(id)}  deleted`);
    },
    close: () => undefined,
  };
}

/** The same for programs, one object per line; of all plans, as `status --json` has them. */
export function changesAsData(): StatusView {
  const told = new ToldPlans();
  return {
    show({ plans, daemon }, now) {
      const at = isoTime(now);
      const print = (value: object): void => void process.stdout.write(`${jsonText({ at, ...value })}\n`);
      if (told.isNews("", JSON.stringify(daemon))) print({ type: "dispatcher", ...daemon });
      for (const plan of plans) {
        // The evidence tells how long ago something was, which is another time at every look.
        const { activity, ...rest } = plan;
        const words = JSON.stringify({ ...rest, activity: { ...activity, evidence: undefined } });
        if (told.isNews(plan.planId, words)) print({ type: "plan", ...plan });
      }
      for (const planId of told.gone(plans)) print({ type: "deleted", planId });
    },
    close: () => undefined,
  };
}
