import { existsSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { readTextIfExists } from "../../kernel/files.ts";
import { readInside } from "../../kernel/held/files.ts";
import { asFields, asString, jsonIn } from "../../kernel/json-fields.ts";
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
  const exit = exitSchema.safeParse(jsonIn(readTextIfExists(join(runDir, RUN_FILES.exit)) ?? "")).data;
  const why = exit?.reason === "exited" ? policyEnd(runDir) : undefined;
  return exit && why !== undefined ? { ...exit, reason: "policy", error: why } : exit;
}

const MAX_WHY = 1000;

/** The rules inside of a governed program ended it. An agent can write this as well, and then only its own work is not taken. */
function policyEnd(runDir: string): string | undefined {
  if (!existsSync(join(runDir, RUN_FILES.governance))) return undefined;
  const told = readInside(runDir, join(RUN_FILES.agentDir, RUN_FILES.policyEnd), 4 * MAX_WHY);
  return told && asString(asFields(jsonIn(told.toString("utf8"))).why)?.slice(0, MAX_WHY);
}
