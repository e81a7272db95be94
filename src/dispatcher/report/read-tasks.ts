import { join } from "node:path";
import type { Anchor } from "../../governance/context/anchors.ts";
import { withResults } from "../../governance/evidence/result.ts";
import { Brain } from "../../governance/graph/brain.ts";
import type { FactRefusal } from "../../governance/graph/changes.ts";
import { type Fact, parseFact } from "../../governance/graph/facts.ts";
import { graphOfPlan } from "../../governance/graph/graph-of-plan.ts";
import { nodesOf } from "../../governance/graph/lookup.ts";
import type { TaskGraph } from "../../governance/graph/schema.ts";
import { FACTS } from "../../hosts/run-governance.ts";
import { existsNoFollow } from "../../kernel/files.ts";
import { readLinesInside } from "../../kernel/held/files.ts";
import { criteriaIn } from "../../plan/checklists/criteria.ts";
import { categoryOf } from "../../plan/metadata.ts";
import { factsIn } from "../governing/facts-in.ts";
import { workPlanStatus } from "../steps/dependencies.ts";
import type { PlanDetail } from "./read.ts";

/** The most that is read of what one run told, of all of them, and of how many runs. */
const MAX_BYTES = 4 * 1024 ** 2;
const MAX_ALL_BYTES = 2 * MAX_BYTES;
/** Of all journals: an agent can write millions that say nothing. */
const MAX_LINES = 50_000;
const MAX_RUNS = 50;
const MAX_PROBLEMS = 20;

const TOO_LARGE = "is too large to be shown whole; what comes later in it is left out";
/** An agent can replace what is written down in its own folder. */
const NO_FILE = "is not a file any more; what the run did is left out";
const NO_TODO = "its TODO was changed or taken out since; what was done for it is left out";

export interface TasksReport {
  readonly graph: TaskGraph;
  readonly anchors: readonly Anchor[];
  /** What of it cannot be understood. */
  readonly problems: readonly string[];
}

/** The tasks of a plan, with what its agents told of them: evidence, which decides nothing. */
export function readTasks({ record, summary, text: plan = "", todos, runs, before, roles }: PlanDetail): TasksReport {
  const status = workPlanStatus(record);
  const waits = summary.phase === "plan_gate" || summary.phase === "planning_complete";
  // An agent that works at that moment may go on to its end.
  const stands = (record.blocked !== undefined || record.paused) && !runs.some(({ state }) => state === "working");
  const about = { id: record.id, title: summary.title, category: categoryOf(record.metadata) };
  const inHand = record.current?.todoId;
  const isBegun = todos.some(({ id, state }) => id === inHand && state === "open");
  const isHeld = !isBegun || status !== "active" || waits || stands;
  const terms = { ...about, acceptance: criteriaIn(plan), status, todos, before, roles, inHand, isHeld };
  const brain = new Brain(graphOfPlan({ ...terms, at: Date.parse(record.updatedAt) }).graph, { roles });
  const problems: string[] = [];
  const taken = new Map<string, number>();
  const note = (run: number, line: number, problem: string): void => {
    if (problems.length < MAX_PROBLEMS) problems.push(`run ${run}, line ${line} of ${FACTS}: ${problem}`);
  };
  for (const { run, lines, trouble, isOver, todo } of journalsOf(runs)) {
    if (trouble !== undefined) problems.push(`run ${run}: ${FACTS} ${trouble}`);
    const isGone = todo !== undefined && !todos.some(({ id }) => id === todo);
    if (isGone && lines.some((line) => line.includes('"checkpoint"'))) problems.push(`run ${run}: ${NO_TODO}`);
    for (const [at, line] of lines.entries()) {
      if (line === "") continue;
      const parsed = parseFact(line);
      const outcome = "fact" in parsed ? brain.add(ofRun(run, parsed.fact, taken)) : undefined;
      if ("problem" in parsed) note(run, at + 1, parsed.problem);
      else if (outcome?.kind === "refused" && !isGone && !wasAnswered(parsed.fact, outcome.refusal))
        note(run, at + 1, outcome.refusal.reason);
    }
    if (isOver) expire(brain, run);
  }
  return { graph: withResults(brain.graph), anchors: brain.anchors, problems };
}

/** An agent asked too early, too late or twice, and was told so. */
function wasAnswered({ type }: Fact, { kind }: FactRefusal): boolean {
  return type.endsWith("_moved") && ["no-evidence", "waits", "not-a-move"].includes(kind);
}

/** With a run, what was handed over in it is over: no sub-agent outlives it, and one that was killed with it told nothing. */
function expire(brain: Brain, run: number): void {
  const common = { type: "delegation_moved", at: 0, session: null, role: "dispatcher", move: "expire" } as const;
  for (const { id, state } of brain.graph.delegations)
    if (state === "pending" || state === "accepted")
      brain.add({ ...common, key: `${run}:expired:${id}`, delegation: id });
  for (const { id, parent, status } of brain.graph.workPlans.flatMap(nodesOf))
    if (parent !== undefined && status === "active") settlePart(brain, run, id);
}

/** A part whose sub-agent came back, with the evidence that it expects, is done, whether or not that said so. Another one is open again. */
function settlePart(brain: Brain, run: number, node: string): void {
  const moved = { type: "node_moved", at: 0, session: null, role: "dispatcher", node } as const;
  const isBack = brain.graph.delegations.some((one) => one.node === node && one.state === "completed");
  const isDone = isBack && brain.add({ ...moved, key: `${run}:done:${node}`, move: "complete" }).kind === "applied";
  if (!isDone) brain.add({ ...moved, key: `${run}:released:${node}`, move: "release" });
}

/** Calls are what facts are told apart by, and in each run some providers number them anew: those of another run are others. */
function ofRun(run: number, fact: Fact, taken: Map<string, number>): Fact {
  const key = `${run}:${fact.key}`;
  const named = (id: string): string => {
    if (!taken.has(id)) taken.set(id, run);
    return taken.get(id) === run ? id : `${id} of run ${run}`;
  };
  if (fact.type === "delegated") {
    const { delegation } = fact;
    return { ...fact, key, delegation: { ...delegation, id: named(delegation.id) } };
  }
  return fact.type === "delegation_moved" ? { ...fact, key, delegation: named(fact.delegation) } : { ...fact, key };
}

interface RunJournal {
  readonly run: number;
  readonly lines: readonly string[];
  /** Why not all that was recorded is shown. */
  readonly trouble: string | undefined;
  readonly isOver: boolean;
  /** What a worker had in hand. */
  readonly todo: string | undefined;
}

/** In the order of the runs. Where it is too much, that of the newest counts. */
function journalsOf(runs: PlanDetail["runs"]): readonly RunJournal[] {
  let left = MAX_ALL_BYTES;
  let linesLeft = MAX_LINES;
  const newest = runs.slice(-MAX_RUNS).reverse();
  const read = newest.map(({ run, dir, state, stage, about, resolves }) => {
    const path = factsIn(dir);
    const found = readLinesInside(dir, path, Math.min(MAX_BYTES, left));
    left -= found?.bytes.length ?? 0;
    const all = found?.bytes.toString("utf8").split("\n") ?? [];
    const lines = all.slice(0, linesLeft);
    linesLeft -= lines.length;
    const isCut = found?.isWhole === false || lines.length < all.length;
    const trouble = isCut ? TOO_LARGE : !found && existsNoFollow(join(dir, path)) ? NO_FILE : undefined;
    const todo = stage === "worker" && !resolves ? about : undefined;
    return { run, lines, trouble, isOver: state !== "working", todo };
  });
  return read.reverse();
}
