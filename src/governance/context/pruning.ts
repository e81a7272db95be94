import type { TaskGraph } from "../graph/schema.ts";
import { isPast, type SeenOutput } from "./warnings.ts";

const KEPT_WHOLE = 10;
const CUT_TO = 150;

/** Which outputs stay whole: the newest, and of tasks that are not over before those that are. */
export function keptWhole(graph: TaskGraph, outputs: readonly SeenOutput[]): ReadonlySet<number> {
  const newest = outputs.map((_, at) => at).reverse();
  const isOld = (at: number): boolean => isPast(graph, outputs[at]?.node ?? null);
  const order = [...newest.filter((at) => !isOld(at)), ...newest.filter(isOld)];
  return new Set(order.slice(0, KEPT_WHOLE));
}

export function cutOutput(text: string): string {
  if (text.length <= CUT_TO) return text;
  return `${text.slice(0, CUT_TO).toWellFormed()}\n[prloom cut ${text.length - CUT_TO} characters of an older output]`;
}
