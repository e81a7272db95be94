import { upsertPlan } from "../../../src/dispatcher/buses/upsert.ts";
import { openAsOwner } from "../../../src/dispatcher/commands/open-as-owner.ts";

/** A process of its own that may be killed at a crash point: `core-child.ts <repository> upsert <payload>` or `… look`. */
const [, , cwd = "", command, payload = ""] = process.argv;
const owned = await openAsOwner({ cwd });
if (!owned) throw new Error("another process owns the repository");
if (command === "upsert") console.log(JSON.stringify(upsertPlan(owned.loom, JSON.parse(payload))));
else console.log(JSON.stringify(owned.loom.lifecycle().lookAll()));
owned.loom.close();
owned.lock.release();
