import { type PlanDetail, readPlanDetail } from "../../dispatcher/report/read.ts";
import { diffStat, type Range, readDiff } from "../../git/commits/history.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Call } from "../output.ts";
import { reading, suggesting } from "../plans.ts";
import type { Paint, Style } from "../render/colour.ts";
import { page } from "../render/pager.ts";
import { visible } from "../render/safe-text.ts";

export interface DiffOptions {
  /** The number of a TODO, from 1. */
  readonly todo?: number;
  readonly stat?: boolean;
}

/** Shows what a plan, or one TODO of it, changed: on a terminal through the person's pager, else as a patch. */
export async function diff(call: Call, plan: string, { todo, stat = false }: DiffOptions): Promise<number> {
  const { detail, repo } = await suggesting(call, plan, () =>
    reading(call, async (loom) => ({ detail: await readPlanDetail(loom, plan), repo: loom.repo })),
  );
  refuseWithoutBranch(detail);
  const ranges = todo === undefined ? (detail.range ? [detail.range] : []) : rangesOf(detail, todo);
  const { output } = call;
  const parts: Buffer[] = [];
  for (const range of ranges) parts.push(await readDiff(repo, range, stat ? ["--stat=100"] : ["--binary"]));
  const patch = Buffer.concat(parts);
  if (output.json) {
    const stats = await Promise.all(ranges.map(({ base, head }) => diffStat(repo, base, head)));
    output.data({
      plan,
      ranges,
      files: stats.flatMap(({ files }) => files),
      ...(stat ? {} : { patch: patch.toString() }),
    });
  } else if (patch.length === 0)
    output.line(`${todo === undefined ? "" : `TODO ${todo} of `}${visible(plan)} has ${nothing(ranges, todo)}.`);
  else if (output.terminal) await page(repo.root, visiblePatch(patch.toString(), output.paint));
  else process.stdout.write(patch);
  return 0;
}

/** A TODO that was ticked by its author, or done by commits of a person, has no commit of its own. */
function nothing(ranges: readonly Range[], todo: number | undefined): string {
  return todo !== undefined && ranges.length === 0 ? "no commit" : "changed nothing so far";
}

function refuseWithoutBranch({ record: { id, branch, merge, outcome, status }, head }: PlanDetail): void {
  if (branch === undefined || head !== undefined || status === "queued") return;
  const isMerged = outcome === "merged" && merge !== undefined;
  const hint = isMerged
    ? `\`git show ${merge.sha.slice(0, 12)}\` shows what it brought to its base.`
    : `\`prloom show ${id}\` tells what is known of it.`;
  throw new PrloomError("plan-state", `The branch ${branch} of ${id} is gone.`, hint);
}

/** The commits of a TODO, known by their trailers. */
function rangesOf({ todos, commits, record }: PlanDetail, number: number): Range[] {
  const todo = todos[number - 1];
  if (!todo) {
    const hint = `\`prloom show ${record.id}\` lists them.`;
    throw new PrloomError("usage", `${record.id} has no TODO ${number}; it has ${todos.length}.`, hint);
  }
  return commits
    .filter(({ trailer }) => trailer?.startsWith(`${record.uid}/${todo.id}/`))
    .map(({ sha }) => ({ base: `${sha}^`, head: sha }));
}

const STYLES: readonly (readonly [start: RegExp, style: Style])[] = [
  [/^(?:diff |index |--- |\+\+\+ )/, "bold"],
  [/^@@/, "cyan"],
  [/^\+/, "green"],
  [/^-/, "red"],
];

/** Agents wrote it: what would steer a terminal is written out. Tabs stay. */
export function visiblePatch(patch: string, paint: Paint): string {
  const lines = patch.replace(/\n$/, "").split("\n");
  return lines
    .map((line) => {
      const style = STYLES.find(([start]) => start.test(line))?.[1];
      const words = line.split("\t").map(visible).join("\t");
      return `${style === undefined ? words : paint(style, words)}\n`;
    })
    .join("");
}
