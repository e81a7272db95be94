import type { GovernTool } from "./arguments.ts";

/** Each says what it gives that the program's own tool does not. */
export const DESCRIPTIONS: Readonly<Record<GovernTool, string>> = {
  govern_plan:
    "Plans and what is to be done in them, with what each task waits for. A list of your own is forgotten with the conversation; this one is kept, and its order is enforced.",
  govern_task:
    "The task in hand. Starting one opens writing for it, and is refused while it waits for others; what you change is recorded for it by itself; completing it needs the evidence that it expects. The built-in todo list does none of this: use it only for notes.",
  govern_delegate:
    "Hands a part of your task to another agent, with the tools that you name and what it must bring back. Both are enforced in its session. A sub-agent that is merely addressed has neither a task nor limits, and is refused.",
  govern_shell:
    "Runs a command in the worktree. What would destroy work, leave the worktree or reach others is refused with what to use instead; builds, tests and git are recorded as evidence for your task. Prefer it to the built-in shell.",
  anchor:
    "Something that must still be known after the conversation was shortened: a decision, a constraint, a file that matters. It comes back in later turns, the important ones first.",
};
