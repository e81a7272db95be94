import { basename, dirname, join } from "node:path";
import { withEvidence } from "../../governance/graph/evidence-facts.ts";
import type { Checkpoint, TaskGraph } from "../../governance/graph/schema.ts";
import { listDir } from "../../kernel/files.ts";
import { readRunRecord } from "../runs/run-record.ts";
import { readFacts } from "./facts-in.ts";

/** So many earlier runs are looked at. */
const MAX_BACK = 20;
const MAX_CARRIED = 100;

/**
 * A graph with what earlier runs did for a TODO, where the tree is still as they left it, on top of the same commit: whoever goes on
 * there, with the conversation or as another agent, is not told that it is missing.
 */
export function withCarriedEvidence(
  graph: TaskGraph,
  runDir: string,
  { todo, baseSha }: { readonly todo: string; readonly baseSha: string },
): TaskGraph {
  const number = Number(basename(runDir));
  let carried: readonly Checkpoint[] = [];
  for (let back = 1; back <= Math.min(MAX_BACK, number - 1) && carried.length < MAX_CARRIED; back += 1) {
    const dir = join(dirname(runDir), String(number - back));
    const run = readRunRecord(dir);
    // What was there then was put aside; after a reviewer, only what it left itself.
    const ofReviewer = (name: string): boolean => run?.stage === "reviewer" && /^(?:aside|partial)/.test(name);
    if (listDir(dir).some((name) => name.endsWith(".patch") && !ofReviewer(name))) break;
    if (run?.stage !== "worker") continue;
    if (run.about !== todo || run.baseSha !== baseSha) break;
    const done = readFacts(dir, '"checkpoint"').flatMap((fact) =>
      fact.type === "checkpoint" ? [fact.checkpoint] : [],
    );
    // Its parts were split off in that run, and are none of this one's.
    carried = [...done.map((one) => ({ ...one, taskNodeId: todo })), ...carried];
  }
  return carried.length === 0 ? graph : withEvidence(graph, new Map([[todo, carried.slice(-MAX_CARRIED)]]));
}
