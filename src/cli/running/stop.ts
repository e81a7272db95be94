import { setTimeout as sleep } from "node:timers/promises";
import { stopDaemon } from "../../dispatcher/commands/live-daemon.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { identityOf, isAlive } from "../../kernel/system/process-tree.ts";
import type { Call } from "../output.ts";
import { refuseInsideRun } from "../plans.ts";

const PATIENCE_MS = 30_000;
const LOOK_EVERY_MS = 50;

/** Ends the running dispatcher and waits until it is gone. */
export async function stop(call: Call): Promise<number> {
  refuseInsideRun(call);
  const { output } = call;
  const info = await stopDaemon(call.cwd);
  if (!info) {
    output.line("No dispatcher is running.");
    output.data({ stopped: false });
    return 0;
  }
  const identity = identityOf(info.pid);
  for (let waited = 0; identity && isAlive(identity); waited += LOOK_EVERY_MS) {
    if (waited >= PATIENCE_MS) {
      throw new PrloomError(
        "control-failed",
        `The dispatcher (pid ${info.pid}) was asked to end 30 s ago and still runs.`,
        `Wait a little, or end it by force: kill -9 ${info.pid} (nothing is lost by that).`,
      );
    }
    await sleep(LOOK_EVERY_MS);
  }
  output.line(`stopped the dispatcher (pid ${info.pid}).`);
  output.data({ stopped: true, pid: info.pid });
  return 0;
}
