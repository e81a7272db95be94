#!/usr/bin/env node
// Speaks as `codex exec --json` does, and does what the words of BEHAVIOUR (agents.<name>.env) say, one for each start:
// "429 work" is refused once and works from then on. What it knows of earlier starts lies in its home, as with the real one.

import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const home = join(homedir(), ".codex", "sessions");
mkdirSync(home, { recursive: true });
const args = process.argv.slice(2);
const prompt = readFileSync(0, "utf8");
const resumed = args.includes("resume") ? args[args.indexOf("resume") + 1] : undefined;
appendFileSync(join(home, "starts.jsonl"), `${JSON.stringify({ args, prompt })}\n`);
const starts = readFileSync(join(home, "starts.jsonl"), "utf8").trim().split("\n").length;
const words = (process.env.BEHAVIOUR ?? "work").split(" ");
const behaviour = words[Math.min(starts, words.length) - 1];
const say = (line) => console.log(JSON.stringify(line));

const { PRLOOM_PLAN_FILE, PRLOOM_WORKTREE, PRLOOM_TODO_INDEX = "0" } = process.env;

/** What the conversation has spent so far: the real one counts from its beginning, too. */
function spend(thread) {
  const file = join(home, `${thread}.tokens`);
  const before = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  const now = before + 60;
  writeFileSync(file, String(now));
  say({
    type: "turn.completed",
    usage: { input_tokens: now - now / 6, cached_input_tokens: 0, output_tokens: now / 6 },
  });
}

function tick() {
  let seen = -1;
  const text = readFileSync(PRLOOM_PLAN_FILE, "utf8").replace(/^([-*] )\[[ xb]\]/gm, (item, bullet) => {
    seen += 1;
    return seen === Number(PRLOOM_TODO_INDEX) ? `${bullet}[x]` : item;
  });
  writeFileSync(PRLOOM_PLAN_FILE, text);
}

function fail(message) {
  say({ type: "error", message });
  say({ type: "turn.failed", error: { message } });
  process.exit(1);
}

const FAILURES = {
  401: "unexpected status 401 Unauthorized: Incorrect API key provided",
  429: "exceeded retry limit, last status: 429 Too Many Requests",
  limit: "You’ve hit your usage limit. Try again in 5 hours.",
  529: "unexpected status 529 : overloaded",
};

if (resumed !== undefined && (behaviour === "lost" || !existsSync(join(home, `${resumed}.known`)))) {
  console.log(`Error: thread/resume: thread/resume failed: no rollout found for thread id ${resumed}`);
  process.exit(1);
}
const thread = resumed ?? `thread-${starts}`;
writeFileSync(join(home, `${thread}.known`), "");
say({ type: "thread.started", thread_id: thread });
say({ type: "turn.started" });
if (behaviour === "answers-429") {
  say({ type: "item.completed", item: { id: "item_0", type: "agent_message", text: "I begin." } });
  fail(FAILURES[429]);
}
if (FAILURES[behaviour]) fail(FAILURES[behaviour]);
if (behaviour === "hang") {
  appendFileSync(join(PRLOOM_WORKTREE, "half.txt"), "half\n");
  say({ type: "item.completed", item: { id: "item_0", type: "agent_message", text: "I begin." } });
  setInterval(() => undefined, 1000);
} else {
  appendFileSync(join(PRLOOM_WORKTREE, "work.txt"), `${behaviour} ${starts}\n`);
  if (behaviour !== "no-tick") tick();
  say({ type: "item.completed", item: { id: "item_0", type: "agent_message", text: `did ${behaviour}` } });
  spend(thread);
}
