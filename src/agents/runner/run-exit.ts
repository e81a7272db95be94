import { join } from "node:path";
import * as z from "zod";
import { readTextIfExists } from "../../kernel/files.ts";
import { jsonIn } from "../../kernel/json-fields.ts";
import { EXIT_REASONS, type RunExit } from "../port.ts";
import { RUN_FILES } from "./run-files.ts";

const exitSchema = z.object({
  reason: z.enum(EXIT_REASONS),
  code: z.number().nullable(),
  signal: z.string().nullable(),
  startedAt: z.string(),
  endedAt: z.string(),
  outputBytes: z.number(),
  truncated: z.boolean(),
  leftBehind: z.number(),
  error: z.string().exactOptional(),
});

/** How the run ended, or undefined when it has no exit: it still runs, or it was interrupted. */
export function readExit(runDir: string): RunExit | undefined {
  return exitSchema.safeParse(jsonIn(readTextIfExists(join(runDir, RUN_FILES.exit)) ?? "")).data;
}
