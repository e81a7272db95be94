/** What the runner says to the shim, one line each; a `StartOrder` follows the first as JSON. */
export const START_LINE = "start ";
export const STOP = "stop";
/** A JSON list of lines for the program's stdin follows. */
export const INPUT = "input ";
export const END_OF_INPUT = "end";
/** The policy ends the run; why follows as JSON. */
export const POLICY = "policy ";
/** Its provider refuses the run for long. */
export const REFUSED = "refused";

/** What the shim says. What a program said that is talked to follows as base64. */
export const SAID = "said ";
/** The disk has no room for what must be known of the run; the shim waits. */
export const NO_ROOM = "no-room";
/** The run is complete, and the shim waits for another. */
export const DONE = "done";

/** Which run a shim is to start. Its environment is in here because it may hold secrets, and those are not written down. */
export interface StartOrder {
  readonly runDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** The shim stays for another run when this one is complete. */
  readonly kept: boolean;
}
