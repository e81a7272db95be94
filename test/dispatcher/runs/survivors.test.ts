import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openHooked } from "../../../bench/harness/hooked.ts";
import { addInboxPlans, inFolder, makeProject } from "../../../bench/harness/project.ts";
import { takeWholeInbox } from "../../../src/dispatcher/intake/intake.ts";
import { homeOf } from "../../../src/dispatcher/paths.ts";
import { recoverPlans } from "../../../src/dispatcher/runs/survivors.ts";
import { systemClock } from "../../../src/kernel/clock.ts";

test("a start removes what a killed writer left of a plan that was never activated", () =>
  inFolder(async (dir) => {
    const project = makeProject(dir);
    addInboxPlans(project, ["p"], { status: "queued" });
    const loom = await openHooked(project, { clock: systemClock });
    try {
      takeWholeInbox(loom, loom.inbox.scan());
      const { home } = homeOf(loom.paths, "p");
      writeFileSync(join(home, ".state.json.1-0.1.tmp"), "half");
      await recoverPlans(loom);
      assert.deepEqual(
        readdirSync(home).filter((name) => name.endsWith(".tmp")),
        [],
      );
    } finally {
      loom.close();
    }
  }));
