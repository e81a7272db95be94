import { basename, dirname, join } from "node:path";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import { type Anchor, bestAnchors, parseAnchors } from "../../governance/context/anchors.ts";
import { Brain } from "../../governance/graph/brain.ts";
import { GOVERNANCE_FILES } from "../../hosts/run-governance.ts";
import { readTextIfExists } from "../../kernel/files.ts";
import { readRunRecord } from "../runs/run-record.ts";
import { readFacts } from "./facts-in.ts";

/** So many earlier runs are looked at for one that was governed. */
const MAX_BACK = 20;
const MAX_CARRIED = 100;

/**
 * What earlier runs of a plan want to be known: what the last governed one was given, and what it added. A worker adds
 * nothing: it has no tool for that, and what stands in its journal all the same must not speak to those who review it.
 */
export function carriedAnchors(runDir: string, now: number): readonly Anchor[] {
  const number = Number(basename(runDir));
  for (let back = 1; back <= Math.min(MAX_BACK, number - 1); back += 1) {
    const dir = join(dirname(runDir), String(number - back));
    const given = readTextIfExists(join(dir, RUN_FILES.governance, GOVERNANCE_FILES.anchors));
    if (given === undefined) continue;
    const brain = new Brain(undefined, { anchors: parseAnchors(given) });
    if (readRunRecord(dir)?.stage !== "worker") for (const fact of readFacts(dir, '"anchor')) brain.add(fact);
    return bestAnchors(brain.anchors, { now })
      .slice(0, MAX_CARRIED)
      .map(({ anchor }) => anchor);
  }
  return [];
}
