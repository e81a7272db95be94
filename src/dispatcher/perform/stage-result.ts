import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseTriageResult, type TriageResult } from "../../agents/results/triage-result.ts";
import { lastWords } from "../../agents/run-log/run-log.ts";
import { readExit } from "../../agents/runner/run-exit.ts";
import type { BusEvent } from "../../bus/types.ts";
import type { PlanConfig } from "../../config/presets.ts";
import { readAnswer } from "../../gate/answer.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { readTextIfExists } from "../../kernel/files.ts";
import { counted } from "../../kernel/text/words.ts";
import { appendTracedTodos, reopenDone } from "../../plan/edit-plan.ts";
import { parsePlan, type Todo, todoTitle } from "../../plan/markdown/markdown.ts";
import { visibleText } from "../../plan/markdown/visible.ts";
import type { PlanRecord, SideRun } from "../../plan/record.ts";
import { mergeUpsert } from "../../plan/upserts/merge-upsert.ts";
import { endedByPolicy } from "../acceptance/judge-run.ts";
import { settleMissing, settleRefusal } from "../acceptance/settle-refusal.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import { tellPolicyEnd } from "../buses/notify-person.ts";
import type { Publishing, Reporting } from "../capabilities.ts";
import { GIVEN } from "../enclosure/run-copy.ts";
import { takeLeft } from "../enclosure/run-view.ts";
import type { Gated } from "../gates/gate-store.ts";
import { writeAmended } from "../gates/plan-gate.ts";
import { homeOf, type Located, REVIEW_RESULT, RUN_COPY, TRIAGE_RESULT, textPath, worktreeOf } from "../paths.ts";
import { blockPlan, planText, type Records, updateRecord } from "../records.ts";
import type { Pooled } from "../runs/agent-pool.ts";
import { countRun, withoutSessions } from "../runs/count-run.ts";
import { wordsAboutRun } from "../runs/program-words.ts";
import type { Configured } from "../settings/pinned.ts";
import { isDesignDue } from "../steps/decide.ts";
import { isReviewed } from "../steps/is-reviewed.ts";
import { takeBackRun } from "../worktree/set-aside.ts";
import { addressesOf, answerEvents, authorOf, givenEvents, isByApprovers } from "./answer-events.ts";
import { answerTriaged } from "./answer-triaged.ts";
import { nextRun } from "./begin.ts";
import { GIVEN_WORDS } from "./gates/gate.ts";
import { hookDue } from "./hook-due.ts";
import { beginRebase, blockImpossible } from "./rebase.ts";
import { type RebaseResult, toldRebase } from "./rebase-result.ts";
import { dropReview, type LeftReview, takeReview } from "./review.ts";

/** A run of the designer, triage or the reviewer has ended: takes its result, and nothing else that it did to the tree. */
export async function settleSide(
  loom: Located & Configured & Records & Gated & Buses & Extended & Pooled & Publishing & Reporting,
  record: PlanRecord,
  config: PlanConfig,
): Promise<void> {
  const { side } = record;
  if (!side) return;
  const runDir = homeOf(loom.paths, record.id).run(side.run);
  const exit = readExit(runDir);
  const summary = countRun(loom, record.id, side.run);
  const left = await takeLeft(runDir, worktreeOf(loom, record).path, RESULTS[side.stage]);
  tellPolicyEnd(loom, record, side.run, exit);
  crashPoint("side:left");
  if (side.stage === "reviewer" && !isReviewed(config.review, record.current ? "todo" : "end", record)) {
    await putAside(loom, record);
    return dropReview(loom, record);
  }
  if (exit?.reason === "spawn-failed") {
    if (settleMissing(loom, record, config, exit.error ?? "unknown error")) return;
    const reason = `The agent could not be started: ${exit.error ?? "unknown error"}`;
    const words = await wordsAboutRun(loom, record);
    const hint = `${words?.advice ?? ""}Install it or fix \`agents\` in prloom/config.json and run \`prloom reload\` (\`prloom doctor\` checks it), then run \`prloom unblock ${record.id}\`.`;
    blockPlan(loom, record.id, { reason, hint, cause: "step" }, (now) => nextRun(now, {}));
    return;
  }
  await putAside(loom, record);
  const problem = exit?.reason === "policy" ? endedByPolicy(exit) : await takeResult(loom, record, { left, config });
  if (problem === undefined) return;
  if (await settleRefusal(loom, record, config, summary)) return;
  const tail = lastWords(runDir, 2000).trim();
  await retrySide(loom, record, {
    config,
    missing: `${problem}${tail === "" ? "" : `\nThe end of its output:\n${tail}`}`,
  });
}

const RESULTS = { designer: RUN_COPY.plan, triage: TRIAGE_RESULT, reviewer: REVIEW_RESULT } as const;

