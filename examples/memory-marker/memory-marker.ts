import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { definePlugin, mayWrite } from "prloom/plugin";

interface Config {
  readonly marker?: string;
  /** From the top of the repository. */
  readonly file?: string;
}

export default definePlugin<Config>(({ marker = "!memory", file = "MEMORY.md" }) => ({
  onEvent(event, ctx) {
    const at = event.body.indexOf(marker);
    const words = event.body.slice(at + marker.length).trim();
    if (at === -1 || words === "") return;
    // Agents read the file: what strangers say must not get there. Left alone, their comment goes the usual way.
    if (!mayWrite(event)) return;
    try {
      remember(join(ctx.repoRoot, file), words, event.id);
    } catch (error) {
      ctx.log.warn(`${file}: ${error instanceof Error ? error.message : error}`);
      ctx.markEventDeferred("memory-update-failed", 60_000);
      return;
    }
    ctx.markEventHandled();
    ctx.reply(`Noted in ${file}.`);
  },
}));

/** Hooks run at least once: after a crash the event comes again, and its id tells that its line is there already. */
function remember(path: string, words: string, eventId: string): void {
  const mark = `<!-- ${eventId} -->`;
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (before.includes(mark)) return;
  const start = before === "" ? "# Memory\n\n" : before.endsWith("\n") ? "" : "\n";
  const line = words.replaceAll("<!--", "").replace(/\s+/g, " ");
  appendFileSync(path, `${start}- ${line} ${mark}\n`);
}
