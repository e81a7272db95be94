import { resolve } from "node:path";
import { type Anchor, bestAnchors, isStale } from "../governance/context/anchors.ts";
import { renderCompaction } from "../governance/context/compaction.ts";
import { concernsOf } from "../governance/context/concerns.ts";
import { cutOutput, keptWhole } from "../governance/context/pruning.ts";
import { renderTurn } from "../governance/context/turn.ts";
import { type Wear, wearLines } from "../governance/context/warnings.ts";
import { checkpointOf, type EndedCall } from "../governance/evidence/checkpoint.ts";
import { findNode, sameOrder } from "../governance/graph/lookup.ts";
import type { TaskGraph } from "../governance/graph/schema.ts";
import type { Journal } from "../governance/journal.ts";
import { escalation, renderDenial, type Verdict } from "../governance/policy/denial.ts";
import { effectsOf, type Judge, judgeWith } from "../governance/policy/judge.ts";
import type { Files } from "../governance/policy/paths.ts";
import type { Policy } from "../governance/policy/policy-file.ts";
import { onlyLooks, type ToolRequest } from "../governance/policy/request.ts";
import { mutates } from "../governance/policy/rule.ts";
import { requestOf, type ToolHost } from "../governance/policy/tools/request-of.ts";
import { spelledBy } from "../governance/policy/tools/spelled-by.ts";
import type { Caller } from "../governance/tools/answer.ts";
import { isGovernTool } from "../governance/tools/arguments.ts";
import { governCall, type ShellRun } from "../governance/tools/govern.ts";
import { shortHash } from "../kernel/ids.ts";
import { Delegations } from "./delegations.ts";
import { HarmfulCalls } from "./harmful-calls.ts";
import { type CallId, factId, type HostCall } from "./host-call.ts";
import { type HostVerdict, unjudged } from "./host-verdict.ts";
import { callDigest, filesNamed, mayTouch, type OpenCall, OpenCalls } from "./open-calls.ts";
import { SessionWear } from "./session-wear.ts";

export type { HostCall };

export interface GovernAnswer {
  readonly text: string;
  /** A session that is over with it. */
  readonly ends?: string | undefined;
  /** Something is other than before: worth telling a person. */
  readonly isChange?: boolean;
}

export interface GovernorOptions {
  readonly host: ToolHost;
  readonly policy: Policy;
  readonly phase: string;
  readonly journal: Journal;
  readonly files: Files;
  now(): number;
  newId(): string;
}

/** Decides about every call of one run, records what was done, and tells each session where it stands. Knows no program. */
export class Governor {
  readonly #options: GovernorOptions;
  readonly #judge: Judge;
  readonly #open = new OpenCalls();
  readonly #sub: Delegations;
  #judged: TaskGraph | undefined;
  readonly #worn = new SessionWear();
  /** Calls that have ended, and the node that each was for. */
  readonly #nodes = new Map<string, string | null>();
  /** How often each call was denied. */
  readonly #denials = new Map<string, number>();
  readonly #harmful = new HarmfulCalls();

  constructor(options: GovernorOptions) {
    this.#options = options;
    this.#judge = judgeWith(options.files);
    this.#sub = new Delegations(options);
  }

  /** Of the run's own session. */
  get ownPolicy(): Policy {
    return this.#options.policy;
  }

  policyFor(session: string): Policy {
    return this.#sub.policyFor(session);
  }