/** Undefined, or why what it left cannot be used. */
function takeResult(
  loom: Located & Configured & Records & Gated & Buses & Extended & Publishing & Reporting,
  record: PlanRecord,
  review: LeftReview,
): Promise<string | undefined> | string | undefined {
  if (record.side?.stage === "designer") return takeDesign(loom, record, review);
  if (record.side?.stage === "reviewer") return takeReview(loom, record, review);
  return takeTriage(loom, record, review.left);
}

/** None of these writes source: what they changed in the tree is kept as a patch and taken back. */
async function putAside(loom: Located & Configured & Reporting, record: PlanRecord): Promise<void> {
  const { side } = record;
  if (!side) return;
  const patch = await takeBackRun(loom, record, { run: side.run, name: "aside" });
  if (patch !== undefined)
    loom.report({ planId: record.id, level: "warn", text: `the ${side.stage} changed files; put aside in ${patch}` });
}

async function retrySide(
  loom: Located & Configured & Records & Reporting,
  record: PlanRecord,
  failure: { config: PlanConfig; missing: string },
): Promise<void> {
  const { side } = record;
  if (!side) return;
  if (side.attempt >= failure.config.limits.attemptsPerTodo) {
    const words = await wordsAboutRun(loom, record);
    const who = words === undefined ? side.stage : `${side.stage} (${words.name})`;
    const reason = `The ${who} gave no usable result in ${counted(side.attempt, "attempt")}. ${failure.missing}`;
    const hint = `${words?.advice ?? ""}Look with \`prloom logs ${record.id}\`, then \`prloom unblock ${record.id}\` tries again${otherWay(side.stage)}.`;
    blockPlan(loom, record.id, { reason, hint, cause: "step" }, (now) =>
      nextRun(now, { attempt: 1, missing: failure.missing }),
    );
    return;
  }
  updateRecord(loom, record.id, (now) => nextRun(now, { attempt: side.attempt + 1, missing: failure.missing }));
}

/** A reviewer that fails lets nothing through, unless the config says otherwise. A program of the user's own may know its TODOs only. */
function otherWay(stage: SideRun["stage"]): string {
  if (stage === "reviewer") return ' (with `"review": "off"` in prloom/config.json: without a review)';
  return `; an agent that knows how can do it in its place (\`stages.${stage}\` in prloom/config.json, then \`prloom reload\`)`;
}

/** A design is written to be read by agents, whole, in every prompt. */
const MAX_DESIGN = 256 * 1024;

/** One that was sent back has TODOs already: a designer that did nothing would seem to have heard what was said. */
const UNCHANGED =
  "The designer left the plan as it was. Where that is right, a line below `## Decision Log` has to say why.";

function takeDesign(
  loom: Located & Records & Buses & Extended & Reporting,
  record: PlanRecord,
  { left, config }: LeftReview,
): string | undefined {
  if (left === undefined) return "The designer left no plan copy.";
  if (left.length > MAX_DESIGN) return `The designer's plan is longer than ${MAX_DESIGN / 1024} KB.`;
  const design = visibleText(left);
  const { todos, tooLarge } = parsePlan(design);
  if (tooLarge !== undefined) return `The designer's plan cannot be used. ${tooLarge}`;
  if (todos.length === 0) return "The designer's plan has no `- [ ]` items under `## TODO`.";
  if (left === givenTo(loom, record)) return UNCHANGED;
  const before = planText(loom, record);
  // Nothing more is done than was before, whatever the designer ticked.
  const wasDone = new Set(before?.doc.todos.flatMap(({ id, state }) => (state === "done" ? [id] : [])));
  const whole = withEdits(loom, record, before?.text, reopenDone(design, wasDone));
  if (whole === undefined)
    return "The plan was changed meanwhile, in a way that cannot be put together with the design.";
  if (before) keepGiven(loom, record, before.text);
  loom.texts.write(textPath(loom, record), whole);
  crashPoint("design:written");
  const events = givenEvents(loom, record);
  answerEvents(loom, record, events, { message: designAnswer(events, todos) });
  crashPoint("design:settled");
  updateRecord(loom, record.id, (now) => ({
    // A person may ask for another design.
    ...(config.gated ? {} : withoutSessions(now, ["designer"])),
    side: undefined,
    designed: true,
    revising: undefined,
    ...hookDue(loom, now, "afterDesign"),
  }));
  const heard = events.length === 0 ? "" : `, with ${counted(events.length, "comment")}`;
  loom.report({ planId: record.id, level: "good", text: `designed: ${counted(todos.length, "TODO")}${heard}` });
  return undefined;
}

/** What the plan said before it was designed: people who are to approve the design are shown what was made of it. */
function keepGiven(loom: Located & Records, { id, designed }: PlanRecord, text: string): void {
  const path = join(homeOf(loom.paths, id).home, GIVEN_WORDS);
  if (!designed && !existsSync(path)) loom.store.together((files) => files.push({ path, data: text }));
}

