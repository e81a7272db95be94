import type { Pairs } from "./measure.ts";

/** How large the benchmarks are. */
export interface Sizes {
  readonly plans: number;
  readonly events: number;
  /** Plans that the dispatcher works through with an agent that does next to nothing. */
  readonly worked: number;
  readonly todos: number;
  /** Events that go through three plugins. */
  readonly hooked: number;
  /** Plans that are made one after the other, each from a source of its own. */
  readonly upserts: number;
  /** Records that wait. */
  readonly deferred: number;
  /** Agents that print at the same time, and how many lines each prints. */
  readonly agents: number;
  readonly streamed: number;
  readonly pairs: number;
  /** Of the larger of two repositories with a sandbox: its files, a fifth as many refs. */
  readonly files: number;
  /** `built`: made here, the bundle that users get. Else the program itself, for tests that must not build. */
  readonly cli: string;
  /** Whose runs are measured one by one; those of all unless given. */
  readonly adapters?: readonly string[];
}

/** What the benchmark may cost. All that are given must hold. */
export interface Budget {
  readonly ratio?: number;
  readonly ms?: number;
  /** Milliseconds that ninety-nine of a hundred stay below. */
  readonly p99?: number;
  /** Milliseconds above the floor. */
  readonly above?: number;
}

/** A number that is the same on every machine, and the most it may be. CI fails on these, never on time. */
export interface Gate {
  readonly what: string;
  readonly counted: number;
  readonly most: number;
}

export interface Also {
  readonly what: string;
  readonly value: number;
  readonly unit: "ms" | "MB" | "";
}

export interface Result {
  readonly name: string;
  /** What was measured, and against what. */
  readonly what: string;
  readonly floorIs: string;
  readonly gates: readonly Gate[];
  readonly budget: Budget;
  readonly times: Pairs;
  /** How many of something one sample of ours is; the table then tells how many that is in a second. */
  readonly per?: number;
  /** Parts of it, and what else is worth knowing beside the time: medians, told without a verdict. */
  readonly also?: readonly Also[];
  readonly verdict: string;
}

/** One row of the table, or a few that share what they are measured on. */
export interface Bench {
  readonly name: string;
  run(sizes: Sizes): Promise<Result[]>;
  /** Why it cannot be measured on this machine, if it cannot. */
  missing?(): Promise<string | undefined>;
}

/** The result with its verdict. */
export function result(measured: Omit<Result, "verdict">): Result {
  return { ...measured, verdict: verdict(measured.budget, measured.times) };
}

/** "met", or by how much not; "none" where nothing was promised. */
export function verdict(budget: Budget, { ours, floor, ratio }: Pairs): string {
  if (Object.keys(budget).length === 0) return "none";
  const misses: string[] = [];
  if (budget.ratio !== undefined && ratio > budget.ratio) misses.push(share(ratio, budget.ratio));
  if (budget.ms !== undefined && ours.median > budget.ms) misses.push(share(ours.median, budget.ms));
  if (budget.p99 !== undefined && ours.p99 > budget.p99) misses.push(`${share(ours.p99, budget.p99)} (p99)`);
  const above = ours.median - floor.median;
  if (budget.above !== undefined && above > budget.above) misses.push(`${(above - budget.above).toFixed(1)} ms`);
  return misses.length === 0 ? "met" : `missed by ${misses.join(", ")}`;
}

function share(is: number, may: number): string {
  return `${Math.max(1, Math.round((is / may - 1) * 100))} %`;
}

export function brokenGates(results: readonly Result[]): string[] {
  return results.flatMap(({ name, gates }) =>
    gates
      .filter((gate) => !(gate.counted <= gate.most))
      .map((gate) => `${name}: ${gate.what}: ${gate.counted}, at most ${gate.most}`),
  );
}
