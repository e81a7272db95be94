import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { EnclosureLevel } from "../../../src/agents/enclosure-level.ts";
import { endGoverned } from "../../../src/dispatcher/governing/new-terms.ts";
import { Occupancy } from "../../../src/dispatcher/runs/occupancy.ts";
import { writeRunRecord } from "../../../src/dispatcher/runs/run-record.ts";

test("new rules end every agent that has the old ones, of plans and of plugins, and no other", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "prloom-terms-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const occupancy = new Occupancy({ openedBy: () => undefined, stepsOver: async () => undefined });
  const stopped: string[] = [];
  const enter = (id: string, kind: "agent" | "plugin-agent" | "command", level: EnclosureLevel): void => {
    const runDir = join(folder, id);
    mkdirSync(runDir);
    writeRunRecord(runDir, { stage: "worker", agent: "a", attempt: 1, startedAt: "2026-01-01T00:00:00.000Z", level });
    const stop = async (): Promise<void> => void stopped.push(id);
    const run = { runDir, stop, ended: new Promise<never>(() => undefined), send: () => false };
    occupancy.enter(id, kind, { run });
  };
  enter("own", "agent", "policy+sandbox");
  enter("plugin", "plugin-agent", "policy");
  enter("unjudged", "plugin-agent", "sandbox");
  enter("check", "command", "sandbox");
  const shims = {} as never;
  await endGoverned(
    { occupancy, stranded: new Map(), unrecovered: new Set(), shims, report: () => undefined },
    "the policy",
  );
  assert.deepEqual(stopped, ["own", "plugin"]);
});