/** The plan as the run got it. */
function givenTo({ paths }: Located, { id, side }: PlanRecord): string | undefined {
  return readTextIfExists(join(homeOf(paths, id).run(side?.run ?? 0), GIVEN));
}

/** What a person or the plan's source changed while the designer was at work stays. */
function withEdits(loom: Located, record: PlanRecord, now: string | undefined, design: string): string | undefined {
  const given = givenTo(loom, record);
  if (now === undefined || given === undefined || now === given) return design;
  try {
    return mergeUpsert(now, design, given);
  } catch (error) {
    if (error instanceof PrloomError && error.code === "plan-invalid") return undefined;
    throw error;
  }
}

/** Names what was heard, so that its author sees that it was not passed over. */
function designAnswer(events: readonly BusEvent[], todos: readonly Pick<Todo, "text">[]): string {
  const heard = events.map(({ body, title }) => `> ${(saidIn(body) || title).split(/\r?\n/, 1)[0]?.slice(0, 200)}`);
  const items = todos.map((todo) => `- ${todoTitle(todo)}`);
  return `This went into the design of the plan:\n\n${heard.join("\n>\n")}\n\nIts TODOs:\n${items.join("\n")}`;
}

/** Of an answer at a gate, the words behind the command. */
function saidIn(body: string): string {
  const answer = readAnswer(body);
  return (answer.says === "none" ? body : answer.words || body).trim();
}

async function takeTriage(
  loom: Located & Configured & Records & Gated & Buses & Publishing & Reporting,
  record: PlanRecord,
  left: string | undefined,
): Promise<string | undefined> {
  if (left === undefined) return "Triage wrote no result to PRLOOM_RESULT_FILE.";
  const doc = planText(loom, record)?.doc;
  if (doc && isDesignDue(record, doc)) {
    updateRecord(loom, record.id, (now) => ({ ...withoutSessions(now, ["triage"]), side: undefined }));
    loom.report({
      planId: record.id,
      level: "info",
      text: "it has no TODOs of its own: the comments go to the designer",
    });
    return undefined;
  }
  const parsed = parseTriageResult(left, record.side?.events ?? []);
  if (!parsed.ok) return `Triage's result cannot be used: ${parsed.problem}`;
  const events = givenEvents(loom, record);
  addTodos(loom, record, parsed.result, events);
  crashPoint("triage:todos");
  const asked = addressesOf(events.filter(({ context }) => context?.author));
  const rebased = parsed.result.rebase_requested ? await beginRebase(loom, record, asked) : undefined;
  answerTriaged(loom, record, { result: parsed.result, events, rebased: toldRebase(record, rebased) });
  crashPoint("triage:settled");
  updateRecord(loom, record.id, (now) => ({ ...withoutSessions(now, ["triage"]), side: undefined }));
  loom.report({
    planId: record.id,
    level: "good",
    text: `triaged ${counted(events.length, "comment")} into ${counted(parsed.result.todos.length, "TODO")}${reportedRebase(rebased)}`,
  });
  if (rebased) blockImpossible(loom, record, rebased);
  return undefined;
}

/** TODOs and their provenance are one write; an event that is already there adds nothing. */
function addTodos(
  loom: Located & Configured & Records & Gated,
  record: PlanRecord,
  result: TriageResult,
  events: readonly BusEvent[],
): void {
  const text = planText(loom, record)?.text;
  if (text === undefined) return;
  const origins = new Map(events.map((event) => [event.id, { eventId: event.id, author: authorOf(event) }]));
  const todos = result.todos
    .map((todo) => ({ ...todo, from: todo.events.flatMap((id) => origins.get(id) ?? []) }))
    // What was answered already, or dropped by a person, adds none.
    .filter(({ from }) => from.length > 0);
  const next = appendTracedTodos(text, todos);
  if (next === text) return;
  // What a system or a bot asks for is shown to a person first. All that triage read counts, and not only the events that it
  // names: the words of one may have told it to name another.
  if (isByApprovers(loom, events)) writeAmended(loom, record, { text: next, by: events.map(authorOf) });
  else loom.texts.write(textPath(loom, record), next);
}

const REBASE_REPORTS = {
  conflict: "; an agent resolves the conflicts of the rebase",
  repository: "; the rebase is not possible",
  link: "; the rebase is not possible",
  lossy: "; the rebase is not possible",
  rebased: "; rebased",
  nothing: "; there was nothing to rebase",
} as const satisfies Record<RebaseResult["kind"], string>;

function reportedRebase(outcome: RebaseResult | undefined): string {
  return outcome === undefined ? "" : REBASE_REPORTS[outcome.kind];
}