  /** Before a tool runs. An error of ours denies what changes something, and lets reading through. */
  async before(call: HostCall): Promise<HostVerdict> {
    const asked = requestOf(this.#options.host, call);
    const digest = callDigest(asked, call.input);
    const request = digest === undefined ? { ...asked, malformed: "they are nested too deep" } : asked;
    try {
      await this.#options.journal.refresh();
      const policy = this.policyFor(call.session);
      const harm = this.#harmful.denialOf(digest);
      const verdict: Verdict = harm
        ? { allow: false, denial: harm }
        : this.#judge(request, this.#graph(), policy, this.#options.now());
      if (!verdict.allow) return await this.#denied(call, request, verdict);
      const files = filesNamed(request, policy, this.#options.files);
      const what = { digest: digest ?? "", request, node: policy.node, files, at: this.#options.now() };
      const { fact } = this.#open.open(call, what);
      if (request.kind === "delegate" && policy.node !== null)
        this.#sub.noteStart({ ...call, fact }, request, policy.node);
      return { allow: true, note: verdict.note };
    } catch (error) {
      return unjudged(this.#options.host, call, error);
    }
  }

  /** As the journal tells it, but for who was handed what. */
  #graph(): TaskGraph {
    const { graph } = this.#options.journal.brain;
    const made = this.#judged;
    if (made?.workPlans === graph.workPlans && made.delegations === this.#sub.all) return made;
    this.#judged = sameOrder({ ...graph, delegations: this.#sub.all }, graph);
    return this.#judged;
  }

  async #denied(
    call: HostCall,
    request: ToolRequest,
    verdict: Extract<Verdict, { allow: false }>,
  ): Promise<HostVerdict> {
    const { journal, policy } = this.#options;
    const digest = callDigest(request, call.input, call.session) ?? shortHash(`${call.session}:${call.tool}`);
    const fact = { tool: request.tool.slice(0, 200), rule: verdict.denial.rule, call: digest };
    // What is denied stays denied where it cannot be recorded.
    await journal.append({ type: "denied", ...this.#sub.common(call, "denied"), ...fact }).catch(() => undefined);
    // By heart as well: an agent can keep its journal from being written.
    const own = (this.#denials.get(digest) ?? 0) + 1;
    this.#denials.set(digest, own);
    const times = Math.max(own, journal.brain.denials(digest));
    const endsRun = escalation(times, policy.maxRepeatedDenials) === "ends-the-run";
    const calls = verdict.denial.calls?.map((one) => spelledBy(this.#options.host, one));
    const denial = { ...verdict.denial, ...(calls ? { calls } : {}) };
    const early = request.action?.name === "start" && denial.chain !== undefined ? request.action.node : undefined;
    if (early !== undefined) await this.#keptGate(call, early).catch(() => undefined);
    const wear = denial.chain === undefined ? [] : ["", ...wearLines(this.#graph(), this.#wear(call.session))];
    return { allow: false, text: [renderDenial(denial, request, times), ...wear].join("\n"), endsRun };
  }

  /** That a task was not begun before its time is on record with its gate. */
  #keptGate(call: HostCall, node: string): Promise<unknown> {
    return this.#options.journal.append({ type: "gate_kept", ...this.#sub.common(call, "kept"), node });
  }

  /** A session that another one started: it is bound to a task before its model is asked anything. */
  childStarted(session: string, parent: string, call?: string): Promise<Policy> {
    return this.#sub.childStarted(session, parent, call);
  }

  /** A session that is gone: what is known of it is let go. */
  released(session: string): void {
    this.#sub.release(session);
    this.#worn.release(session);
  }

  /** How many sessions something is known of. */
  get sessions(): number {
    return Math.max(this.#worn.size, this.#sub.size);
  }

  /** A call that was allowed, and failed: nothing comes of it, a sub-agent neither. */
  async failed(call: CallId): Promise<void> {
    const fact = this.#open.close(call)?.fact;
    await this.#sub.ended({ ...call, fact }, "fail");
  }

  /** After a tool ran: what counts as evidence is recorded for the session's own task. `said` is what it brought. */
  async after(
    { id, session }: CallId,
    { said, ...end }: Pick<EndedCall, "ok" | "files" | "putBack"> & { readonly said?: string | undefined },
  ): Promise<void> {
    const call = { id, session };
    const changed = this.mayTouch(call) ? this.#open.shareOf(call, end.files, this.#options.now()) : end.files;
    const open = this.#open.close(call);
    if (!open) return;
    const { request, node, fact } = open;
    if (request.kind === "delegate") await this.#sub.ended({ ...call, fact }, end.ok ? "complete" : "fail", said);
    const { policy, files, journal } = this.#options;
    this.#nodes.set(id, node);
    this.#worn.brought(session, { node });
    const effects = request.kind === "shell" ? effectsOf(request, policy, files) : undefined;
    const at = this.#options.now();
    const checkpoint =
      node === null ? undefined : checkpointOf({ id: fact, request, effects, ...end, files: changed, at }, node);
    if (checkpoint) {
      this.#worn.anchored(session);
      await journal.append({
        type: "checkpoint",
        ...this.#sub.common({ id: fact, session }, "checkpoint"),
        checkpoint,
      });
      await this.#renew({ id: fact, session }, checkpoint.taskNodeId, checkpoint.filesModified);
    } else if (effects ? mutates(effects) : !onlyLooks(request.kind)) this.#worn.drifted(session);
  }

  /** A call that changed what is protected is denied from then on. What its agent is told, once that is put back. */
  changedProtected(call: CallId, files: readonly string[]): string {
    return this.#harmful.changed(this.#suspect(call), files);
  }

  /** The same, told when the agent had gone on: where it was found by then, another call can have done it, and none is denied. */
  changedLater(call: CallId, files: readonly string[], { isSure = false } = {}): void {
    const isBlamed = isSure || this.#open.isAlone(call, this.#options.now());
    this.#harmful.changedLater(isBlamed ? this.#suspect(call) : undefined, files);
  }

  /** A call that can have changed more than was judged. If it cannot, a script did that is still at work, or another call. */
  #suspect(call: CallId): OpenCall | undefined {
    const open = this.#open.get(call);
    if (open?.request.kind === "other") return open;
    if (open?.request.kind !== "shell") return undefined;
    return mutates(effectsOf(open.request, this.#options.policy, this.#options.files)) ? open : undefined;
  }

  /** What a session is still to be told of protected files, with the next answer to a call. */
  owedNote(): string {
    return this.#harmful.owed();
  }

  /** Whether a call can have changed files; one that nothing is known about can. */
  mayTouch(call: CallId): boolean {
    return mayTouch(this.#open.get(call)?.request.kind);
  }

  /** A governance tool: its answer, or a command that the host is to run. */
  async govern(call: HostCall): Promise<GovernAnswer | ShellRun> {
    const { journal, newId, now } = this.#options;
    if (!isGovernTool(call.tool)) return { text: `REFUSED: There is no tool "${call.tool}".` };
    if (call.tool === "govern_delegate") await this.#sub.settled(call.session);
    await journal.refresh();
    const policy = this.policyFor(call.session);
    const caller: Caller = {
      session: call.session,
      call: this.#open.get(call)?.fact ?? factId(call.id),
      role: policy.role.name,
      node: policy.node,
      now: now(),
      isDispatched: true,
      newId,
    };
    const prepared = governCall({ tool: call.tool, input: call.input }, caller, journal.brain);
    if (prepared.kind === "answer") return { text: prepared.text };
    if (prepared.kind === "run") return prepared;
    const outcome = await journal.append(prepared.fact);
    if (call.tool === "anchor") this.#worn.anchored(call.session);
    const ends = outcome.kind === "refused" ? undefined : prepared.ends;
    if (ends !== undefined) await this.#sub.recalled(call, ends);
    return { text: prepared.answer(outcome, journal.brain), ends, isChange: outcome.kind !== "refused" };
  }

  /** What is added to the last message of each turn; `said` is that message. */
  turn(session: string, said = ""): string {
    const delegation = this.#sub.all.findLast((one) => one.session === session);
    const wear = this.#wear(session);
    const view = this.#view(session);
    const known = view.anchors.map(({ anchor }) => anchor);
    return renderTurn({ ...view, delegation, wear, concerns: concernsOf(said, view.graph, known) });
  }

  /** Outputs that are to be cut, by their place, with what is left of them. */
  cutOutputs(outputs: readonly { call: string; text: string }[]): ReadonlyMap<number, string> {
    const { graph } = this.#options.journal.brain;
    const seen = outputs.map(({ call }) => ({ node: this.#nodes.get(call) ?? null }));
    const kept = keptWhole(graph, seen);
    return new Map(outputs.flatMap(({ text }, at) => (kept.has(at) ? [] : [[at, cutOutput(text)] as const])));
  }

  compaction(session: string): string {
    return renderCompaction(this.#view(session));
  }

  /** Facts about a file end with the file. */
  #isThere({ entityType, entity }: Anchor): boolean {
    if (entityType !== "file" || entity === undefined) return true;
    const { files, policy } = this.#options;
    return files.kind(resolve(policy.root, entity)) !== undefined;
  }

  /** What is said about a file or a task counts as new when that was worked on. */
  async #renew(call: CallId, node: string, changed: readonly string[]): Promise<void> {
    const { journal } = this.#options;
    const touched = new Set([node, ...changed]);
    for (const { id, entity } of journal.brain.anchors)
      if (entity !== undefined && touched.has(entity))
        await journal.append({ type: "anchor_renewed", ...this.#sub.common(call, `renewed:${id}`), anchor: id });
  }

  #wear(session: string): Wear {
    const now = this.#options.now();
    const stale = this.#anchors().filter((anchor) => anchor.priority !== "critical" && isStale(anchor, now));
    return { drift: this.#worn.drift(session), outputs: this.#worn.outputs(session), stale: stale.length, now };
  }

  #anchors(): readonly Anchor[] {
    return this.#options.journal.brain.anchors.filter((anchor) => this.#isThere(anchor));
  }

  #view(session: string) {
    const { journal, phase, now } = this.#options;
    const [{ graph }, { node }] = [journal.brain, this.policyFor(session)];
    const anchors = bestAnchors(this.#anchors(), { now: now(), inHand: findNode(graph, node ?? "")?.node });
    return { phase, graph, node, anchors };
  }
}
