import { diffArrays } from "diff";

/** Two texts that were made from one: put together, or with both where they exclude each other. */
export type MergedLines = { readonly kind: "merged" | "conflict"; readonly text: string };

/** Lines of the base from `start` to before `end`, and what stands there instead. */
interface LineChange {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** Beyond so many changed lines, texts have little in common, and comparing them takes long. */
const MAX_EDITS = 5000;

const CONFLICT_MARKS = {
  mine: "<<<<<<< your text",
  between: "=======",
  theirs: ">>>>>>> what arrived meanwhile",
} as const;

/** Whether a text still has places where a person has to choose. */
export function hasConflict(text: string): boolean {
  return linesOf(text).some(
    (line) => line.trimEnd() === CONFLICT_MARKS.mine || line.trimEnd() === CONFLICT_MARKS.theirs,
  );
}

/**
 * Pure: what both sides changed since `base`. Changes of neighbouring lines are not a conflict, unlike in git: an agent ticks
 * one TODO while a person rewords the next.
 */
export function mergeLines(base: string, mine: string, theirs: string): MergedLines {
  if (mine === theirs || theirs === base) return { kind: "merged", text: mine };
  if (mine === base) return { kind: "merged", text: theirs };
  const lines = linesOf(base);
  const ours = changesOf(lines, linesOf(mine));
  const others = changesOf(lines, linesOf(theirs));
  if (!ours || !others) return { kind: "conflict", text: both(linesOf(mine), linesOf(theirs)) };
  return weave(lines, ours, others);
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}

function changesOf(base: readonly string[], other: readonly string[]): LineChange[] | undefined {
  const parts = diffArrays([...base], [...other], { maxEditLength: MAX_EDITS });
  if (!parts) return undefined;
  const changes: LineChange[] = [];
  let at = 0;
  for (const { added, removed, value } of parts) {
    const last = changes.at(-1);
    // What is removed and what is added at the same place is one change.
    const open = last && last.end === at && (added || removed) ? changes.pop() : undefined;
    const { start, end, lines } = open ?? { start: at, end: at, lines: [] };
    if (added) changes.push({ start, end, lines: [...lines, ...value] });
    else if (removed) changes.push({ start, end: end + value.length, lines });
    if (!added) at += value.length;
  }
  return changes;
}

function weave(base: readonly string[], ours: readonly LineChange[], others: readonly LineChange[]): MergedLines {
  const text: string[] = [];
  let kind: MergedLines["kind"] = "merged";
  let at = 0;
  let [mine, theirs] = [0, 0];
  while (mine < ours.length || theirs < others.length) {
    const cluster = nextCluster(ours.slice(mine), others.slice(theirs));
    mine += cluster.ours.length;
    theirs += cluster.others.length;
    text.push(...base.slice(at, cluster.start));
    at = cluster.end;
    const sides = [cluster.ours, cluster.others].map((changes) => applied(base, cluster, changes));
    const [one = [], other = []] = sides;
    if (cluster.others.length === 0 || one.join("") === other.join("")) text.push(...one);
    else if (cluster.ours.length === 0) text.push(...other);
    else {
      kind = "conflict";
      text.push(both(one, other));
    }
  }
  return { kind, text: [...text, ...base.slice(at)].join("") };
}

interface Cluster {
  readonly start: number;
  readonly end: number;
  readonly ours: readonly LineChange[];
  readonly others: readonly LineChange[];
}

/** The first change of either side, with all that concern the same lines. */
function nextCluster(ours: readonly LineChange[], others: readonly LineChange[]): Cluster {
  const sides = [ours, others] as const;
  const counts = [0, 0];
  const [first, second] = [ours[0], others[0]];
  const isOurs = first !== undefined && (second === undefined || isBefore(first, second));
  const begin = (isOurs ? first : second) ?? { start: 0, end: 0, lines: [] };
  counts[isOurs ? 0 : 1] = 1;
  let { start, end } = begin;
  for (let grew = true; grew; ) {
    grew = false;
    for (const [side, changes] of sides.entries()) {
      const next = changes[counts[side] ?? 0];
      if (!next || !overlap({ start, end }, next)) continue;
      counts[side] = (counts[side] ?? 0) + 1;
      start = Math.min(start, next.start);
      end = Math.max(end, next.end);
      grew = true;
    }
  }
  return { start, end, ours: ours.slice(0, counts[0]), others: others.slice(0, counts[1]) };
}

function isBefore(a: LineChange, b: LineChange): boolean {
  return a.start < b.start || (a.start === b.start && a.end <= b.end);
}

/** Both replace a line, both add at the same place, or one adds within what the other replaces. */
function overlap(a: Pick<LineChange, "start" | "end">, b: Pick<LineChange, "start" | "end">): boolean {
  if (a.start === a.end && b.start === b.end) return a.start === b.start;
  if (a.start === a.end) return b.start < a.start && a.start < b.end;
  if (b.start === b.end) return a.start < b.start && b.start < a.end;
  return a.start < b.end && b.start < a.end;
}

function applied(base: readonly string[], { start, end }: Cluster, changes: readonly LineChange[]): string[] {
  const lines: string[] = [];
  let at = start;
  for (const change of changes) {
    lines.push(...base.slice(at, change.start), ...change.lines);
    at = change.end;
  }
  return [...lines, ...base.slice(at, end)];
}

function both(mine: readonly string[], theirs: readonly string[]): string {
  const side = (lines: readonly string[]): string => {
    const text = lines.join("");
    return text === "" || text.endsWith("\n") ? text : `${text}\n`;
  };
  return `${CONFLICT_MARKS.mine}\n${side(mine)}${CONFLICT_MARKS.between}\n${side(theirs)}${CONFLICT_MARKS.theirs}\n`;
}
