import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname } from "node:path";
import type { PlanRecord } from "../../src/plan/record.ts";
import { type Counts, noCounts, startCounting } from "./counts.ts";

/** A record of a plan that a dispatcher has just written. */
export interface Note {
  /** Milliseconds of the clock that all processes of a machine share. */
  readonly at: number;
  readonly plan: string;
  readonly status: PlanRecord["status"];
  readonly blocked?: string;
  /** How far the current TODO is. */
  readonly stage?: string;
  /** What the process has asked of the system since it started. */
  readonly counts: Counts;
}

/** Milliseconds of the clock that all processes of a machine share. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function noteRecord(path: string, file: string, counts: Counts): void {
  const at = sharedNow();
  const record = JSON.parse(fs.readFileSync(path, "utf8")) as PlanRecord;
  const note: Note = {
    at,
    plan: basename(dirname(path)),
    status: record.status,
    ...(record.blocked ? { blocked: record.blocked.reason } : {}),
    ...(record.current ? { stage: record.current.stage } : {}),
    counts,
  };
  fs.appendFileSync(file, `${JSON.stringify(note)}\n`);
}

// Loaded with `--import`, before the program itself. Files below the working directory are counted.
const notes = process.env.PRLOOM_BENCH_NOTES;
if (notes !== undefined) {
  const counts = noCounts();
  const rename = fs.renameSync;
  fs.renameSync = (from, to) => {
    rename(from, to);
    if (basename(String(to)) !== "state.json") return;
    const soFar = structuredClone(counts);
    noteRecord(String(to), notes, soFar);
    // Writing a note down is nothing that the program asked for.
    Object.assign(counts, soFar);
  };
  startCounting(process.cwd(), counts);
  syncBuiltinESMExports();
}
