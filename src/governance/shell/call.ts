import type { Spot } from "./state/state.ts";
import type { Flow } from "./values/flow.ts";
import type { Text } from "./values/text.ts";

/** A builtin or program, and what it is called with. */
export interface ProgramCall {
  readonly name: string;
  readonly args: readonly Text[];
  readonly spot: Spot;
}

/** Notes what a call does, and gives what it prints. */
export type Behaviour = (call: ProgramCall) => Flow;
