import { PrloomError } from "../../kernel/errors.ts";
import { writeFileAtomic } from "../../kernel/files.ts";
import type { InboxMeta } from "../../plan/record.ts";
import type { Naming, Reporting } from "../capabilities.ts";
import { type Intake, lookOf, takePlan } from "../intake/intake.ts";
import { inboxOf, type Located } from "../paths.ts";
import type { Records } from "../records.ts";

/** Changes `inbox/<id>.json`, which wins for a plan in the inbox, and brings the record in line with it. */
export function changeInboxMeta(
  loom: Located & Naming & Records & Intake & Reporting,
  id: string,
  change: Partial<InboxMeta>,
  write: (path: string, data: string) => void = writeFileAtomic,
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
  write(inboxOf(loom.paths, id).meta, `${JSON.stringify(meta, null, 2)}\n`);
  takePlan(loom, lookOf({ id, hasText: entry?.hasText === true, hasMeta: true, meta }), id);
}
