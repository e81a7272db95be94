import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type BusEvent, busEventSchema } from "../../../src/bus/types.ts";
import { listDir } from "../../../src/kernel/files.ts";
import { type PlanRecord, planRecordSchema } from "../../../src/plan/record.ts";
import type { Project } from "../../testing/project.ts";
import { readLogs } from "./bus-facts.ts";
import { differs } from "./differs.ts";

const ID = /^(plan_created|plan_edited|plan_status_changed|plan_deleted)-(.+)-(\d+)$/;

interface Told {
  readonly type: string;
  readonly seq: number;
  readonly context: Readonly<Record<string, unknown>>;
}

/** What was told of each plan is one chain from its creation to what it is now: no link is missing, none is there twice. */
export function lifecycleProblems(project: Project): string[] {
  const events = readLogs(project, {}).events.map(({ data }): BusEvent => busEventSchema.parse(data));
  const chains = new Map<string, Told[]>();
  for (const { id, source, context } of events) {
    const [, type, uid, seq] = source === "prloom" ? (ID.exec(id) ?? []) : [];
    if (type === undefined || uid === undefined) continue;
    chains.set(uid, [...(chains.get(uid) ?? []), { type, seq: Number(seq), context: context ?? {} }]);
  }
  const records = readRecords(project);
  // Of a plan that came and went while the dispatcher did not look there is nothing to tell.
  const untold = records.filter(({ uid, deleted }) => !chains.has(uid) && !deleted).map(({ id }) => id);
  const foreign = [...chains.keys()].filter((uid) => !records.some((record) => record.uid === uid));
  const broken = records.flatMap((record) =>
    chainProblems(project, record, chains.get(record.uid) ?? []).map((problem) => `${record.id}: ${problem}`),
  );
  return [
    ...differs("plans that nothing was told of", untold, []),
    ...differs("told of no plan", foreign, []),
    ...broken,
    ...records.flatMap((record) => phaseProblems(record, events)),
  ];
}

/** Each phase follows on another, and the last is the one that the record has as told. */
function phaseProblems({ id, uid, toldPhase }: PlanRecord, events: readonly BusEvent[]): string[] {
  const told = events.filter((event) => event.id.startsWith(`plan_phase_changed-${uid}-`));
  const phases = told.map(({ context }) => context?.newPhase);
  const before = told.map(({ context }) => context?.oldPhase);
  return [
    ...differs(`${id}: the phase that was told last`, phases.at(-1), toldPhase?.phase),
    ...differs(`${id}: what its phases follow on`, before, [undefined, ...phases].slice(0, phases.length)),
  ];
}

function readRecords(project: Project): PlanRecord[] {
  const plans = join(project.authority, "plans");
  return listDir(plans)
    .map((id) => join(plans, id, "state.json"))
    .filter((file) => existsSync(file))
    .map((file) => planRecordSchema.parse(JSON.parse(readFileSync(file, "utf8"))));
}

function chainProblems(project: Project, record: PlanRecord, chain: readonly Told[]): string[] {
  const [first, ...later] = chain;
  if (!first) return [];
  const problems = differs(
    "the numbers of its events",
    chain.map(({ seq }) => seq),
    chain.map((_, index) => index + 1),
  );
  const types = chain.map(({ type }) => type);
  problems.push(...differs("its first event", first.type, "plan_created"));
  problems.push(
    ...differs("how often its creation was told", types.filter((type) => type === "plan_created").length, 1),
  );
  let { status, hash } = first.context;
  for (const { type, seq, context } of later) {
    if (type === "plan_status_changed") {
      problems.push(...differs(`the old status in event ${seq}`, context.oldStatus, status));
      if (context.newStatus === status) problems.push(`event ${seq} changes nothing`);
      status = context.newStatus;
    }
    if (type === "plan_edited") {
      problems.push(...differs(`the old hash in event ${seq}`, context.oldHash, hash));
      if (context.newHash === hash) problems.push(`event ${seq} changes nothing`);
      hash = context.newHash;
    }
  }
  return [...problems, ...endProblems(project, record, { types, status, hash })];
}

interface End {
  readonly types: readonly string[];
  readonly status: unknown;
  readonly hash: unknown;
}

/** The last link is what is true now. */
function endProblems(project: Project, record: PlanRecord, { types, status, hash }: End): string[] {
  const ends = types.flatMap((type, index) => (type === "plan_deleted" ? [index] : []));
  const isOver = record.deleted !== undefined || (record.status === "done" && !record.worktreeReady);
  const problems = differs("where its end was told", ends, isOver ? [types.length - 1] : []);
  if (record.deleted) return problems;
  const inbox = record.status === "draft" || record.status === "queued";
  const file = inbox ? join(project.inbox, `${record.id}.md`) : join(project.authority, "plans", record.id, "plan.md");
  const now = createHash("sha256").update(readFileSync(file)).digest("hex");
  return [
    ...problems,
    ...differs("the last status that was told", status, record.status),
    ...differs("the last text that was told", hash, now),
  ];
}
