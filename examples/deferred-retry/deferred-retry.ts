import { readFileSync } from "node:fs";
import { join } from "node:path";
import { definePlugin } from "prloom/plugin";

interface Config {
  /** What the answer is read from, from the top of the repository. */
  readonly file?: string;
  readonly retryMs?: number;
}

export default definePlugin<Config>(({ file = "ci-status.json", retryMs = 30_000 }) => ({
  onEvent(event, ctx) {
    if (event.body.trim() !== "/ci") return;
    const status = readStatus(join(ctx.repoRoot, file));
    if (status === undefined) {
      // Asked again after retryMs, for as long as it takes; `prloom status` shows that it waits, and how long already.
      ctx.markEventDeferred(`${file} is not there yet`, retryMs);
      return;
    }
    ctx.markEventHandled();
    ctx.reply(`CI says: ${status}`);
  },
}));

/** Undefined while there is none. A file that is there but broken is an error, and prloom tries again by itself. */
function readStatus(path: string): string | undefined {
  try {
    const { status } = JSON.parse(readFileSync(path, "utf8"));
    return String(status);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
