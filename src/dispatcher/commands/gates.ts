import { localComment } from "../../bridges/local/thread.ts";
import type { GateDecision, GateRecord } from "../../gate/gate-record.ts";
import { stateAfter } from "../../gate/gate-record.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import type { Naming, Waking } from "../capabilities.ts";
import { answerGate, releasing } from "../gates/answer-gate.ts";
import type { Gated } from "../gates/gate-store.ts";
import { gateOf, meantGate, newestGates, waitingGate } from "../gates/plan-gate.ts";
import { readPosts, showAgain } from "../gates/posting.ts";
import type { Located } from "../paths.ts";
import { stopOpened } from "../perform/gates/stop-run.ts";
import { backToDraft, isToBeTakenBack } from "../publishing/held-back.ts";
import type { PublishingAtWork } from "../publishing/note-published.ts";
import { type Records, requireRecord } from "../records.ts";
import type { Configured } from "../settings/pinned.ts";

export interface PersonalAnswer {
  readonly decision: GateDecision;
  /** The gate that the person was shown; without it, the newest is meant. */
  readonly gateId?: string | undefined;
  readonly words: string;
  /** Under which name the words stand in the thread, and the user of the machine who gave the answer. */
  readonly author: string;
  readonly by: string;
}

export interface AnsweredGate {
  readonly plan: string;
  readonly gateId: string;
  readonly kind: GateRecord["kind"];
  readonly digest: string;
  readonly state: GateRecord["state"];
  /** The command without which nothing follows from it. */
  readonly after?: string;
}

export interface EndedWork {
  readonly endedOpened?: true | undefined;
  /** It was to become a draft again; `ready`: why it did not. */
  readonly changeRequest?: { readonly ready?: string } | undefined;
}

/** A person answers at a command line. */
export function answerPlan(
  loom: Located & Naming & Configured & Records & Gated & Buses,
  id: string,
  answer: PersonalAnswer,
): AnsweredGate {
  const { decision, words, author, by } = answer;
  const record = requireRecord(loom, id);
  const named = newestGates(loom, record).find(({ gateId }) => gateId === answer.gateId);
  const gate = named ?? meantGate(loom, record, decision);
  if (!gate) throw late(id, "it was not shown to anyone yet");
  const { gateId = gate.gateId } = answer;
  if (decision === "revise") {
    if (words.trim() === "")
      throw new PrloomError("usage", "What is to change?", `Type: prloom revise ${id} "what to change"`);
  }
  const isHeard = decision === "revise" && gateId === gate.gateId && stateAfter(gate.state, decision);
  const event = isHeard ? { event: say(loom, id, { gateId, words, author }) } : {};
  const outcome = answerGate(loom, id, { decision, gateId, words, by, via: "cli", ...event });
  if (outcome.kind === "stale") throw late(id, outcome.why);
  const { kind, digest, state } = outcome.gate;
  const after = releasing(requireRecord(loom, id));
  return { plan: id, gateId, kind, digest, state, ...(after === undefined ? {} : { after }) };
}

/**
 * A person may have read the plan where it was posted, and answer here. A tracker that cannot be reached keeps no answer
 * from here: `prloom show` has the words that were posted. Without a dispatcher no bridge is loaded, and nothing is asked.
 */
export async function requirePosts(loom: Records & Gated & Extended & Waking, id: string): Promise<void> {
  const gate = waitingGate(loom, requireRecord(loom, id));
  const posts = gate?.postedAt === undefined || gate.lost ? undefined : await readPosts(loom, gate);
  const now = waitingGate(loom, requireRecord(loom, id));
  if (posts?.kind !== "changed" || now?.gateId !== gate?.gateId || !now) return;
  const isShownAgain = showAgain(loom, now, posts.what) === "shown-again";
  loom.wake(id);
  throw new PrloomError(
    "plan-state",
    `Nothing was decided about ${id}: ${posts.what}.`,
    isShownAgain
      ? `The plan is shown again; \`prloom show ${id}\` has it, then answer that.`
      : `What is posted does not stay there. \`prloom show ${id}\` has the plan; answer that, and it counts.`,
  );
}

/** What an approval had let begin, and what is not to go on till a dispatcher looks. */
export async function endWithdrawn(loom: PublishingAtWork, id: string): Promise<EndedWork> {
  const record = requireRecord(loom, id);
  const isWithdrawn = gateOf(loom, record)?.state === "withdrawn";
  const opened = isWithdrawn && (await stopOpened(loom, id)) === "ended" ? { endedOpened: true as const } : {};
  return { ...opened, ...(isToBeTakenBack(loom, record) ? { changeRequest: await takenBack(loom, record) } : {}) };
}

/** A server that cannot be reached keeps no person from taking back; that it may merge meanwhile is told. */
async function takenBack(loom: PublishingAtWork, record: PlanRecord): Promise<EndedWork["changeRequest"]> {
  try {
    const { refused } = await backToDraft(loom, record);
    return refused === undefined ? {} : { ready: refused };
  } catch (error) {
    return { ready: messageOf(error) };
  }
}

function late(id: string, why: string): PrloomError {
  return new PrloomError("plan-state", `Nothing was decided about ${id}: ${why}.`, `\`prloom show ${id}\` tells more.`);
}

/**
 * The designer hears it as it hears every comment. As the answer that it is: words alone could be read as another one, and
 * after a kill they are the only trace of it.
 */
function say(
  loom: Naming & Records & Buses,
  id: string,
  said: { gateId: string; words: string; author: string },
): string {
  const eventId = `local-${loom.ids.ulid(loom.clock.now())}`;
  const body = `/revise ${said.gateId}\n${said.words}`;
  loom.bus(id).appendEvents([localComment({ id: eventId, planId: id, author: said.author, body })]);
  return eventId;
}
