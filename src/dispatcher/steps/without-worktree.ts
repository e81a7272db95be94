import type { WorktreeHealth } from "../../git/worktree/worktrees.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Step } from "./step.ts";

/** What a person is told of a plan whose worktree cannot be worked in. */
export function withoutWorktree({ id, branch, worktree = "unknown path" }: PlanRecord, health: WorktreeHealth): Step {
  if (health === "taken")
    return {
      kind: "block",
      reason: `At the place of its worktree is one of another repository: ${worktree}`,
      hint: `Finish or move that one (\`git -C ${worktree} worktree move . <folder>\`), then run \`prloom unblock ${id}\`. Give each repository a \`worktreesDir\` of its own.`,
    };
  return {
    kind: "block",
    reason: `Its worktree is ${health}: ${worktree}`,
    hint: `\`prloom unblock ${id}\` makes it again from branch ${branch}. Work that was not committed is gone, unless git has only forgotten the folder.`,
  };
}
