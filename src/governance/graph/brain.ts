import type { Anchor } from "../context/anchors.ts";
import { type Change, type FactRefusal, refuse } from "./changes.ts";
import { delegate, keepGate, moveDelegation, refuseCheckpoint, withEvidence } from "./evidence-facts.ts";
import type { AddedRoles } from "./expected-output.ts";
import type { Fact, FactOf } from "./facts.ts";
import { nodesOf } from "./lookup.ts";
import { makeGraph } from "./make-graph.ts";
import { type Given, makePlan, moveNode, movePlan, planNodes, purgePlan } from "./plan-facts.ts";
import type { Checkpoint, TaskGraph } from "./schema.ts";

const MAX_ANCHORS = 1000;

export type FactOutcome =
  | { readonly kind: "applied" | "known" | "claimed" }
  | { readonly kind: "refused"; readonly refusal: FactRefusal };

interface Known {
  /** Those of earlier runs. */
  readonly anchors?: readonly Anchor[] | undefined;
  readonly roles?: AddedRoles | undefined;
}

/**
 * What the facts of a journal say, in the order in which they stand there. Plans and nodes that are given come from the
 * dispatcher: facts add evidence and claims to them, and move only what facts have made.
 */
export class Brain {
  #graph: TaskGraph;
  /** Evidence that is not in the graph yet: most facts are that, and a graph that is new for each of them costs more than it. */
  readonly #evidence = new Map<string, Checkpoint[]>();
  readonly #given: Given;
  readonly #roles: AddedRoles;
  readonly #seen = new Set<string>();
  readonly #anchors = new Map<string, Anchor>();
  /** Those of each session. */
  readonly #anchored = new Map<string | null, string[]>();
  readonly #denials = new Map<string, number>();

  constructor(given: TaskGraph = makeGraph(), { anchors = [], roles = {} }: Known = {}) {
    this.#graph = given;
    this.#roles = roles;
    for (const anchor of anchors) this.#anchors.set(anchor.id, anchor);
    this.#given = new Set(given.workPlans.flatMap((plan) => [plan.id, ...nodesOf(plan).map(({ id }) => id)]));
  }

  /** Another object after each change. */
  get graph(): TaskGraph {
    if (this.#evidence.size > 0) {
      this.#graph = withEvidence(this.#graph, this.#evidence);
      this.#evidence.clear();
    }
    return this.#graph;
  }

  get anchors(): readonly Anchor[] {
    return [...this.#anchors.values()];
  }

  /** The ids of those that a session made. */
  anchoredBy(session: string): readonly string[] {
    return this.#anchored.get(session) ?? [];
  }

  /** How often the same call was denied. */
  denials(call: string): number {
    return this.#denials.get(call) ?? 0;
  }

  /** One that was refused may come again, when more is known. */
  add(fact: Fact): FactOutcome {
    if (this.#seen.has(fact.key)) return { kind: "known" };
    const change = this.#change(fact);
    if (change.kind === "refused") return change;
    this.#seen.add(fact.key);
    if (change.kind !== "known") this.#graph = change.graph;
    return { kind: change.kind };
  }

  #change(fact: Fact): Change {
    if (fact.type === "checkpoint") return this.#noteEvidence(fact.checkpoint);
    // Neither says anything about the graph.
    const graph = fact.type === "denied" || fact.type === "anchored" ? this.#graph : this.graph;
    const given = this.#given;
    switch (fact.type) {
      case "plan_made":
        return makePlan(graph, fact);
      case "plan_moved":
        return movePlan(graph, fact, given);
      case "plan_purged":
        return purgePlan(graph, fact);
      case "nodes_planned":
        return planNodes(graph, fact, given);
      case "node_moved":
        return moveNode(graph, fact, { given, roles: this.#roles });
      case "gate_kept":
        return keepGate(graph, fact);
      case "delegated":
        return delegate(graph, fact);
      case "delegation_moved":
        return moveDelegation(graph, fact);
      case "anchored":
        this.#anchor(fact.anchor);
        this.#noteAnchor(fact);
        return { kind: "applied", graph };
      case "anchor_renewed": {
        const anchor = this.#anchors.get(fact.anchor);
        if (!anchor) return refuse("no-anchor", `There is no anchor "${fact.anchor}".`);
        this.#anchor({ ...anchor, validatedAt: fact.at });
        return { kind: "applied", graph };
      }
      case "denied":
        this.#denials.set(fact.call, this.denials(fact.call) + 1);
        return { kind: "applied", graph };
    }
  }

  #noteAnchor({ session, anchor: { id } }: FactOf<"anchored">): void {
    const noted = this.#anchored.get(session);
    if (!noted) this.#anchored.set(session, [id]);
    else if (noted.length < MAX_ANCHORS) noted.push(id);
  }

  #noteEvidence(checkpoint: Checkpoint): Change {
    const refusal = refuseCheckpoint(this.#graph, checkpoint, this.#given);
    if (refusal) return refusal;
    const noted = this.#evidence.get(checkpoint.taskNodeId);
    if (noted) noted.push(checkpoint);
    else this.#evidence.set(checkpoint.taskNodeId, [checkpoint]);
    return { kind: "applied", graph: this.#graph };
  }

  /** The oldest that is not critical makes room. */
  #anchor(anchor: Anchor): void {
    this.#anchors.set(anchor.id, anchor);
    if (this.#anchors.size <= MAX_ANCHORS) return;
    const all = this.anchors;
    const oldest = all.find(({ priority }) => priority !== "critical") ?? all[0];
    if (oldest) this.#anchors.delete(oldest.id);
  }
}
