import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RUN_FILES } from "../agents/runner/run-files.ts";

/** Leaves word for the dispatcher why the rules end this run. `facts` is the run's journal, in the agent's own folder. */
export const tellEnd = (facts: string, why: string): Promise<void> =>
  writeFile(join(dirname(facts), RUN_FILES.policyEnd), JSON.stringify({ why }));
