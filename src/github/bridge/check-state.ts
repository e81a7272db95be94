import type { ChecksState } from "./pull-news.ts";

/** One check of a commit. `held`: it waits for people, and no commit ends that. */
export interface Check {
  readonly id: string;
  readonly name: string;
  /** What reports it; a status is reported by itself. */
  readonly app: string;
  readonly state: "pending" | "green" | "red" | "held";
  readonly isRequired: boolean;
  readonly says: string;
  /** Of GitHub Actions: the job, which has a log, and its run, which can be run again. */
  readonly job?: number | undefined;
  readonly run?: number | undefined;
  /** Has annotations. */
  readonly checkRun?: number | undefined;
}

/** What reports a status. */
export const STATUS = "status";

export function statusState(state: string): Check["state"] {
  if (/^success$/i.test(state)) return "green";
  return /^(failure|error)$/i.test(state) ? "red" : "pending";
}

export function runState(status: string, conclusion: string | null): Check["state"] {
  if (!/^completed$/i.test(status) || conclusion === null) return "pending";
  if (/^(success|neutral|skipped)$/i.test(conclusion)) return "green";
  return /^(failure|timed_out|startup_failure)$/i.test(conclusion) ? "red" : "held";
}

/**
 * Pure: those with the newest id of their kind. A commit keeps what ran there before: one event cancels the run of another, as when a draft
 * is made ready, and what failed is begun anew. GitHub's own rules look at the newest, too.
 */
export function newestOfKind<T>(all: readonly T[], kindOf: (one: T) => string, idOf: (one: T) => number): readonly T[] {
  const newest = new Map<string, number>();
  for (const one of all) newest.set(kindOf(one), Math.max(idOf(one), newest.get(kindOf(one)) ?? 0));
  return all.filter((one) => idOf(one) === newest.get(kindOf(one)));
}

/** Pure: those that count: the required ones, else all of them. */
export function countingOf(checks: readonly Check[]): readonly Check[] {
  const required = checks.filter(({ isRequired }) => isRequired);
  return required.length > 0 ? required : checks;
}

/** Pure: what they come to. None is not green. */
export function stateOf(checks: readonly Check[]): ChecksState {
  const states = countingOf(checks).map(({ state }) => state);
  if (states.length === 0) return "none";
  if (states.includes("pending")) return "pending";
  return states.every((state) => state === "green") ? "green" : "red";
}

/** Pure: what is the same check at another commit: apps may give theirs the same name. */
export const checkName = ({ app, name }: Pick<Check, "app" | "name">): string => `${app}/${name}`;
