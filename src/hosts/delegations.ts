import { EventEmitter, once } from "node:events";
import { short } from "../governance/context/fit.ts";
import type { Fact } from "../governance/graph/facts.ts";
import type { Delegation } from "../governance/graph/schema.ts";
import type { Journal } from "../governance/journal.ts";
import type { Policy } from "../governance/policy/policy-file.ts";
import type { ToolRequest } from "../governance/policy/request.ts";
import { type Role, roleNamed, roleOfSubAgent } from "../governance/policy/roles.ts";
import { inBoth } from "../governance/policy/tools/listed.ts";
import { type CallId, factId, type HostCall } from "./host-call.ts";

const STARTING_MS = 3000;
const MAX_RESULT = 500;

/** What it is called in facts, if it was allowed: an id may come again. */
interface Named {
  readonly fact: string | undefined;
}

/** A call that may start a sub-agent. */
interface Start {
  readonly id: string;
  readonly fact: string;
  readonly to: string | undefined;
  readonly node: string;
}

interface DelegationsOptions {
  readonly policy: Policy;
  readonly journal: Journal;
  now(): number;
}

/** The sub-agents of one run: what each may do, and what it was handed. Kept in memory: what stands in the journal can be forged. */
export class Delegations {
  readonly #options: DelegationsOptions;
  /** Those that may start, by the session that starts them, in the order of their calls. */
  readonly #starting = new Map<string, readonly Start[]>();
  readonly #children = new Map<string, Policy>();
  /** Sub-agents whose sessions are gone: no more than their names is kept. */
  readonly #gone = new Set<string>();
  #all: readonly Delegation[] = [];
  /** Those whose start is being recorded, and who started them. */
  readonly #binding = new Map<string, string>();
  /** Wakes those who wait until a sub-agent has started, or has not. */
  readonly #changes = new EventEmitter();

  constructor(options: DelegationsOptions) {
    this.#options = options;
  }

  /** Another object after each change. */
  get all(): readonly Delegation[] {
    return this.#all;
  }

  /** Sessions that something is kept of. */
  get size(): number {
    return this.#children.size + this.#starting.size;
  }

  policyFor(session: string): Policy {
    const { policy } = this.#options;
    return this.#children.get(session) ?? (this.#gone.has(session) ? { ...policy, node: null, session } : policy);
  }

  /** A call that may start a sub-agent was allowed to a session that works on a node. */
  noteStart({ id, fact = factId(id), session, input }: HostCall & Named, { delegate }: ToolRequest, own: string): void {
    // A session that goes on is bound already.
    if (delegate?.resumes !== undefined) return;
    const waiting = this.#starting.get(session) ?? [];
    // A task that was assigned is named in what the sub-agent is told.
    const said = JSON.stringify(input ?? null);
    const parts = this.#options.journal.brain.graph.workPlans.flatMap(({ tasks }) => tasks);
    const part = parts.find((node) => node.parent === own && node.status === "planned" && said.includes(node.id));
    this.#starting.set(session, [...waiting, { id, fact, to: delegate?.to, node: part?.id ?? own }]);
  }

  /**
   * A session that another one started: it is bound to a task before its model is asked anything. Where the host does not
   * tell by which call, and there are several, it has none: terms that were meant for another would be its own.
   */
  async childStarted(session: string, parent: string, by?: string): Promise<Policy> {
    this.#binding.set(session, parent);
    try {
      return await this.#bind(session, parent, by);
    } finally {
      this.#binding.delete(session);
      this.#changes.emit("change");
    }
  }

