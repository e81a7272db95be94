import { existsSync } from "node:fs";
import { join } from "node:path";
import { listDir, readTextIfExists } from "../../../src/kernel/files.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";
import { branchHead } from "../github/git.ts";

/** What the files of a clone tell of its only plan. */
export interface PlanFiles {
  record(): PlanRecord | undefined;
  openTodos(): number;
  /** Its gate is posted, and that is known: what is answered before is told to wait. */
  isShown(): boolean;
  /** The newest commit of its branch. */
  head(): string | undefined;
  hasWorktree(): boolean;
  /** GitHub was looked at, and how far is on record. */
  hasLooked(): boolean;
  /** An event is on its bus. */
  hasHeard(event: string): boolean;
}

export function planFiles(root: string): PlanFiles {
  const authority = join(root, ".git", "prloom");
  const plans = join(authority, "plans");
  const home = (): string | undefined => listDir(plans).map((name) => join(plans, name))[0];
  const read = (...path: string[]): string => readTextIfExists(join(...path)) ?? "";
  const record = (): PlanRecord | undefined => {
    const text = read(home() ?? plans, "state.json");
    return text === "" ? undefined : JSON.parse(text);
  };
  return {
    record,
    openTodos: () => read(home() ?? plans, "plan.md").match(/^- \[[^x]\]/gm)?.length ?? 0,
    isShown: () => read(authority, "gates", `${record()?.gate}.json`).includes('"postedAt"'),
    head: () => branchHead(join(root, ".git"), record()?.branch ?? ""),
    hasWorktree: () => existsSync(record()?.worktree ?? root),
    hasLooked: () => existsSync(join(authority, "bus", "state", "bridge.github.json")),
    hasHeard: (event) => read(home() ?? plans, "bus", "events.jsonl").includes(JSON.stringify(event)),
  };
}
