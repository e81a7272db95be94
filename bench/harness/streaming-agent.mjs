#!/usr/bin/env node
// Speaks as Codex does while it works: calls of tools and what they gave, some of it long. It begins when it finds the
// file `begin` in its folder, prints as many lines as STREAMED says, twenty a second, and tells what CPU time it took.
import { appendFileSync, existsSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const { PRLOOM_PLAN_FILE = "", PRLOOM_RUN_DIR = "", PRLOOM_WORKTREE = "", STREAMED = "0" } = process.env;
const EVERY_MS = 50;

const say = (line) => writeSync(1, `${JSON.stringify(line)}\n`);

/** Every tenth is as long as a test run's; the others are as long as a listing. */
function output(number) {
  return "A line of what a tool has printed.\n".repeat(number % 10 === 0 ? 250 : 15);
}

function call(number) {
  const item = { id: `item_${number >> 1}`, type: "command_execution", command: `bash -lc 'ls part-${number >> 1}'` };
  if (number % 2 === 0) say({ type: "item.started", item: { ...item, aggregated_output: "", status: "in_progress" } });
  else say({ type: "item.completed", item: { ...item, aggregated_output: output(number >> 1), status: "completed" } });
}

readFileSync(0);
say({ type: "thread.started", thread_id: `thread-${process.pid}` });
say({ type: "turn.started" });
while (!existsSync(join(PRLOOM_RUN_DIR, "begin"))) await sleep(EVERY_MS);
const began = performance.now();
for (let number = 0; number < Number(STREAMED); number += 1) {
  call(number);
  // From the beginning, so that a busy machine does not make it print more slowly.
  await sleep(Math.max(0, began + (number + 1) * EVERY_MS - performance.now()));
}
appendFileSync(join(PRLOOM_WORKTREE, "work.txt"), "done\n");
writeFileSync(PRLOOM_PLAN_FILE, readFileSync(PRLOOM_PLAN_FILE, "utf8").replace("- [ ]", "- [x]"));
const { user, system } = process.cpuUsage();
const text = `took ${(user + system) / 1000} ms`;
say({ type: "item.completed", item: { id: "item_last", type: "agent_message", text } });
say({ type: "turn.completed", usage: { input_tokens: 50, cached_input_tokens: 0, output_tokens: 10 } });
