import type { Behaviour } from "../../call.ts";
import { readArguments } from "../../options.ts";
import { absolutePaths, reads, touch, unpacksInto, writes } from "../../paths.ts";
import { noteEffect, type Spot } from "../../state/state.ts";
import { OUTPUT } from "../../values/flow.ts";
import { known, type Text, textOf } from "../../values/text.ts";
import { changesIt, changesTree, history, pathspec } from "./changes.ts";

const LOSES = "loses work that is not committed";
const MOVES = "moves a branch away from its commits";

export const reset: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { long: "soft mixed hard merge keep quiet patch" });
  if (given.has("hard", "merge", "keep"))
    history(spot, LOSES, "Use git stash, or undo single files with the edit tool.");
  else changesIt({ name: "reset", args, spot });
  return OUTPUT;
};

export const push: Behaviour = ({ spot }) => {
  noteEffect(spot, {
    kind: "sends",
    what: "pushes commits to another repository",
    instead: "Commit only, and say in your answer what should be pushed.",
  });
  return OUTPUT;
};

export const cleanTree: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "e exclude", long: "force dry-run interactive quiet" });
  if (!given.has("n", "dry-run"))
    history(spot, "deletes files that are not committed", "Delete single files by their names.");
  return OUTPUT;
};

/** Paths that git puts back to what was committed. Everything at once loses the work of the run. */
function restores(paths: readonly Text[], spot: Spot): void {
  for (const path of paths) {
    touch(spot, { kind: "deletes", path: pathspec(path, spot), whole: true });
    unpacksInto(spot, pathspec(path, spot), true);
  }
}

export const checkout: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued: `b B orphan conflict pathspec-from-file source s U unified inter-hunk-context${name === "switch" ? " c C create force-create" : ""}`,
    long: "force discard-changes merge patch detach track no-track guess quiet ours theirs no-merge no-patch no-detach",
  });
  if (given.has("f", "force", "discard-changes")) history(spot, LOSES, "Use git stash first.");
  const at = args.findIndex((arg) => textOf(arg) === "--");
  if (given.has("pathspec-from-file")) history(spot, `${LOSES}: paths from a file`);
  if (given.has("B", "C", "force-create")) history(spot, MOVES);
  const isNew = given.has("b", "B", "orphan", "c", "C", "create", "force-create");
  // A new branch begins with the files that are there, unless it is told where.
  if (isNew && given.operands.length === 0) return changesIt({ name, args, spot });
  if (isNew || name === "switch") return changesTree({ name, args, spot });
  const paths =
    at >= 0
      ? args.slice(at + 1).filter((arg) => !textOf(arg).startsWith("-"))
      : given.operands.filter((one, index) => isPath(one, spot) && (index > 0 || given.operands.length === 1));
  if (paths.length === 0) return changesTree({ name, args, spot });
  restores(paths, spot);
  return OUTPUT;
};

function isPath(operand: Text, spot: Spot): boolean {
  if (operand.type !== "known") return true;
  if (/^(?:\.|\.\.|\.\/.*|\.\.\/.*|:\/.*|:\(.*)$/.test(operand.text)) return true;
  return absolutePaths(operand, spot).some(
    (path) => path.type === "known" && spot.line.place.look(path.text) !== undefined,
  );
}

export const restore: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "s source pathspec-from-file U unified",
    long: "staged worktree patch quiet overlay ours theirs merge",
  });
  if (given.has("S", "staged") && !given.has("W", "worktree")) return changesIt({ name: "restore", args, spot });
  if (given.has("pathspec-from-file")) history(spot, `${LOSES}: paths from a file`);
  restores(given.operands, spot);
  return OUTPUT;
};

export const stash: Behaviour = ({ args, spot }) => {
  const sub = textOf(args[0] ?? known("push"));
  if (sub === "list") return OUTPUT;
  if (sub === "drop" || sub === "clear") history(spot, "deletes work that was put aside");
  else changesTree({ name: "stash", args, spot });
  return OUTPUT;
};

export const prunes: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued: "expire expire-unreachable expire-to",
    long: "prune dry-run auto aggressive quiet all",
  });
  // Weeks are what git itself waits.
  const isNow = given
    .values("expire", "prune", "expire-unreachable")
    .some((when) => !/^(?:never|false|\d+[. ](?:week|month|year)s?(?:[. ]ago)?)$/i.test(textOf(when)));
  for (const path of given.values("expire-to")) writes(spot, path);
  if (given.has("n", "dry-run")) return OUTPUT;
  if (name === "prune" || isNow) history(spot, "deletes commits that no branch has");
  else changesIt({ name, args, spot });
  return OUTPUT;
};

export const reflog: Behaviour = ({ args, spot }) => {
  const sub = textOf(args[0] ?? known("show"));
  if (sub === "expire" || sub === "delete") history(spot, "deletes the record of where branches were");
  return OUTPUT;
};

const isOfOthers = (branch: Text | undefined): boolean =>
  /^(?:main|master|trunk|develop|production|release\b.*)$/.test(textOf(branch ?? known("")));

export const branch: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued: name === "tag" ? "u m message F file" : "u set-upstream-to",
    long: "delete force list all remotes contains merged move",
  });
  if (name === "tag") for (const file of given.values("F", "file")) if (textOf(file) !== "-") reads(spot, file);
  if (name === "branch" && ((given.has("f", "force") && given.operands.length > 0) || given.has("C")))
    history(spot, MOVES);
  if (given.has("D") || (given.has("d", "delete") && given.has("f", "force")) || (name === "branch" && given.has("M")))
    history(spot, "deletes a branch whose commits may be nowhere else");
  else if (name === "branch" && given.has("m", "move") && given.operands.length > 1 && isOfOthers(given.operands[0]))
    history(spot, "renames a branch that others have");
  else if (name === "tag" && given.has("d", "delete", "f", "force")) history(spot, "deletes or moves a tag");
  else if (
    given.has("d", "delete", "u", "set-upstream-to", "edit-description", "unset-upstream") ||
    given.operands.length > 0
  )
    changesIt({ name, args, spot });
  return OUTPUT;
};

/** `+from:to` moves a branch of this repository wherever it was; what is remembered of others may be overwritten. */
export function noteForcedRefs(refs: readonly Text[], isForced: boolean, spot: Spot): void {
  for (const ref of refs) {
    const [, plus, to] = /^(\+?)[^:]*:(.+)$/.exec(textOf(ref)) ?? [];
    if (to !== undefined && (plus || isForced) && !/^refs\/(?:remotes|pull|notes)\//.test(to)) history(spot, MOVES);
  }
}

export const writesRefs: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, { valued: "m", long: "delete stdin no-deref" });
  if (name === "symbolic-ref" && given.operands.length === 1 && !given.has("d", "delete")) return OUTPUT;
  history(spot, `moves or deletes references with git ${name}`);
  return OUTPUT;
};

export const rewrites: Behaviour = ({ name, spot }) => {
  history(spot, `rewrites history with git ${name}`);
  return OUTPUT;
};

export const readTree: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, { valued: "prefix index-output exclude-per-directory", long: "reset" });
  if (given.has("u", "reset")) history(spot, LOSES);
  return changesIt({ name, args, spot });
};
