import { join } from "node:path";
import * as z from "zod";
import { ENCLOSURE_LEVELS } from "../../agents/enclosure-level.ts";
import { STAGES, type Stage } from "../../agents/port.ts";
import { writeRunFile } from "../../kernel/files.ts";
import { readChecked } from "../../kernel/json-files.ts";
import type { PlanRecord } from "../../plan/record.ts";

const runRecordSchema = z.object({
  stage: z.enum(STAGES),
  agent: z.string(),
  attempt: z.int(),
  startedAt: z.string(),
  /** How the run was enclosed. */
  level: z.enum(ENCLOSURE_LEVELS).exactOptional(),
  model: z.string().exactOptional(),
  /** The conversation that it went on with. */
  sessionId: z.string().exactOptional(),
  /** What of the plan's work the conversation is about. */
  about: z.string().exactOptional(),
  /** Of a worker: the commit that its work comes on top of. */
  baseSha: z.string().exactOptional(),
  /** It was to resolve the conflict of a rebase. */
  resolves: z.literal(true).exactOptional(),
  /** Messages of people that its prompt carried. */
  messages: z.array(z.string()).exactOptional(),
});

/** `run.json`: what a run was started as. */
export type RunRecord = z.infer<typeof runRecordSchema>;

export function writeRunRecord(runDir: string, run: RunRecord): void {
  writeRunFile(join(runDir, "run.json"), JSON.stringify(run));
}

/** What a run was started as; undefined when it never was, or when that cannot be read. */
export function readRunRecord(runDir: string): RunRecord | undefined {
  return readChecked(join(runDir, "run.json"), runRecordSchema);
}

/** The stage that the record's run is of. */
export function stageOf(record: { readonly side?: { readonly stage: Stage } | undefined }): Stage {
  return record.side?.stage ?? "worker";
}

/** Number of the run that the record waits for, if it waits for one. */
export function awaitedRun(record: PlanRecord): number | undefined {
  if (record.current?.stage === "running") return record.current.run;
  return record.side?.run;
}
