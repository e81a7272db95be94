import type { PlanView } from "../../../src/dispatcher/steps/step.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";
import { planRecord } from "../../testing/plan-record.ts";

const AT = "2026-01-01T00:00:00Z";
export const NOW = Date.parse(AT);

/** A plan that is active and on which nothing is under way. */
export const activeRecord = planRecord("01", {
  id: "p",
  status: "active",
  branch: "prloom/p",
  baseBranch: "main",
  baseSha: "a",
  worktree: "/w/p",
  worktreeReady: true,
  inInbox: false,
  runs: 1,
  createdAt: AT,
  updatedAt: AT,
});

export type ViewChange = Partial<Omit<PlanView, "record" | "doc" | "bus">> & {
  readonly record?: Partial<PlanRecord>;
  /** Null: the plan has no readable text. */
  readonly text: string | null;
  readonly bus?: Partial<PlanView["bus"]>;
};

/** What `decide` looks at: nothing is in the way, but for what is given. */
export function planView({ record, text, bus, ...rest }: ViewChange): PlanView {
  return {
    record: { ...activeRecord, ...record },
    doc: text === null ? undefined : parsePlan(text),
    run: "none",
    config: { ok: true, config: {} as never },
    dependencies: { kind: "met" },
    worktree: "ok",
    hookAgent: false,
    bus: { fresh: 0, pending: [], ...bus },
    change: "none",
    slots: { agent: true, open: true },
    agent: { kind: "free" },
    prDoor: { kind: "open" },
    door: { kind: "open" },
    remindAfterMs: 1000,
    cleanAfterMs: 1000,
    ...rest,
  };
}
