import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RUN_FILES } from "../agents/runner/run-files.ts";

/** What the dispatcher leaves before a run: it holds until the rules are in force, and so tells of a program that never had them. */
export const AWAITED = JSON.stringify({
  why: "the program did not load prloom's plugin, and without it nothing may be changed. Look what it printed, and whether a setting switches plugins off.",
  isAwaited: true,
});

const noteBeside = (facts: string): string => join(dirname(facts), RUN_FILES.policyEnd);

/** The rules are in force. `facts` is the run's journal, in the agent's own folder. */
export const tellBegin = (facts: string): Promise<void> => rm(noteBeside(facts), { force: true });

/** Leaves word for the dispatcher why the rules end this run. */
export const tellEnd = (facts: string, why: string): Promise<void> =>
  writeFile(noteBeside(facts), JSON.stringify({ why }));
