import { join } from "node:path";
import { LOCAL_TARGET } from "../../../bridges/local/thread.ts";
import { HUMAN_TARGET } from "../../../bridges/notify/bridge.ts";
import { GATE } from "../../../bus/names.ts";
import type { Action, BusEvent } from "../../../bus/types.ts";
import type { PlanConfig } from "../../../config/presets.ts";
import { type GateRecord, isShown, isUnanswered, postsOf } from "../../../gate/gate-record.ts";
import { partsOf } from "../../../gate/post-parts.ts";
import { commandsFor, gatePost } from "../../../gate/shown.ts";
import { matchesAny } from "../../../governance/policy/paths.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { crashPoint } from "../../../kernel/crash-point.ts";
import { PrloomError } from "../../../kernel/errors.ts";
import { readTextIfExists } from "../../../kernel/files.ts";
import { titleOf } from "../../../plan/markdown/markdown.ts";
import { wishesOf } from "../../../plan/metadata.ts";
import type { PlanRecord } from "../../../plan/record.ts";
import type { Buses } from "../../buses/buses.ts";
import type { Extended } from "../../buses/extensions.ts";
import type { Naming, Reporting } from "../../capabilities.ts";
import { releasing } from "../../gates/answer-gate.ts";
import { requireEnforced } from "../../gates/enforced.ts";
import type { Gated } from "../../gates/gate-store.ts";
import { putNewGate } from "../../gates/new-gate.ts";
import { endGates, gateOf, gatesOf, putGates, untoldGate, waitingGate, whatPlanSays } from "../../gates/plan-gate.ts";
import { isRedirected, postedAs, readPosts, replacedFor, showAgain, threadOf } from "../../gates/posting.ts";
import type { PlanText } from "../../intake/plan-texts.ts";
import { homeOf, type Located } from "../../paths.ts";
import { planText, type Records } from "../../records.ts";
import type { Configured } from "../../settings/pinned.ts";

/** In a plan's home: the text as it was before the designer's first design. */
export const GIVEN_WORDS = "given.md";

/** Closes the door before the plan is implemented. That it was shown is the next step's. */
export async function openGate(
  loom: Located & Naming & Configured & Records & Gated & Extended,
  record: PlanRecord,
  config: PlanConfig,
): Promise<void> {
  await requireEnforced(loom.config, Object.fromEntries(config.agents.worker.map((agent) => [agent.name, agent])));
  const ownLogin = await postedAs(loom, record);
  const text = planText(loom, record);
  if (!text) return;
  const before = gateOf(loom, record);
  const { gate: _, prGate: __, ...settings } = wishesOf(record.metadata).wishes;
  const says = whatPlanSays(record, text);
  putNewGate(loom, record, {
    ...{ kind: "plan", before, ...says, text: text.text },
    shown: (gateId) =>
      gatePost({
        ...{ planId: record.id, gateId, digest: says.digest, text: text.text, settings },
        isFirst: gatesOf(loom, record).length === 0,
        isAdvisory: loom.config.gates.advisory,
        isSignable: loom.config.gates.signers !== undefined,
        ownLogin,
        since: sinceOf(loom, record, before),
        again: replacedFor(before),
        signers: namedSigners(loom, text),
      }),
  });
}

/** The file of signers, if a TODO says that it is to be changed. */
function namedSigners({ config }: Configured, { doc }: PlanText): string | undefined {
  const { signers } = config.gates;
  const paths = doc.todos.flatMap(({ settings }) => settings.paths ?? []);
  return signers !== undefined && matchesAny(signers, paths, "any-case") ? signers : undefined;
}

function sinceOf(loom: Located, { id }: PlanRecord, before: GateRecord | undefined) {
  if (before) return { text: before.text, what: `gate ${before.gateId}` };
  const given = readTextIfExists(join(homeOf(loom.paths, id).home, GIVEN_WORDS));
  return given === undefined ? undefined : { text: given, what: "the words that it was made from" };
}

/** Shows a gate, or says what became of it: in the thread, on the global bus, and to people. A repetition after a kill adds nothing. */
export function tellGate(loom: Located & Records & Buses & Gated & Extended & Reporting, record: PlanRecord): void {
  const untold = untoldGate(loom, record);
  if (!untold) return;
  const gate = untold.state === "open" ? placed(loom, record, untold) : untold;
  if (isUnanswered(gate)) {
    tellOnBus(loom, gate);
    return;
  }
  loom.globalBus().appendEvents([...approvalEvents(gate), gateEvent(gate)]);
  const isOpen = gate.state === "open";
  const actions = isOpen ? openedActions(loom, record, gate) : [decidedAction(record, gate)];
  settleGate(loom, record, `gate-${gate.gateId}-${gate.state}`, actions);
  noteTold(loom, gate);
  if (!isOpen) tellPeople(loom, record, gate);
}

