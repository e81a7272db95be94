import { dependenciesOf } from "../../plan/metadata.ts";
import { sourceKey } from "../../plan/record.ts";
import type { Intake } from "../intake/intake.ts";
import type { Located } from "../paths.ts";
import { planText, type Records } from "../records.ts";
import { currentRecords } from "./current-records.ts";

/** The way from a plan back to itself over what waits for what, plans that no dispatcher has seen included. */
export function dependencyCircle(loom: Located & Records & Intake, id: string): string[] | undefined {
  const records = currentRecords(loom, loom.inbox.scan().entries);
  const byName = new Map(
    records.flatMap((record) => [
      [record.id, record] as const,
      ...(record.source ? [[sourceKey(record.source), record] as const] : []),
    ]),
  );
  const seen = new Set<string>();
  const wayBack = (name: string): string[] | undefined => {
    const record = byName.get(name);
    if (!record || seen.has(record.id) || record.outcome === "merged") return undefined;
    seen.add(record.id);
    const text = planText(loom, record);
    for (const next of text ? dependenciesOf(record.metadata, text.doc) : []) {
      const way = byName.get(next)?.id === id ? [id] : wayBack(next);
      if (way) return [record.id, ...way];
    }
    return undefined;
  };
  return wayBack(id);
}
