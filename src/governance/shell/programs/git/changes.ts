import type { Behaviour } from "../../call.ts";
import { OUTPUT } from "../../flow.ts";
import { note, type Spot } from "../../state.ts";

/** Loses or rewrites commits, or work that is not committed. */
export const history = (spot: Spot, what: string, instead?: string) => note(spot, { kind: "history", what, instead });

/** Changes the repository in ways that can be taken back. */
export const changesIt: Behaviour = ({ name, spot }) => {
  note(spot, { kind: "runs", what: `changes the repository with git ${name}` });
  return OUTPUT;
};
