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
  const why = exit?.reason === "exited" ? policyEnd(runDir, exit.code) : undefined;
  return exit && why !== undefined ? { ...exit, reason: "policy", error: why } : exit;
}

const MAX_WHY = 1000;

/**
 * The rules inside of a governed program ended it, or were never there. An agent can write this as well, and then only its own
 * work is not taken. A program that failed before it had them says itself why.
 */
function policyEnd(runDir: string, code: number | null): string | undefined {
  if (!existsSync(join(runDir, RUN_FILES.governance))) return undefined;
  const told = readInside(runDir, join(RUN_FILES.agentDir, RUN_FILES.policyEnd), 4 * MAX_WHY);
  const { why, isAwaited } = asFields(jsonIn(told?.toString("utf8") ?? ""));
  return isAwaited === true && code !== 0 ? undefined : asString(why)?.slice(0, MAX_WHY);
}