function noteTold(loom: Records & Gated, gate: GateRecord): void {
  crashPoint("gate:told");
  putGates(loom, gate.planId, [{ ...gate, told: gate.state }]);
}

/** Where people talk, the next gate says why it is shown. */
function tellOnBus(loom: Records & Buses & Gated, gate: GateRecord): void {
  if (gate.told !== undefined) loom.globalBus().appendEvents([gateEvent(gate)]);
  noteTold(loom, gate);
}

/**
 * The plan is about to be deleted. Before that, since no step of it follows: a kill leaves a plan that is there, and shown again. A gate
 * that cannot be read keeps no plan.
 */
export function tellLast(loom: Records & Buses & Gated, record: PlanRecord): void {
  try {
    endGates(loom, record, "the plan was deleted");
    for (let gate = untoldGate(loom, record); gate; gate = untoldGate(loom, record)) tellOnBus(loom, gate);
  } catch (error) {
    if (!(error instanceof PrloomError)) throw error;
  }
}

/** Where it is shown, and in how many posts. */
function placed(loom: Extended, record: PlanRecord, gate: GateRecord): GateRecord {
  const { address, limits } = threadOf(loom, record);
  const parts = partsOf(gate.shown, gate.gateId, limits);
  return { ...gate, thread: address, ...(parts.length > 1 ? { parts } : {}) };
}

/** All of it is there to be seen: from now on it can be answered. */
export function gatePosted(
  loom: Records & Configured & Gated & Buses & Extended & Reporting,
  record: PlanRecord,
): void {
  const gate = waitingGate(loom, record);
  if (!gate || isShown(gate)) return;
  const now = loom.clock.now();
  const { expireAfterMs } = loom.config.gates;
  const expiry = expireAfterMs === undefined ? {} : { expiresAt: isoTime(now + expireAfterMs) };
  const redirected = isRedirected(loom, gate) ? { redirected: true as const } : {};
  putGates(loom, record.id, [{ ...gate, postedAt: isoTime(now), ...redirected, ...expiry }]);
  crashPoint("gate:posted");
  tellPeople(loom, record, gate);
}

function tellPeople(loom: Reporting, record: PlanRecord, gate: GateRecord): void {
  loom.report({ planId: record.id, level: gate.state === "approved" ? "good" : "warn", text: inShort(record, gate) });
}

/** A person need not be asked any more; if one has to be later, the plan is shown again. */
export function dropGate(loom: Records & Gated & Reporting, record: PlanRecord): void {
  const gate = waitingGate(loom, record);
  if (!gate) return;
  const why = `gates.${gate.kind} was switched off`;
  endGates(loom, record, why);
  crashPoint("gate:dropped");
  loom.report({ planId: record.id, level: "warn", text: `does not wait for an answer any more: ${why}` });
}

/** People are told once more; the plan itself is in the thread already, unless it was deleted or edited there. */
export async function remindOfGate(
  loom: Located & Records & Buses & Gated & Extended,
  record: PlanRecord,
): Promise<void> {
  const asked = waitingGate(loom, record);
  const posts = asked && (await readPosts(loom, asked));
  const gate = waitingGate(loom, record);
  // Answered meanwhile.
  if (!gate || gate.gateId !== asked?.gateId) return;
  if (posts?.kind === "changed") {
    showAgain(loom, gate, posts.what);
    return;
  }
  const reminders = gate.reminders + 1;
  const id = `gate-${gate.gateId}-reminder-${reminders}`;
  settleGate(loom, record, id, [notice(loom, record, { gate, id, title: "still waits for your answer" })]);
  crashPoint("gate:reminded");
  putGates(loom, record.id, [{ ...gate, reminders, remindedAt: isoTime(loom.clock.now()) }]);
}

function settleGate(loom: Buses, { id }: PlanRecord, record: string, actions: Action[]): void {
  const marks = { closed: true, about: "event" } as const;
  loom.bus(id).settle({ record, handler: GATE, outcome: "handled", actions, marks });
}

