import type { Behaviour } from "../../call.ts";
import { unpacksInto, worksHere } from "../../paths.ts";
import { noteEffect, type Spot } from "../../state/state.ts";
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

/** Puts other files into the worktree: links that were committed may be among them. */
export const changesFiles = (spot: Spot): void => unpacksInto(spot, known(spot.line.place.folder));

/** Changes the repository, and with it the files of the worktree. */
export const changesTree: Behaviour = (call) => {
  changesFiles(call.spot);
  return changesIt(call);
};

/** A path as git reads it: it may be a pattern, and `:/` and its like count from the top, or mean all but what they name. */
export function pathspec(path: Text, spot: Spot): Text {
  if (path.type !== "known") return path;
  if (path.text.startsWith(":")) return known(spot.line.place.folder);
  return /[*?[]/.test(path.text) ? { type: "glob", text: path.text } : path;
}
