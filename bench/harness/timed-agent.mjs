#!/usr/bin/env node
// The least that counts as work, by a program that tells when it had read its prompt and when it said its last word. How
// it is started says as which program it speaks: as Codex, as Claude Code, or as no program in particular.
import { appendFileSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const { PRLOOM_PLAN_FILE = "", PRLOOM_WORKTREE = "" } = process.env;

/** Of a clock that all processes of a machine share, in milliseconds. */
const now = () => Number(process.hrtime.bigint()) / 1e6;
const print = (...lines) => writeSync(1, lines.map((line) => `${line}\n`).join(""));
const say = (...lines) => print(...lines.map((line) => JSON.stringify(line)));

function work() {
  appendFileSync(join(PRLOOM_WORKTREE, "work.txt"), "done\n");
  writeFileSync(PRLOOM_PLAN_FILE, readFileSync(PRLOOM_PLAN_FILE, "utf8").replace("- [ ]", "- [x]"));
}

/** The prompt has been read: works, and gives both times in words. */
function worked(readAt = now()) {
  work();
  return `timed ${readAt} ${now()}`;
}

function asCodex() {
  readFileSync(0);
  say({ type: "thread.started", thread_id: `thread-${process.pid}` }, { type: "turn.started" });
  const item = { id: "item_0", type: "agent_message", text: worked() };
  const usage = { input_tokens: 50, cached_input_tokens: 0, output_tokens: 10 };
  say({ type: "item.completed", item }, { type: "turn.completed", usage });
}

function asClaude() {
  const session_id = `session-${process.pid}`;
  const usage = { input_tokens: 50, output_tokens: 10 };
  const ask = { subtype: "hook_callback", callback_id: "UserPromptSubmit", input: {} };
  let isOverseen = false;
  let readAt;
  // It ends when its stdin does, which stays open for more.
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { type } = JSON.parse(line);
    if (type === "control_request") isOverseen = true;
    if (type === "user") readAt = now();
    // Its first hook is asked before the model is.
    if (type === "user" && isOverseen) return say({ type: "control_request", request_id: "prompt", request: ask });
    if (type !== "user" && type !== "control_response") return;
    const text = worked(readAt);
    const message = { id: "message", model: "model", role: "assistant", content: [{ type: "text", text }], usage };
    say(
      { type: "system", subtype: "init", session_id },
      { type: "assistant", message, session_id },
      { type: "result", subtype: "success", is_error: false, result: text, session_id },
    );
  });
}

if (process.argv.includes("exec")) asCodex();
else if (process.argv.includes("stream-json")) asClaude();
else {
  readFileSync(0);
  print(worked());
}
