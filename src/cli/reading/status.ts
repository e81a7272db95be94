import { pathsOf } from "../../dispatcher/paths.ts";
import { askOthers, readStatus } from "../../dispatcher/report/read.ts";
import { openRepository } from "../../git/repository.ts";
import type { Call } from "../output.ts";
import { reading } from "../plans.ts";
import { type StatusOptions, statusLines } from "./status-lines.ts";

/** Shows all plans and what goes on around them. */
export async function status(call: Call, options: StatusOptions): Promise<number> {
  const repo = await openRepository(call.cwd);
  const asked = await askOthers(pathsOf(repo));
  const { report, now } = await reading({ ...call, repo }, async (loom) => ({
    report: await readStatus(loom, asked),
    now: loom.clock.now(),
  }));
  const { output } = call;
  output.data(report);
  if (output.json) return 0;
  const { table, around } = statusLines(output, report, { options, now });
  // One write: a table of a thousand rows would otherwise be a thousand of them.
  output.line([...table, "", ...around].join("\n"));
  return 0;
}
