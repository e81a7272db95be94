import type { Behaviour } from "../../call.ts";
import { writes } from "../../paths.ts";
import { note, type Spot } from "../../state.ts";
import { OUTPUT } from "../../values/flow.ts";
import { known, type Text, unknown } from "../../values/text.ts";

/** Loses or rewrites commits, or work that is not committed. */
export const history = (spot: Spot, what: string, instead?: string) => note(spot, { kind: "history", what, instead });

/** Changes the repository in ways that can be taken back. */
export const changesIt: Behaviour = ({ name, spot }) => {
  const { folder: root } = spot.line.place;
  for (const folder of spot.shell.folders)
    if (folder === undefined || (folder !== root && !folder.startsWith(`${root}/`)))
      writes(spot, folder === undefined ? unknown("where it is cannot be told") : known(folder));
  note(spot, { kind: "runs", what: `changes the repository with git ${name}` });
  return OUTPUT;
};

/** A path as git reads it: it may be a pattern, and `:/` and its like count from the top, or mean all but what they name. */
export function pathspec(path: Text, spot: Spot): Text {
  if (path.type !== "known") return path;
  if (path.text.startsWith(":")) return known(spot.line.place.folder);
  return /[*?[]/.test(path.text) ? { type: "glob", text: path.text } : path;
}
