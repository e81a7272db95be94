import { isDeepStrictEqual } from "node:util";
import type { Permission, PermitRequest, SubAgent, Told, ToldAnswer } from "../../agents/port.ts";
import { ownTool } from "../../governance/policy/tools/request-of.ts";
import { isGovernTool } from "../../governance/tools/arguments.ts";
import type { Governor } from "../../hosts/governor.ts";
import { type HostCall, keyOf } from "../../hosts/host-call.ts";
import { type HostVerdict, unjudged } from "../../hosts/host-verdict.ts";
import type { ProtectedFiles } from "../../hosts/protected-files.ts";
import { callEnded, type WorktreeLooks } from "../../hosts/record-end.ts";
import { quietly, withTimeLimit } from "../../hosts/time-limit.ts";
import type { TouchedFiles } from "../../hosts/touched-files.ts";

/** Longer than any judgement takes, and shorter than the program waits. */
const ANSWER_MS = 5000;
/** The run's own conversation among those of its sub-agents. */
const OWN = "main";
/** So many calls can be under way at once, and so many sub-agents be started: no run may fill our memory. */
const MAX_CALLS = 1000;
const MAX_SUB_AGENTS = 1000;
/** Of all these calls, in characters; one may have as many as a line of the program. */
const MAX_HELD = 64 * 1024 * 1024;

const RECALLED =
  "GOVERNANCE BLOCK: What was handed over to you is recalled. Stop, and say in your answer how far you got.";

const lengthOf = (call: HostCall): number => JSON.stringify(call).length;

const noted = (note: string): ToldAnswer => (note === "" ? {} : { note });

/**
 * Judges the calls of a program that asks us, and records what came of them. A call is asked about twice, by a hook and as a
 * permission: the second answer is the first one, unless the arguments are others by then or no hook has asked.
 */
export class RunOverseer {
  readonly #governor: Governor;
  readonly #kept: ProtectedFiles;
  readonly #looks: WorktreeLooks;
  /** Those under way. */
  readonly #calls = new Map<string, HostCall>();
  #held = 0;
  readonly #bound = new Map<string, Promise<unknown>>();
  readonly #recalled = new Set<string>();
  readonly #began: Promise<void>;
  #recording: Promise<void>;

  constructor(governor: Governor, touched: TouchedFiles, kept: ProtectedFiles) {
    this.#governor = governor;
    this.#kept = kept;
    this.#looks = { governor, touched, kept };
    this.#began = touched.begin();
    this.#recording = quietly(() => kept.begin());
  }

  /** Before a call. What is not judged in time, or cannot be, is denied unless it only reads. */
  readonly permit = async (request: PermitRequest): Promise<Permission> => {
    const verdict = await withTimeLimit(this.#judge(request), ANSWER_MS).catch((error) =>
      unjudged("claude", request, error),
    );
    if (verdict.allow) return { allow: true, ...(verdict.note === undefined ? {} : { note: verdict.note }) };
    return { allow: false, reason: verdict.text, ...(verdict.endsRun ? { endRun: true } : {}) };
  };

