import { join } from "node:path";
import { programOf } from "../../agents/adapters.ts";
import type { Instructions } from "../../agents/port.ts";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import type { StageAgent } from "../../config/presets.ts";
import { fileAt } from "../../git/file-at.ts";
import { placeFile } from "../../kernel/held/files.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Located } from "../paths.ts";

const MAX_BYTES = 32 * 1024;

/**
 * A repository's instructions for the program of an agent, from the commit that the plan began with: what agents wrote since
 * must not instruct the next one, nor the one that reviews them. A program that may read the repository's settings reads its
 * own. The file is this run's copy, in the run's own folder; the run can spoil it for itself alone.
 */
export async function instructionsFor(
  loom: Located,
  record: PlanRecord,
  { agent, runDir }: { agent: StageAgent; runDir: string },
): Promise<Instructions | undefined> {
  const names = agent.projectSettings ? [] : (programOf(agent)?.instructionFiles ?? []);
  if (names.length === 0 || record.baseSha === undefined) return undefined;
  const found = await fileAt(loom.repo, { commit: record.baseSha, names, mostBytes: MAX_BYTES });
  if (!found) return undefined;
  const file = join(RUN_FILES.agentDir, "instructions.md");
  placeFile(runDir, file, found.text);
  return { ...found, file: join(runDir, file) };
}
