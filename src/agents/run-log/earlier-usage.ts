import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "../../kernel/errors.ts";
import { readSummary } from "./run-log.ts";
import type { ModelUsage } from "./run-summary.ts";

const NONE = { input: 0, output: 0, cached: 0, costUsd: 0 };

/**
 * What the other runs beside this one have told about a conversation. Some programs count a conversation from its
 * beginning; the rest is then what this run spent, together with what runs spent that were cut off before they told.
 */
export function earlierUsage(runDir: string, sessionId: string | undefined): Required<ModelUsage> {
  if (sessionId === undefined) return NONE;
  const summaries = otherRuns(runDir).map(readSummary);
  const models = summaries.filter((one) => one.sessionId === sessionId).flatMap((one) => Object.values(one.models));
  return models.reduce(
    (sum: Required<ModelUsage>, { input, output, cached, costUsd = 0 }) => ({
      input: sum.input + input,
      output: sum.output + output,
      cached: sum.cached + cached,
      costUsd: sum.costUsd + costUsd,
    }),
    NONE,
  );
}

function otherRuns(runDir: string): string[] {
  try {
    const folder = dirname(runDir);
    const entries = readdirSync(folder, { withFileTypes: true });
    const others = entries.filter((entry) => entry.isDirectory() && entry.name !== basename(runDir));
    return others.map(({ name }) => join(folder, name));
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}
