import { join } from "node:path";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import { FACTS } from "../../hosts/run-governance.ts";
import { existsNoFollow } from "../../kernel/files.ts";

/** Where in a run's folder it stands what happened. Where the dispatcher wrote it down, nothing that the agent left counts. */
export function factsIn(runDir: string): string {
  return existsNoFollow(join(runDir, FACTS)) ? FACTS : join(RUN_FILES.agentDir, FACTS);
}
