import { join } from "node:path";
import { readCommits } from "../../git/commits/pick.ts";
import { messageOfCommit } from "../../git/commits/replay.ts";
import type { Todo } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { PlanText } from "../intake/plan-texts.ts";
import { type Located, RUN_COPY, worktreeOf } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";

/** The conflict that the plan's worker resolves, if that is what it is there for. */
export function conflictOf({ rebase, current }: PlanRecord) {
  return current ? rebase?.conflict : undefined;
}

/**
 * The plan as a run that resolves a conflict sees it: that is what it has to do. It may change what the TODO that the
 * commit is of might change.
 */
export function withResolution(record: PlanRecord, text: PlanText): PlanText {
  const conflict = conflictOf(record);
  if (!conflict) return text;
  const id = record.current?.todoId ?? "";
  const own = text.doc.todos.find((todo) => todo.id === id);
  const { after: _before, ...settings } = own?.settings ?? {};
  const words = `Resolve the conflict with ${record.baseBranch} in ${conflict.files.join(", ")}`;
  const place = own ?? { markerOffset: 0, start: 0, end: 0 };
  const todo: Todo = { ...place, id, index: 0, state: "open", text: words, context: "", settings };
  return { ...text, doc: { ...text.doc, todos: [todo, ...text.doc.todos.filter((other) => other !== own)] } };
}

/** What the prompt of such a run says beyond the worker's. */
export async function resolutionValues(
  loom: Located & Configured,
  record: PlanRecord,
): Promise<Record<string, string>> {
  const conflict = conflictOf(record);
  if (!conflict) return {};
  return {
    base: record.baseBranch ?? "",
    commitId: conflict.commit,
    commit: await wordsOf(loom, record, conflict.commit),
    files: conflict.files.map((file) => `- ${file}`).join("\n"),
    outcomeFile: join(worktreeOf(loom, record).path, RUN_COPY.outcome),
  };
}

/** In a merge everything that the branch is for conflicts together. */
async function wordsOf({ repo }: Located, { rebase }: PlanRecord, commit: string): Promise<string> {
  if (!rebase?.merge) return messageOfCommit(repo, commit);
  const commits = await readCommits(repo, ["--no-merges", `${rebase.upstream}..${commit}`]);
  return commits.map(({ message }) => message).join("\n");
}
