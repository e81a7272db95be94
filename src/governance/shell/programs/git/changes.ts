import type { Behaviour } from "../../call.ts";
import { worksHere } from "../../paths.ts";
import { noteEffect, type Spot } from "../../state.ts";
import { OUTPUT } from "../../values/flow.ts";
import { known, type Text } from "../../values/text.ts";

/** Loses or rewrites commits, or work that is not committed. */
export const history = (spot: Spot, what: string, instead?: string) =>
  noteEffect(spot, { kind: "history", what, instead });

/** Changes the repository in ways that can be taken back. */
export const changesIt: Behaviour = ({ name, spot }) => {
  worksHere(spot, `changes the repository with git ${name}`);
  return OUTPUT;
};

/** A path as git reads it: it may be a pattern, and `:/` and its like count from the top, or mean all but what they name. */
export function pathspec(path: Text, spot: Spot): Text {
  if (path.type !== "known") return path;
  if (path.text.startsWith(":")) return known(spot.line.place.folder);
  return /[*?[]/.test(path.text) ? { type: "glob", text: path.text } : path;
}
