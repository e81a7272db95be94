import { writeFileSync } from "node:fs";
import { type Counts, startCounting } from "./counts.ts";

/** What a counted process leaves behind in the file that PRLOOM_BENCH_COUNTS names. */
export interface ProcessCounts extends Counts {
  /** The most memory it ever had, in bytes. */
  readonly peakMemory: number;
  /** Whether the schema library was loaded. */
  readonly schemas: boolean;
}

// Loaded with `--import`, before the program itself. Files below the working directory are counted.
const file = process.env.PRLOOM_BENCH_COUNTS;
if (file !== undefined) {
  const stop = startCounting(process.cwd());
  process.on("exit", () => {
    // It leaves its settings there.
    const schemas = "__zod_globalConfig" in globalThis;
    const counts: ProcessCounts = { ...stop(), peakMemory: process.resourceUsage().maxRSS * 1024, schemas };
    writeFileSync(file, JSON.stringify(counts));
  });
}
