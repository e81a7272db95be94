import { basename, dirname, join } from "node:path";
import { withEvidence } from "../../governance/graph/evidence-facts.ts";
import type { Checkpoint, TaskGraph } from "../../governance/graph/schema.ts";
import { readRunRecord } from "../runs/run-record.ts";
import { readFacts } from "./facts-in.ts";

/** So many earlier runs are looked at. */
const MAX_BACK = 20;
const MAX_CARRIED = 100;

/** A graph with what earlier runs of a conversation about a TODO did for it: an agent that goes on is not told that it is missing. */
export function withCarriedEvidence(graph: TaskGraph, runDir: string, todo: string): TaskGraph {
  const number = Number(basename(runDir));
  let carried: readonly Checkpoint[] = [];
  for (let back = 1; back <= Math.min(MAX_BACK, number - 1) && carried.length < MAX_CARRIED; back += 1) {
    const dir = join(dirname(runDir), String(number - back));
    const run = readRunRecord(dir);
    if (run?.stage !== "worker") continue;
    if (run.about !== todo) break;
    const done = readFacts(dir, '"checkpoint"').flatMap((fact) =>
      fact.type === "checkpoint" ? [fact.checkpoint] : [],
    );
    // Its parts were split off in that run, and are none of this one's.
    carried = [...done.map((one) => ({ ...one, taskNodeId: todo })), ...carried];
    // It began the conversation.
    if (run.sessionId === undefined) break;
  }
  return carried.length === 0 ? graph : withEvidence(graph, new Map([[todo, carried.slice(-MAX_CARRIED)]]));
}
