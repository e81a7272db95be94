import type { ImportReport } from "../../dispatcher/commands/import-issues.ts";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import { counted } from "../../kernel/text/words.ts";
import type { Call } from "../output.ts";
import { refuseInsideRun, tellWithoutDispatcher } from "../plans.ts";
import { visible } from "../render/safe-text.ts";

export interface ImportOptions {
  readonly queue?: boolean;
  readonly dryRun?: boolean;
  readonly claim?: boolean;
}

/** Makes plans of issues that are there already. */
export async function importCommand(
  call: Call,
  wanted: readonly string[],
  { queue = false, dryRun = false, claim = false }: ImportOptions,
): Promise<number> {
  refuseInsideRun(call);
  const { output } = call;
  const report = (await callOwner(call.cwd, "import", { wanted, queue, dryRun, claim })) as ImportReport;
  const { repository, issues, more } = report;
  for (const { number, title = "", planId, had, problem } of issues) {
    const issue = `#${number}${title === "" ? "" : ` ${visible(title)}`}`;
    if (problem !== undefined) output.line(output.paint("yellow", `${issue}: not imported: ${visible(problem)}`));
    else if (had !== undefined) output.line(`${issue}: has the plan ${planId} already (${had})`);
    else if (planId === undefined) output.line(`${issue}: would become a ${queue ? "queued plan" : "draft"}`);
    else output.line(`${issue}: ${planId} (${queue ? "queued" : "draft"})`);
  }
  if (issues.length === 0) output.line(`No issues of ${repository} match.`);
  if (more > 0) output.line(`${counted(more, "more issue")} matched: narrow the search, or repeat it for the rest.`);
  output.data({ ...report, dryRun });
  if (queue && !dryRun && issues.some(({ planId, had }) => planId !== undefined && had === undefined))
    await tellWithoutDispatcher(call);
  return issues.some(({ problem }) => problem !== undefined) ? 1 : 0;
}
