import * as z from "zod";
import { liveDaemon } from "../../dispatcher/commands/live-daemon.ts";
import { callOwner } from "../../dispatcher/commands/owner.ts";
import { onlyAtStart, type ReloadAnswer } from "../../dispatcher/commands/reload.ts";
import { pathsOf } from "../../dispatcher/paths.ts";
import { openRepository } from "../../git/repository.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Call, Output } from "../output.ts";
import { refuseInsideRun } from "../plans.ts";
import { visible } from "../render/safe-text.ts";

const answerSchema = z.object({
  digest: z.string(),
  changes: z.array(z.object({ key: z.string(), from: z.string(), to: z.string(), loosens: z.boolean() })),
  needsStart: z.boolean(),
  taken: z.boolean(),
});

/** Lets the dispatcher work with what is checked out now; asks first where that permits more, or checks less. */
export async function reload(call: Call, options: { yes?: boolean }): Promise<number> {
  refuseInsideRun(call);
  const { output } = call;
  const running = (await liveDaemon(pathsOf(await openRepository(call.cwd)))) !== undefined;
  const offer = answerSchema.parse(await callOwner(call.cwd, "reload", {}));
  if (offer.changes.length === 0) {
    // A file that is written differently and means the same is applied without a word.
    await callOwner(call.cwd, "reload", { digest: offer.digest });
    output.line("Nothing changes: what is checked out is what the dispatcher works with.");
    output.data({ taken: false, running, changes: [] });
    return 0;
  }
  showChanges(call, offer);
  if (offer.needsStart) throw onlyAtStart();
  if (!options.yes && !(await agreed(call, offer))) {
    output.line("Nothing was applied.");
    return 0;
  }
  const { taken } = answerSchema.parse(await callOwner(call.cwd, "reload", { digest: offer.digest }));
  output.line(running ? "The dispatcher works with this from now on." : "Taken over; no dispatcher is running.");
  output.data({ taken, running, changes: offer.changes });
  return 0;
}

function showChanges({ output }: Call, { changes }: ReloadAnswer): void {
  const rows = changes.map(({ key, from, to, loosens }) => [
    visible(key),
    visible(from),
    visible(to),
    loosens ? ({ text: "loosens", style: "yellow" } as const) : "",
  ]);
  const columns = [
    { header: "SETTING", whole: true },
    { header: "NOW", flexible: true },
    { header: "ON DISK", flexible: true },
    { header: "" },
  ];
  output.table(columns, rows);
  output.line();
  for (const change of changes) showWhole(output, change);
}

/** As much as a narrow terminal leaves of a cell. */
const CELL = 20;

/** What a person is to agree to must not end in "…": a command does what its end says. */
function showWhole(output: Output, { key, from, to }: ReloadAnswer["changes"][number]): void {
  if (Math.max(from.length, to.length) <= CELL) return;
  output.line(`${visible(key)}, now:     ${visible(from)}`);
  output.line(`${visible(key)}, on disk: ${visible(to)}`);
  output.line();
}

async function agreed(call: Call, { changes }: ReloadAnswer): Promise<boolean> {
  const loosened = changes.filter(({ loosens }) => loosens).map(({ key }) => visible(key));
  if (loosened.length === 0) return true;
  const what = `This permits what was not permitted, or checks less: ${loosened.join(", ")}.`;
  if (call.output.terminal && process.stdin.isTTY) {
    const { confirm, isCancel } = await import("../prompts.ts");
    const answer = await confirm({ message: `${what} Apply it?`, initialValue: false });
    return !isCancel(answer) && answer;
  }
  const hint = "Nothing was applied. If you mean it: prloom reload --yes";
  throw new PrloomError("reload-refused", what, hint);
}
