import { join } from "node:path";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import { type Fact, parseFact } from "../../governance/graph/facts.ts";
import { FACTS } from "../../hosts/run-governance.ts";
import { existsNoFollow } from "../../kernel/files.ts";
import { readLinesInside } from "../../kernel/held/files.ts";

const MAX_BYTES = 4 * 1024 ** 2;
/** So many lines are read: an agent can write more that say nothing than can be looked at in a second. */
const MAX_LINES = 10_000;

/** Where in a run's folder it stands what happened. Where the dispatcher wrote it down, nothing that the agent left counts. */
export function factsIn(runDir: string): string {
  return existsNoFollow(join(runDir, FACTS)) ? FACTS : join(RUN_FILES.agentDir, FACTS);
}

/** What a run recorded, of the lines that have a word in them. */
export function readFacts(runDir: string, word: string): readonly Fact[] {
  const journal = readLinesInside(runDir, factsIn(runDir), MAX_BYTES);
  const lines = journal?.bytes.toString("utf8").split("\n") ?? [];
  const about = lines.filter((line) => line.includes(word)).slice(0, MAX_LINES);
  return about.map(parseFact).flatMap((parsed) => ("fact" in parsed ? [parsed.fact] : []));
}
