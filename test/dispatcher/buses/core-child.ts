import { upsertPlans } from "../../../src/dispatcher/buses/upsert.ts";
import { openAsOwner } from "../../../src/dispatcher/commands/open-as-owner.ts";
import { lookAll } from "../told.ts";

/** A process of its own that may be killed at a crash point: `core-child.ts <repository> upsert <payload or payloads>` or `… look`. */
const [, , cwd = "", command, payload = ""] = process.argv;
const owned = await openAsOwner({ cwd });
if (!owned) throw new Error("another process owns the repository");
if (command === "upsert") {
  const { result, safe } = upsertPlans(owned.loom, [JSON.parse(payload)].flat());
  await safe;
  console.log(JSON.stringify(result[0]));
} else console.log(JSON.stringify(lookAll(owned.loom)));
owned.loom.close();
owned.lock.release();
