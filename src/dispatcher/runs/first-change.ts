import { type FSWatcher, watch } from "node:fs";
import { basename, join } from "node:path";
import { readTextNoFollow } from "../../kernel/files.ts";
import { RUN_COPY } from "../paths.ts";

/** However often an agent writes, its copy is looked at no more often than this. */
const LOOK_MS = 200;

/**
 * Calls `act` once, when the agent's copy of the plan says something else than it was given. Returns how to stop watching.
 * What cannot be watched is found when the run has ended.
 */
export function onFirstChange(worktree: string, given: string, act: () => void): () => void {
  const look = (): void => {
    timer = undefined;
    const text = copyIn(worktree);
    // Some editors empty a file before they write it.
    if (text === undefined || text === "" || text === given) return;
    end();
    act();
  };
  // It may have been written before it was watched.
  let timer: NodeJS.Timeout | undefined = setTimeout(look, LOOK_MS);
  const watcher = watchFor(join(worktree, RUN_COPY.plan), () => {
    timer ??= setTimeout(look, LOOK_MS);
  });
  const end = (): void => {
    clearTimeout(timer);
    watcher?.close();
  };
  return end;
}

/**
 * Nothing waits for this look, so nothing that goes wrong in it may end the dispatcher: an agent that holds a lease on its copy makes
 * opening it fail, as having no open files left does.
 */
function copyIn(worktree: string): string | undefined {
  try {
    return readTextNoFollow(worktree, RUN_COPY.plan);
  } catch {
    return undefined;
  }
}

function watchFor(path: string, act: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(join(path, ".."), (_event, file) => file === basename(path) && act());
    return watcher.on("error", () => watcher.close());
  } catch {
    // No watches are left, or the agent was quick to remove the folder.
    return undefined;
  }
}
