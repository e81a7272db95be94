import { EventEmitter, once } from "node:events";
import type { LiveRun } from "../../agents/port.ts";
import type { ShimPool } from "../../agents/shim/pool.ts";
import { isAlive, type ProcessIdentity } from "../../kernel/system/process-tree.ts";

/** Who may be in the worktree of a plan. */
export type OccupantKind =
  /** A step of the plan that may touch the worktree. */
  | "step"
  /** The agent of the plan. */
  | "agent"
  /** A check, an initCommand, the commit hooks. */
  | "command"
  /** Plugins are called before the next step. Nothing of ours is in there; an agent that they ask for may be. */
  | "plugin-call"
  /** An agent of a plugin, or the place that is kept free for it. */
  | "plugin-agent"
  /** What a person is asked about must stay as it was shown. */
  | "gate"
  /** The branch is being merged: what a step made of it meanwhile would count as merged, and would not be. */
  | "merge"
  /** The base, or the server, is told of the merge: it cannot be called off any more. */
  | "landing"
  /** A person (`prloom open`). On record, so that it is known to the next dispatcher too. */
  | "person";

interface Occupant {
  readonly kind: Exclude<OccupantKind, "person">;
  readonly run?: LiveRun;
  /** It implements the plan: a worker, the plan's own or a plugin's. */
  readonly implements?: true;
  /** Ends what has no process of its own. */
  stop?(): void;
}

/** Lets one out that came in; a second call does nothing. */
export type Leave = () => void;

export interface OccupancyOptions {
  /** The process that keeps a plan open, as its record says. */
  openedBy(planId: string): ProcessIdentity | undefined;
  /** Resolves when no step of the plan is under way. */
  stepsOver(planId: string): Promise<void>;
}

/** Who is in the worktrees of the plans. Whatever wants to touch one asks here, and says so here. */
export class Occupancy {
  readonly #options: OccupancyOptions;
  readonly #plans = new Map<string, Set<Occupant>>();
  readonly #changes = new EventEmitter().setMaxListeners(0);

  constructor(options: OccupancyOptions) {
    this.#options = options;
  }

  enter(planId: string, kind: Occupant["kind"], what: Omit<Occupant, "kind"> = {}): Leave {
    const occupant = { kind, ...what };
    this.#plans.set(planId, (this.#plans.get(planId) ?? new Set()).add(occupant));
    this.#changed(planId);
    return () => {
      const left = this.#plans.get(planId);
      if (!left?.delete(occupant)) return;
      if (left.size === 0) this.#plans.delete(planId);
      this.#changed(planId);
    };
  }

  /** Comes in as soon as the tree is free, with no pause between the look and the entrance. */
  async enterWhenFree(planId: string, kind: Occupant["kind"], signal: AbortSignal): Promise<Leave> {
    signal.throwIfAborted();
    while (!this.isFree(planId)) await this.#nextChange(planId, signal);
    return this.enter(planId, kind);
  }

