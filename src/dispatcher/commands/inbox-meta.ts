import { PrloomError } from "../../kernel/errors.ts";
import { writeFileWith } from "../../kernel/files.ts";
import type { InboxMeta } from "../../plan/record.ts";
import type { Naming, Reporting } from "../capabilities.ts";
import { type Intake, lookOf, takePlan } from "../intake/intake.ts";
import { inboxOf, type Located } from "../paths.ts";
import type { Records } from "../records.ts";

/**
 * Changes `inbox/<id>.json`, which wins for a plan in the inbox, and brings the record in line with it. With `later` the file
 * is written by the caller.
 */
export function changeInboxMeta(
  loom: Located & Naming & Records & Intake & Reporting,
  id: string,
  change: Partial<InboxMeta>,
  later?: (path: string, data: string) => void,
): void {
  const entry = loom.inbox.look(id).entries.get(id);
  if (entry?.problem !== undefined) {
    throw new PrloomError(
      "state-unreadable",
      entry.problem.reason,
      `Fix prloom/.local/inbox/${entry.problem.file} or delete it, then try again.`,
    );
  }
  const meta = { ...entry?.meta, ...change };
  const path = inboxOf(loom.paths, id).meta;
  const data = `${JSON.stringify(meta, null, 2)}\n`;
  const take = (): unknown => takePlan(loom, lookOf({ id, hasText: entry?.hasText === true, hasMeta: true, meta }), id);
  if (!later) {
    // A command that is refused, on a full disk say, must not take effect with the next look at the inbox.
    writeFileWith(path, data, take);
    return;
  }
  later(path, data);
  take();
}
