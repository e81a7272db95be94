import { endInhabitants } from "../../../agents/runner/survivors.ts";
import { crashPoint } from "../../../kernel/crash-point.ts";
import { PrloomError } from "../../../kernel/errors.ts";
import type { PlanRecord } from "../../../plan/record.ts";
import type { Reporting } from "../../capabilities.ts";
import type { Gated } from "../../gates/gate-store.ts";
import { doorAt, gateOf } from "../../gates/plan-gate.ts";
import type { Located } from "../../paths.ts";
import { planText, type Records, requireRecord, updateRecord } from "../../records.ts";
import type { AtWork } from "../../runs/occupancy.ts";
import type { Configured } from "../../settings/pinned.ts";
import { planConfig } from "../../settings/plan-config.ts";
import { openRunDir, openRunId } from "../close-opened.ts";

/** The approval that a run works with was taken back, or is for another plan by now: it ends as one that was interrupted. */
export async function stopRun(loom: Gated & AtWork & Reporting, record: PlanRecord): Promise<void> {
  const { id } = record;
  loom.report({ planId: id, level: "warn", text: `${whyStopped(loom, record)}: ending the run` });
  await Promise.all(loom.occupancy.runsIn(id).map((run) => run.stop()));
  // Stopped by a person: no sign that something ends the processes around the agent.
  loom.stranded.delete(id);
}

/** A plugin's worker may run inside of a step, after which alone the plan is looked at again: it is ended from here. */
export function endUnapproved(loom: Located & Configured & Records & Gated & AtWork & Reporting, id: string): void {
  const record = loom.occupancy.hasWorker(id) ? loom.store.byId(id) : undefined;
  if (!record || !loom.occupancy.whoIsIn(id).has("plugin-agent")) return;
  try {
    const config = planConfig(loom, record);
    if (config.ok && doorAt(loom, record, planText(loom, record), config.config).kind !== "open")
      void stopRun(loom, record);
  } catch (error) {
    // A gate that cannot be read opens no door.
    if (!(error instanceof PrloomError)) throw error;
    void stopRun(loom, record);
  }
}

function whyStopped(loom: Gated, record: PlanRecord): string {
  return gateOf(loom, record)?.state === "withdrawn" ? "its approval was withdrawn" : "it is not approved as it is now";
}

/**
 * The same for an agent that a person opened while the plan was approved; the person's own shell is left alone. First on record: one that
 * begins in this moment finds that it is over.
 */
export async function stopOpened(
  loom: Located & Configured & Records & Gated & Reporting,
  id: string,
): Promise<"ended" | "none"> {
  const record = requireRecord(loom, id);
  if (!record.opened?.implements) return "none";
  const note = (change: Partial<NonNullable<PlanRecord["opened"]>>): void => {
    updateRecord(loom, id, ({ opened }) => (opened ? { opened: { ...opened, ...change } } : {}));
  };
  note({ ended: true });
  crashPoint("opened:ending");
  const { stopGraceMs: graceMs } = loom.config.limits;
  await endInhabitants({ runDir: openRunDir(loom, record), runId: openRunId(record) }, { graceMs });
  note({ implements: undefined });
  const text = `${whyStopped(loom, record)}: the agent that a person had open was ended`;
  loom.report({ planId: id, level: "warn", text });
  return "ended";
}