  readonly tell = (told: Told): Promise<ToldAnswer> => withTimeLimit(this.#heard(told), ANSWER_MS);

  /** Resolves when all that was found out about calls that are over is recorded. */
  settled(): Promise<void> {
    return this.#recording;
  }

  async #judge({ callId, tool, input, folder, by }: PermitRequest): Promise<HostVerdict> {
    const [session] = await Promise.all([this.#sessionOf(by), this.#kept.begin(), this.#began]);
    if (this.#recalled.has(session)) return { allow: false, text: RECALLED, endsRun: false };
    if (callId === undefined) throw new Error("the program does not say which call it is");
    const before = this.#calls.get(keyOf({ id: callId, session }));
    // Only the hook tells where the call is made.
    const call = { id: callId, session, tool, input, folder: folder ?? before?.folder };
    if (before && isDeepStrictEqual(before, call)) return { allow: true };
    if (before) await this.#forget(before);
    const verdict = await this.#governor.before(call);
    if (verdict.allow) await this.#remember(call);
    return verdict;
  }

  async #remember(call: HostCall): Promise<void> {
    this.#calls.set(keyOf(call), call);
    this.#held += lengthOf(call);
    for (const oldest of this.#calls.values()) {
      if (oldest === call || (this.#calls.size <= MAX_CALLS && this.#held <= MAX_HELD)) break;
      await this.#forget(oldest);
    }
  }

  async #forget(call: HostCall): Promise<void> {
    this.#let(call);
    await this.#governor.failed(call);
  }

  #let(call: HostCall): void {
    if (this.#calls.delete(keyOf(call))) this.#held -= lengthOf(call);
  }

  /** A sub-agent is bound to its task before anything of it is judged. One that no call of the run has started gets none. */
  async #sessionOf(by: SubAgent | undefined): Promise<string> {
    if (!by) return OWN;
    const { session, startedBy = "" } = by;
    await (this.#bound.get(session) ?? this.#bind(session, startedBy));
    return session;
  }

  #bind(session: string, startedBy: string): Promise<unknown> {
    if (this.#bound.size >= MAX_SUB_AGENTS) throw new Error(`the run has more than ${MAX_SUB_AGENTS} sub-agents`);
    const parent = this.#newest(startedBy)?.session ?? OWN;
    const bound = this.#governor.childStarted(session, parent, startedBy);
    this.#bound.set(session, bound);
    return bound;
  }

  /** Where the program does not say whose call it is. */
  #newest(callId: string): HostCall | undefined {
    return [...this.#calls.values()].findLast(({ id }) => id === callId);
  }

  async #heard(told: Told): Promise<ToldAnswer> {
    if (told.kind === "ended") return this.#withOwed(await this.#ended(told));
    const session = await this.#sessionOf(told.by);
    if (told.kind === "compaction") return { text: this.#governor.compaction(session) };
    return { text: this.#governor.turn(session, told.kind === "prompt" ? told.said : undefined) };
  }

  async #ended({ callId, ok, by, said }: Extract<Told, { kind: "ended" }>): Promise<ToldAnswer> {
    const named = { id: callId, session: by?.session ?? OWN };
    const call = this.#calls.get(keyOf(named)) ?? (by ? undefined : this.#newest(callId));
    // One that we know nothing of, or no more, may have run all the same: what is protected is put back after it, too.
    if (!call) return noted((await callEnded(this.#looks, named, ok)).note);
    this.#let(call);
    const tool = ownTool("claude", call.tool);
    // Only a command is run by the server, in there; all else is answered here, and what the server says does not count.
    if (ok && isGovernTool(tool) && tool !== "govern_shell") return this.#govern({ ...call, tool });
    if (this.#governor.mayTouch(call)) return this.#touchedBy(call, ok);
    if (ok) await this.#governor.after(call, { ok, files: [], said });
    else await this.#governor.failed(call);
    return {};
  }

  /** What is protected is put back, and the agent told, before it goes on; all else is found out meanwhile. */
  async #touchedBy(call: HostCall, ok: boolean): Promise<ToldAnswer> {
    const { note, record } = await callEnded(this.#looks, call, ok);
    this.#recording = this.#recording.then(() => quietly(record));
    return noted(note);
  }

  /** What was put back when the answer to a call was out already is told with the next one. */
  #withOwed(answer: ToldAnswer): ToldAnswer {
    const owed = this.#governor.owedNote();
    return owed === "" ? answer : { ...answer, note: [owed, answer.note ?? ""].join("\n").trim() };
  }

  async #govern(call: HostCall): Promise<ToldAnswer> {
    await this.#governor.after(call, { ok: true, files: [] });
    const answer = await this.#governor.govern(call);
    if ("kind" in answer) return {};
    if (answer.ends !== undefined) this.#recalled.add(answer.ends);
    return answer;
  }
}
