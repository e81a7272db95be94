import type { PlanView } from "../../../src/dispatcher/steps/step.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";

const AT = "2026-01-01T00:00:00Z";
export const NOW = Date.parse(AT);
export const OPEN = "## TODO\n\n- [x] one\n- [ ] two\n";

const RECORD: PlanRecord = {
  schemaVersion: 1,
  uid: "01",
  id: "p",
  status: "active",
  hidden: false,
  paused: false,
  branch: "prloom/p",
  baseBranch: "main",
  baseSha: "a",
  worktree: "/w/p",
  worktreeReady: true,
  inInbox: false,
  runs: 0,
  createdAt: AT,
  updatedAt: AT,
  revision: 0,
  metadata: {},
};

/** How a view differs from an active plan at rest; the text `null` is a plan whose text is gone. */
export type ViewChange = Partial<Omit<PlanView, "record" | "doc" | "bus">> & {
  readonly record?: Partial<PlanRecord>;
  readonly text?: string | null;
  readonly bus?: Partial<PlanView["bus"]>;
};

/** What `decide` is given: an active plan with an open TODO, nothing under way, and whatever is changed. */
export function planView({ record, text = OPEN, bus, ...rest }: ViewChange): PlanView {
  return {
    record: { ...RECORD, ...record },
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
    cleanAfterMs: 1000,
    ...rest,
  };
}
