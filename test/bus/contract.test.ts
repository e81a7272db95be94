import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFileLog } from "../../src/bus/file/log.ts";
import { createFilePlanStore } from "../../src/bus/file/plan-store.ts";
import { logContract, manualClock } from "../testing/contracts/bus-contract.ts";
import { planStoreContract } from "../testing/contracts/plan-store-contract.ts";
import { createMemoryLog } from "../testing/memory/log.ts";
import { createMemoryPlanStore } from "../testing/memory/plan-store.ts";

function temporary(): { dir: string; dispose(): void } {
  const dir = mkdtempSync(join(tmpdir(), "prloom-bus-"));
  return { dir, dispose: () => rmSync(dir, { recursive: true, force: true }) };
}

function fileLog(segmentBytes: number) {
  const { dir, dispose } = temporary();
  const root = (scope: { planId?: string }): string => join(dir, scope.planId ?? "global", "bus");
  return { log: createFileLog({ root, clock: manualClock(), segmentBytes }), dispose };
}

logContract("files", () => fileLog(8 * 1024 * 1024));
logContract("files, segments of two records", () => fileLog(150));
logContract("memory", () => ({ log: createMemoryLog({ clock: manualClock() }), dispose: () => undefined }));

planStoreContract("files", () => {
  const { dir, dispose } = temporary();
  return { store: createFilePlanStore({ plansDir: join(dir, "plans"), clock: manualClock() }), dispose };
});
planStoreContract("memory", () => ({ store: createMemoryPlanStore(), dispose: () => undefined }));
