import type { Effect, EffectTree } from "../../governance/shell/effects.ts";
import type { Style } from "./colour.ts";
import { visible } from "./safe-text.ts";
import { type Cell, type Column, cutToWidth } from "./tables/table.ts";

export const TREE_COLUMNS: readonly Column[] = [
  { header: "COMMAND", flexible: true },
  { header: "EFFECT", whole: true },
  { header: "WHAT", flexible: true },
];

const MAX_COMMAND = 60;
const MAX_WHAT = 160;

const CHANGES: Style = "yellow";
const STYLES: Readonly<Record<Effect["kind"], Style>> = {
  reads: "dim",
  fetches: "dim",
  writes: CHANGES,
  deletes: CHANGES,
  runs: CHANGES,
  sends: "red",
  history: "red",
  privilege: "red",
  system: "red",
  ours: "red",
  agent: "red",
  code: "red",
  unknown: "red",
};

/** The rows of a table: each command as a branch of the one that it stands in, with what it does. */
export function effectRows(tree: EffectTree, root: string): (readonly Cell[])[] {
  const [only] = tree.inner;
  // A line of one command is that command, as it was written.
  const isOne = tree.inner.length === 1 && tree.effects.length === 0;
  return rowsOf(isOne && only ? { ...only, command: tree.command } : tree, { first: "", rest: "", root });
}

interface Branch {
  /** What is drawn before the command, and before what is below it. */
  readonly first: string;
  readonly rest: string;
  readonly root: string;
}

function rowsOf({ command, effects, inner }: EffectTree, { first, rest, root }: Branch): (readonly Cell[])[] {
  const name = first + cutToWidth(visible(command), MAX_COMMAND);
  const more = inner.length > 0 ? `${rest}│` : rest.trimEnd();
  const own: (readonly Cell[])[] = effects.map((effect, at) => [
    at === 0 ? name : more,
    { text: effect.kind, style: STYLES[effect.kind] },
    cutToWidth(visible(whatOf(effect, root)), MAX_WHAT),
  ]);
  const below = inner.flatMap((one, at) => {
    const isLast = at === inner.length - 1;
    return rowsOf(one, { first: `${rest}${isLast ? "└ " : "├ "}`, rest: `${rest}${isLast ? "  " : "│ "}`, root });
  });
  return [...(own.length > 0 ? own : [[name]]), ...below];
}

/** The kind stands beside it, and paths are below the worktree unless they begin with a slash. */
function whatOf({ kind, what }: Effect, root: string): string {
  const short = what.startsWith(`${kind} `) ? what.slice(kind.length + 1) : what;
  return short.replaceAll(`${root}/`, "").replaceAll(root, ".");
}
