import { definePlugin } from "prloom/plugin";

/** `/merge`, or `/merge merge`, `/merge squash`, `/merge rebase`: in a comment, on a line of its own at the top. */
const COMMAND = /^\/merge(?:[ \t]+(\S+))?[ \t]*$/;

export default definePlugin(() => ({
  onEvent(event, ctx) {
    const [firstLine = ""] = event.body.trim().split(/\r?\n/);
    const command = COMMAND.exec(firstLine);
    if (!command || !event.replyTo) return;
    // Otherwise the triage agent would make a TODO of it.
    ctx.markEventHandled();
    const method = command[1] ?? "squash";
    if (method === "merge" || method === "squash" || method === "rebase") ctx.emitMerge(event.replyTo, method);
    else ctx.reply(`There is no way to merge called "${method}": say merge, squash or rebase.`);
  },
}));
