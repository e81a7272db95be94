import type { StatusReport } from "../../dispatcher/read.ts";
import type { Output } from "../output.ts";
import { firstLine, visible } from "./safe-text.ts";
import { shortDuration } from "./time.ts";

const SHOWN_LETTERS = 5;

/** What waits to be tried again, and what was given up with the id that `prloom retry` takes. */
export function busState(output: Output, { deferred, dead }: Pick<StatusReport, "deferred" | "dead">): void {
  if (deferred.count > 0)
    output.line(
      `deferred: ${deferred.count} record(s) wait to be tried again, the oldest for ${shortDuration(deferred.oldestMs)}`,
    );
  if (dead.count === 0) return;
  output.line(output.paint("red", `dead: ${dead.count} record(s) were given up (\`prloom retry <id>\` tries again)`));
  for (const letter of dead.letters.slice(0, SHOWN_LETTERS)) {
    const where = letter.planId === undefined ? "" : ` of ${visible(letter.planId)}`;
    output.line(`  ${visible(letter.record)}${where}  ${visible(letter.handler)}: ${firstLine(letter.reason)}`);
  }
  if (dead.letters.length > SHOWN_LETTERS)
    output.line(`  … and ${dead.letters.length - SHOWN_LETTERS} more: \`prloom status --json\``);
}
