import type { LeftOut } from "../../../src/plan/checklists/checklist.ts";

/** The body of an issue, and what is to be understood of it. */
export interface Body {
  readonly name: string;
  readonly text: string;
  readonly kind: "todos" | "all-ticked" | "unclear" | "none";
  /** The TODOs, or the headings of which one is to be chosen. */
  readonly found?: readonly string[];
  readonly leftOut?: readonly [heading: string, count: number, why: LeftOut["why"]][];
}

const of =
  (kind: Body["kind"]) =>
  (name: string, text: string, found: readonly string[] = [], leftOut: Body["leftOut"] = []): Body => ({
    name,
    text,
    kind,
    found,
    leftOut,
  });
export const todos = of("todos");
export const done = of("all-ticked");
export const unclear = of("unclear");
export const none = of("none");
