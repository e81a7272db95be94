import { join } from "node:path";
import type { Envelope } from "../../../src/bus/ports.ts";
import { busEventSchema } from "../../../src/bus/types.ts";
import { type PlanRecord, planRecordSchema } from "../../../src/plan/record.ts";
import type { Project } from "../../testing/project.ts";
import { toldSchema } from "./bus-facts.ts";
import { differs, repeated } from "./differs.ts";
import { type PlanFacts, planFacts, type RepositoryFacts, repositoryFacts } from "./facts.ts";
import { lifecycleProblems } from "./lifecycle-invariants.ts";

/** A comment that was made through the CLI. */
export interface Said {
  readonly body: string;
  /** The CLI said that it is recorded; a killed dispatcher may have recorded one that it did not confirm. */
  readonly confirmed: boolean;
}

export interface ExpectedPlan {
  readonly id: string;
  /** TODOs without those that comments add. */
  readonly todos: readonly string[];
  readonly said: readonly Said[];
}

export interface Expected {
  readonly plans: readonly ExpectedPlan[];
  /** Plans beside them that were merged or deleted: their homes and branches stay. */
  readonly ended?: readonly string[];
  /** Plans that were deleted before any work on them: only their homes stay. */
  readonly neverBegun?: readonly string[];
  /** Plans that lie in the inbox and are not worked on. */
  readonly drafts?: readonly string[];
  /** Those that ended and whose worktree is still there. */
  readonly endedWithWorktree?: readonly string[];
  /** How many lines `initCommands` have to have left in each worktree. */
  readonly initLines?: number;
}

/** Everything that must hold once the dispatcher had time to finish; what does not is told in sentences. */
export function brokenInvariants(project: Project, expected: Expected): string[] {
  const records = new Map<string, PlanRecord>();
  const problems = expected.plans.flatMap((plan) => {
    const facts = planFacts(project, plan.id);
    const parsed = planRecordSchema.safeParse(facts.record);
    if (!parsed.success) return [`${plan.id}: its record does not parse: ${parsed.error.message}`];
    records.set(plan.id, parsed.data);
    const found = [
      ...recordProblems(parsed.data),
      ...workProblems(facts, parsed.data, plan),
      ...threadProblems(facts, plan),
      ...treeProblems(facts, parsed.data, expected.initLines ?? 0),
    ];
    return found.map((problem) => `${plan.id}: ${problem}`);
  });
  const main = project.root;
  return [
    ...problems,
    ...repositoryProblems(repositoryFacts(project), { records, main, expected }),
    ...lifecycleProblems(project),
  ];
}

function recordProblems(record: PlanRecord): string[] {
  const problems: string[] = [];
  const say = (wrong: boolean, text: string): void => void (wrong && problems.push(text));
  say(record.status !== "review", `is ${record.status}, not in review`);
  say(record.blocked !== undefined, `is blocked: ${record.blocked?.reason}`);
  say(record.current !== undefined || record.side !== undefined, "its record still names a run");
  say(record.rebase !== undefined, "its record still names a rebase");
  say(!record.worktreeReady || record.inInbox, "its activation is not complete");
  say(record.changeRequest?.state !== "open" || !record.changeRequest.ready, "its change request is not ready");
  return problems;
}

/** Done once each, in order, and nothing else: TODOs, ticks, commits, and the lines that the work itself left. */
function workProblems(facts: PlanFacts, record: PlanRecord, plan: ExpectedPlan): string[] {
  const added = recordedBodies(facts).flatMap((body) =>
    body.startsWith("please ") ? [body.slice("please ".length)] : [],
  );
  const texts = facts.todos.map((todo) => todo.text.replace(/ <!-- .* -->$/, ""));
  const steps = facts.todos.map((todo) => `${record.uid}/${todo.id}/1`);
  const lines = texts.flatMap((text) => ["begin", "middle", "end"].map((part) => `${part} ${text}`));
  const open = facts.todos.filter((todo) => todo.state !== "done").map((todo) => todo.text);
  return [
    ...differs("its TODOs", texts.toSorted(), [...plan.todos, ...added].toSorted()),
    ...differs("TODOs without a tick", open, []),
    ...differs(
      "the trailers of its commits",
      facts.commits.map((commit) => commit.step),
      steps,
    ),
    ...differs("what the work left", facts.work.map(withoutProvenance), lines),
    ...differs("agents that overlapped", facts.overlap, ""),
  ];
}