/** An approval that was withdrawn before it was told: one decision more. */
function approvalEvents(gate: GateRecord): BusEvent[] {
  const { state, told, approval } = gate;
  return state === "withdrawn" && told === "open" ? [gateEvent({ ...gate, ...approval, state: "approved" })] : [];
}

function gateEvent(gate: GateRecord): BusEvent {
  const { gateId, planId, kind, digest, state, decidedBy, via } = gate;
  const isOpen = state === "open";
  return {
    id: `gate-${gateId}-${state}`,
    source: "prloom",
    type: isOpen ? "gate_opened" : "gate_decided",
    severity: "info",
    title: `${planId}: ${isOpen ? "a gate was opened" : state}`,
    body: gate.comment ?? "",
    context: { gateId, planId, kind, digest, state, ...(decidedBy === undefined ? {} : { by: decidedBy }), via },
  };
}

function openedActions(loom: Located & Records, record: PlanRecord, gate: GateRecord): Action[] {
  const id = `gate-${gate.gateId}-notice`;
  return [
    ...postsOf(gate).map((post) => comment(record, gate, post)),
    notice(loom, record, { gate, id, title: "waits for your answer" }),
  ];
}

function decidedAction(record: PlanRecord, gate: GateRecord): Action {
  const id = `gate-${gate.gateId}-${gate.state}`;
  // Where it could not be shown, nothing else gets through either.
  const place = gate.postedAt === undefined ? {} : gate;
  return comment(record, place, { id, body: `${inShort(record, gate)} (gate ${gate.gateId})` });
}

function comment({ id: token }: PlanRecord, { thread }: Pick<GateRecord, "thread">, post: GatePost): Action {
  const target = thread ?? { target: LOCAL_TARGET, token };
  return { id: post.id, type: "respond", target, payload: { type: "comment", message: post.body } };
}

type GatePost = ReturnType<typeof postsOf>[number];

interface GateNotice {
  readonly gate: GateRecord;
  readonly id: string;
  readonly title: string;
}

function notice(loom: Located & Records, record: PlanRecord, { gate, id, title }: GateNotice): Action {
  const name = titleOf(planText(loom, record)?.text ?? "", record.id);
  const where = gate.kind === "pr" && record.changeRequest?.url ? ` ${record.changeRequest.url}` : "";
  const message = `\`prloom show ${record.id}\` shows it (gate ${gate.gateId}).${where} Answer with one of these:\n${commandsFor(record.id)}`;
  return {
    id,
    type: "respond",
    target: { target: HUMAN_TARGET },
    payload: {
      type: "notification",
      priority: "action",
      title: `${name}${gate.kind === "pr" ? ": the change" : ""} ${title}`,
      message,
    },
  };
}

/** What follows from an answer, by what was asked about. `after` is what has to come first, with a blank before it. */
const NEXT = {
  plan: {
    approved: (after = " now") => `it is implemented${after}`,
    revised: (after = "") => `The designer goes on with it${after}.`,
    withdrawn: (after = "") => `What was done so far stays; the plan is shown again${after}.`,
  },
  pr: {
    approved: (after = " now") => `the change is marked ready${after}; merging it is another step`,
    revised: (after = "") => `Triage goes on with it${after}.`,
    withdrawn: (after = "") => `It is not merged; the change is shown again${after}.`,
  },
};

const TOO_LATE = "That came while it was being merged, and too late.";

/** Who did what, and what happens next. */
function inShort(record: PlanRecord, gate: GateRecord): string {
  const { id } = record;
  const { kind, state, decidedBy = "prloom", via, comment: said } = gate;
  const next = NEXT[kind];
  const command = releasing(record);
  const after = command === undefined ? undefined : ` after ${command}`;
  const who = via === undefined || via === "prloom" ? decidedBy : `${decidedBy} (${via})`;
  const words = said === undefined || said === "" ? "." : `: ${said.replace(/\.?$/, ".")}`;
  switch (state) {
    case "open":
      return `waits for your answer: prloom approve ${id}`;
    case "approved":
      return `approved by ${who}: ${next.approved(after)}`;
    case "rejected":
      return `rejected by ${who}${words} \`prloom unblock ${id}\` shows it again.`;
    case "revised":
      return `sent back by ${who}${words} ${next.revised(after)}`;
    case "withdrawn":
      return `approval withdrawn by ${who}${words} ${record.status === "done" ? TOO_LATE : next.withdrawn(after)}`;
    case "expired":
      return `${said ?? "not answered in time"}. \`prloom unblock ${id}\` shows it again.`;
  }
}