  async #bind(session: string, parent: string, by: string | undefined): Promise<Policy> {
    const { journal } = this.#options;
    const waiting = this.#starting.get(parent) ?? [];
    const [only, ...others] = waiting;
    const start = by !== undefined ? waiting.find(({ id }) => id === by) : others.length === 0 ? only : undefined;
    this.#starting.set(
      parent,
      waiting.filter((one) => one !== start),
    );
    const from = this.policyFor(parent);
    const without = { ...from, node: null, session };
    // It has no task until all of it is recorded.
    this.#children.set(session, without);
    const node = journal.brain.graph.workPlans.flatMap(({ tasks }) => tasks).find(({ id }) => id === start?.node);
    if (!start || !node || from.node === null) return without;
    // Programs know no roles: whatever sub-agent takes up a part has the one that it was assigned to.
    const to = roleOfSubAgent(start.to, from, node.id === from.node ? undefined : node.assignedTo).name;
    const terms = { from: from.role.name, to, node: node.id, session, parentSession: parent };
    const named = start.to === undefined ? {} : { agent: start.to.slice(0, 200) };
    const { allowedTools: tools, expectedOutput } = node;
    const delegation = { id: start.fact, ...terms, ...named, tools, expectedOutput };
    const call = { id: start.fact, session: parent };
    await journal.append({ type: "delegated", ...this.common(call, "delegated"), delegation });
    await this.#move(call, "accept", "accepted");
    if (node.parent !== undefined && node.status === "planned")
      await journal.append({ type: "node_moved", ...this.common(call, "started"), node: node.id, move: "start" });
    // The one who started it may have been recalled meanwhile.
    const policy = this.policyFor(parent).node === null ? without : childPolicy(from, delegation);
    this.#all = [...this.#all, { ...delegation, state: "accepted" }];
    this.#children.set(session, policy);
    return policy;
  }

  /** The call that started a sub-agent is over, and with it what was handed over; `said` is what was brought back. */
  async ended({ id, fact, session }: CallId & Named, move: "complete" | "fail", said?: string): Promise<void> {
    const starting = this.#starting.get(session) ?? [];
    if (move === "fail")
      this.#starting.set(
        session,
        starting.filter((one) => one.id !== id),
      );
    this.#changes.emit("change");
    const result = said === undefined ? "" : short(said, MAX_RESULT);
    if (fact !== undefined && this.#all.some((one) => one.id === fact))
      await this.#move({ id: fact, session }, move, "ended", result === "" ? {} : { result });
  }

  /** Until what a session starts has started: one call of several made at once may be about another. Not for long. */
  async settled(session: string): Promise<void> {
    const late = AbortSignal.timeout(STARTING_MS);
    const isStarting = (): boolean =>
      (this.#starting.get(session) ?? []).length > 0 || [...this.#binding.values()].includes(session);
    while (isStarting() && !late.aborted) await once(this.#changes, "change", { signal: late }).catch(() => undefined);
  }

  /** A session that was recalled has no task any more, whether its program ends it or not; the task may be handed over again. */
  async recalled(call: CallId, session: string): Promise<void> {
    const policy = this.policyFor(session);
    this.#takeTask(session);
    if (policy.node === null) return;
    const released = { type: "node_moved", node: policy.node, move: "release" } as const;
    await this.#options.journal.append({ ...released, ...this.common(call, "released") });
  }

  /** Those that it started have none either. */
  #takeTask(session: string): void {
    this.#children.set(session, { ...this.policyFor(session), node: null, session });
    const below = this.#all.filter((one) => one.parentSession === session);
    for (const one of below) if (this.policyFor(one.session).node !== null) this.#takeTask(one.session);
  }

  /** A session that is gone. A call of it that is still under way has no task: without terms it would have those of the run. */
  release(session: string): void {
    this.#starting.delete(session);
    if (this.#children.delete(session)) this.#gone.add(session);
  }

  /** What every fact about a call has. */
  common({ id, session }: CallId, what: string): Pick<Fact, "key" | "at" | "session" | "role"> {
    const role = this.policyFor(session).role.name;
    return { key: `${session}:${factId(id)}:${what}`.slice(0, 500), at: this.#options.now(), session, role };
  }

  async #move(call: CallId, move: "accept" | "complete" | "fail", what: string, more = {}): Promise<void> {
    const moved = { type: "delegation_moved", delegation: factId(call.id), move, ...more } as const;
    await this.#options.journal.append({ ...moved, ...this.common(call, what) });
  }
}

type HandedOver = Pick<Delegation, "to" | "node" | "tools" | "session">;

/** What a sub-agent may do: what was handed over to it, and never more than the one who did. */
function childPolicy(parent: Policy, { to, node, tools: handed, session }: HandedOver): Policy {
  const tools = handed.length > 0 ? [...handed] : null;
  return {
    ...parent,
    role: narrowed(to === parent.role.name ? undefined : roleNamed(to, parent.roles), parent.role),
    node,
    tools: parent.tools && tools ? inBoth(parent.tools, tools) : (parent.tools ?? tools),
    session,
  };
}

/** A role as far as another one has it, too. */
function narrowed(role: Role | undefined, parent: Policy["role"]): Policy["role"] {
  if (!role) return parent;
  return {
    name: role.name,
    tools: inBoth(role.tools, parent.tools),
    paths: parent.paths.includes("**") ? [...role.paths] : role.paths.filter((path) => parent.paths.includes(path)),
    shell: role.shell === "none" || parent.shell === "work" ? role.shell : parent.shell,
    governs: Object.fromEntries(Object.entries(role.governs).map(([tool, actions]) => [tool, [...actions]])),
  };
}