function withoutProvenance(line: string): string {
  return line.replace(/ <!-- .* -->$/, "");
}

function recordedBodies(facts: PlanFacts): string[] {
  return facts.logs.events.flatMap((record) => {
    const event = busEventSchema.safeParse(record.data);
    return event.success && event.data.source === "local" ? [event.data.body] : [];
  });
}

/** Each comment is there once, was triaged once and answered once, and nothing in the journals is foreign. */
function threadProblems(facts: PlanFacts, plan: ExpectedPlan): string[] {
  const bodies = recordedBodies(facts);
  const sayable = new Set(plan.said.map((said) => said.body));
  const lost = plan.said.filter((said) => said.confirmed && !bodies.includes(said.body)).map((said) => said.body);
  const replies = facts.logs.thread.filter(isReply).map((record) => String((record.data as { body: unknown }).body));
  // Triage answers what it was given, and so does the dispatcher for what went into the design.
  const answered = replies.flatMap((reply) =>
    [...reply.matchAll(/<re (.*)>|^> (.+)$/gm)].map((match) => match[1] ?? match[2] ?? ""),
  );
  const events = facts.logs.events
    .filter(({ data }) => isForTriage((data as { body: string }).body))
    .map((record) => record.id ?? "");
  return [
    ...differs("comments that were lost", lost, []),
    ...differs("comments that were not made", [...new Set(bodies).difference(sayable)], []),
    ...differs("comments that are there twice", repeated(bodies), []),
    ...differs("the comments that were answered", answered.toSorted(), bodies.filter(isForTriage).toSorted()),
    ...differs("the events that were triaged", triagedEvents(facts).toSorted(), events.toSorted()),
    ...differs("dead letters", facts.logs.dead.length, 0),
    ...differs("quarantined lines", facts.logs.quarantine.map((record) => record.data).filter(isForeign), []),
  ];
}

/** Words that begin like this are for plugins. */
function isForTriage(body: string): boolean {
  return !body.startsWith("/");
}

function isReply(record: Envelope): boolean {
  return (record.data as { author?: unknown }).author === "prloom";
}

/** The beginning of a record that a kill cut off is not a loss: its writer never said that it was written. */
function isForeign(entry: unknown): boolean {
  const line = String((entry as { line?: unknown }).line);
  return !line.startsWith('{"ts":') || line.endsWith("}}");
}

/** Ids of events in settlements of triage; those that did not win would be here too. */
function triagedEvents(facts: PlanFacts): string[] {
  const settlements = facts.logs.settled
    .filter(({ kind }) => kind === "settlement")
    .map(({ data }) => toldSchema.parse(data))
    .filter(({ handler }) => handler === "triage");
  return settlements.flatMap((settlement) => [settlement.record, ...(settlement.also ?? [])]);
}

function treeProblems(facts: PlanFacts, record: PlanRecord, initLines: number): string[] {
  const { listed, status } = facts.worktree;
  return [
    ...(listed ? [] : ["git does not know its worktree"]),
    ...differs("the state of its worktree", status, `## ${record.branch}\n`),
    ...differs("the lines of its initCommands", facts.init.length, initLines),
  ];
}

function repositoryProblems(
  facts: RepositoryFacts,
  around: { records: ReadonlyMap<string, PlanRecord>; main: string; expected: Expected },
): string[] {
  const { records, main, expected } = around;
  const plans = [...records.values()];
  const { ended = [], endedWithWorktree = [], neverBegun = [], drafts = [] } = expected;
  const branches = ["main", ...plans.map((record) => record.branch ?? ""), ...ended.map((id) => `prloom/${id}`)];
  const kept = endedWithWorktree.map((id) => join(main, "prloom", ".local", "worktrees", id));
  const worktrees = [main, ...plans.map((record) => record.worktree ?? ""), ...kept];
  const homes = [...records.keys(), ...ended, ...neverBegun, ...drafts];
  const inbox = drafts.flatMap((id) => [`${id}.json`, `${id}.md`]);
  return [
    ...differs("the branches", facts.branches.toSorted(), branches.toSorted()),
    ...differs("the worktrees", facts.worktrees.toSorted(), worktrees.toSorted()),
    ...differs("the homes of plans", facts.homes.toSorted(), homes.toSorted()),
    ...differs("the inbox", facts.inbox.toSorted(), inbox.toSorted()),
    ...differs("files left behind", facts.leftovers, []),
    ...differs("what fsck says", facts.fsck, ""),
    ...differs("processes left behind", facts.processes, []),
  ];
}