  /** Comes in as soon as no step is under way, whatever else is there. */
  async enterBetweenSteps(planId: string, kind: Occupant["kind"]): Promise<Leave> {
    while (this.#within(planId).some((occupant) => occupant.kind === "step")) await this.#nextChange(planId);
    return this.enter(planId, kind);
  }

  /** Resolves when none of this kind is in there. */
  async isOver(planId: string, kind: OccupantKind): Promise<void> {
    while (this.whoIsIn(planId).has(kind)) await this.#nextChange(planId);
  }

  whoIsIn(planId: string): ReadonlySet<OccupantKind> {
    const kinds: OccupantKind[] = this.#within(planId).map(({ kind }) => kind);
    return new Set(this.personIn(planId) ? [...kinds, "person"] : kinds);
  }

  /** Nothing is in there that may touch the tree. */
  isFree(planId: string): boolean {
    return this.#within(planId).every(({ kind }) => kind === "plugin-call") && !this.personIn(planId);
  }

  /** Something of ours is going on in there, or is about to; a person is not ours. */
  isAtWork(planId: string): boolean {
    return this.#plans.has(planId);
  }

  /** The plan's own agent. */
  agentIn(planId: string): LiveRun | undefined {
    return this.#within(planId).find(({ kind }) => kind === "agent")?.run;
  }

  /** Agents at work in any worktree, of plans and of plugins. */
  agents(): { readonly planId: string; readonly run: LiveRun }[] {
    return [...this.#plans].flatMap(([planId, occupants]) =>
      runsOf([...occupants].filter(isAgent)).map((run) => ({ planId, run })),
    );
  }

  /** A worker is in there, of the plan or of a plugin. */
  hasWorker(planId: string): boolean {
    return this.#within(planId).some((occupant) => occupant.implements);
  }

  /** All that runs in there: agents and commands. */
  runsIn(planId: string): LiveRun[] {
    return runsOf(this.#within(planId));
  }

  personIn(planId: string): ProcessIdentity | undefined {
    const opened = this.#options.openedBy(planId);
    return opened && isAlive(opened) ? opened : undefined;
  }

  /** The person has left, or its process was found dead; that is on record. */
  personLeft(planId: string): void {
    this.#changed(planId);
  }

  /** Whether any plan has its agent at work. */
  hasAgents(): boolean {
    return [...this.#plans.keys()].some((planId) => this.agentIn(planId) !== undefined);
  }

  /** Ends everything that runs for a plan and resolves when no step of it is under way. */
  async quiesce(planId: string): Promise<void> {
    await end(this.#within(planId));
    await this.#options.stepsOver(planId);
  }

  /**
   * The same, until no agent is in there either. Only for a plan of which no step may begin any more. False when an agent
   * of a plugin that cannot be ended yet, since it waits for a place, is still there after `withinMs`.
   */
  async evict(planId: string, withinMs: number): Promise<boolean> {
    const late = AbortSignal.timeout(withinMs);
    await this.quiesce(planId);
    // A step that was about to start an agent has started it by now, and what a plugin's agent changed is being put back.
    while (this.#hasAgent(planId)) {
      const isTold = this.#nextChange(planId, late).then(
        () => true,
        () => false,
      );
      await this.quiesce(planId);
      if (this.#hasAgent(planId) && !(await isTold)) return false;
    }
    return true;
  }

  /** Ends everything that runs, for all plans. */
  async stopAll(): Promise<void> {
    await end([...this.#plans.values()].flatMap((occupants) => [...occupants]));
  }

  #within(planId: string): Occupant[] {
    return [...(this.#plans.get(planId) ?? [])];
  }

  #hasAgent(planId: string): boolean {
    return this.#within(planId).some(isAgent);
  }

  // Not the bare id: an event called "error" would throw.
  #changed(planId: string): void {
    this.#changes.emit(`plan/${planId}`);
  }

  async #nextChange(planId: string, signal?: AbortSignal): Promise<void> {
    await once(this.#changes, `plan/${planId}`, signal && { signal });
  }
}

const isAgent = ({ kind }: Occupant): boolean => kind === "agent" || kind === "plugin-agent";

function runsOf(occupants: readonly Occupant[]): LiveRun[] {
  return occupants.flatMap(({ run }) => run ?? []);
}

async function end(occupants: readonly Occupant[]): Promise<void> {
  for (const occupant of occupants) occupant.stop?.();
  await Promise.all(runsOf(occupants).map((run) => run.stop()));
}

/** Who is at work, and what recovery could not clear up. */
export interface AtWork {
  readonly occupancy: Occupancy;
  /** Runs in a row that ended without an exit though nothing stopped them, by plan id. */
  readonly stranded: Map<string, number>;
  /** Plans whose left-overs could not be dealt with at the start: nothing is started for them. */
  readonly unrecovered: Set<string>;
  /** What runs are started with. */
  readonly shims: ShimPool;
}
