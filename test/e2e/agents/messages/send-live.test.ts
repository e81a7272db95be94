import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { appears } from "../../../testing/agents/agent-scripts.ts";
import { startDaemon } from "../../../testing/daemon.ts";
import { makeProject } from "../../../testing/project.ts";
import { thorough } from "../../../testing/thorough.ts";

/**
 * Stands for Claude Code as far as messages go: asks its hook about each, answers its prompt, then takes what it is sent between two answers, but
 * leaves in its queue what says "hold". It does the TODO when it is told to, or when it goes on with a conversation.
 */
const TALKER = `#!/usr/bin/env node
const { appendFileSync, readFileSync, writeFileSync } = require("node:fs");
const { PRLOOM_PLAN_FILE, PRLOOM_WORKTREE } = process.env;
const say = (value) => console.log(JSON.stringify(value));
let answers = 0;
function answer(text) {
  appendFileSync(PRLOOM_WORKTREE + "/conversation.txt", text + "\\n---\\n");
  const message = { id: "m" + (answers += 1), model: "stub", content: [{ type: "text", text: "yes" }], usage: {} };
  say({ type: "assistant", message });
  if (!text.includes("do it now") && !process.argv.includes("--resume")) return;
  writeFileSync(PRLOOM_PLAN_FILE, readFileSync(PRLOOM_PLAN_FILE, "utf8").replace("[ ]", "[x]"));
  say({ type: "result", subtype: "success", is_error: false });
}
say({ type: "system", subtype: "init", session_id: "5e550000-0000-4000-8000-000000000001" });
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { type, uuid, message } = JSON.parse(line);
  if (type !== "user") return;
  const { text } = message.content[0];
  const request = { subtype: "hook_callback", callback_id: "UserPromptSubmit", input: { hook_event_name: "UserPromptSubmit" } };
  say({ type: "control_request", request_id: "hook", request });
  if (uuid === undefined) return answer(text);
  if (text.includes("hold")) return say({ type: "command_lifecycle", command_uuid: uuid, state: "queued" });
  say({ type: "user", uuid, message, isReplay: true });
  answer(text);
});
`;

const project = makeProject();
const talker = join(project.root, "tools", "talker");
mkdirSync(join(project.root, "tools"));
writeFileSync(talker, TALKER);
chmodSync(talker, 0o755);
project.config({ agents: { talker: { adapter: "claude", command: talker } }, stages: { default: "talker" } });
project.git("add", "-A");
project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "tools");
after(() => project.remove());

const worktreeFile = (id: string, name: string) => join(project.worktree(id), name);
const countIn = (text: string, words: string): number => text.split(words).length - 1;

test("a message reaches an agent that listens while it works", async () => {
  project.plan("p", ["one", "two"]);
  const daemon = await startDaemon(project);
  await daemon.said("p", /worker started/);
  await appears(worktreeFile("p", "conversation.txt"));
  const sent = await project.cli(["send", "p", "use the blue one"]);
  assert.equal(sent.stdout, "reached talker in run 1.\n");
  const { delivery, run, agent } = JSON.parse((await project.cli(["send", "p", "do it now", "--json"])).stdout);
  assert.deepEqual({ delivery, run, agent }, { delivery: "reached", run: 1, agent: "talker" });
  await daemon.said("p", /worker started \(run 2/);
  await daemon.end();
  assert.equal(countIn(readFileSync(worktreeFile("p", "conversation.txt"), "utf8"), "use the blue one"), 1);
});

/** As a kill a moment earlier would have left it: the program has taken the message, and no dispatcher has read that it did. */
function unread(id: string, run: number): void {
  const home = join(project.authority, "plans", id);
  const events = join(home, "runs", String(run), "events.jsonl");
  const kept = readFileSync(events, "utf8").split("\n");
  const others = kept.filter((line) => !line.includes('"received"'));
  assert.ok(others.length < kept.length);
  writeFileSync(events, others.join("\n"));
  const messages = join(home, "messages.json");
  writeFileSync(messages, readFileSync(messages, "utf8").replaceAll('"heard": true', '"heard": false'));
}

test(
  "kill -9: what it took is not said again in the conversation that goes on, what it did not take is, once",
  thorough,
  async () => {
    project.plan("q", ["one"]);
    const daemon = await startDaemon(project);
    await daemon.said("q", /worker started/);
    await appears(worktreeFile("q", "conversation.txt"));
    assert.equal((await project.cli(["send", "q", "mind the gap"])).stdout, "reached talker in run 1.\n");
    const held = await project.cli(["send", "q", "hold the door"]);
    assert.match(
      held.stdout,
      /^handed to talker in run 1, which takes it up between two steps; else its next turn gets it/,
    );
    await daemon.end("SIGKILL");
    unread("q", 1);
    const second = await startDaemon(project);
    await second.said("q", /in review|ready/i);
    await second.end();
    assert.equal(project.record("q").status, "review");
    const conversation = project.git("show", "prloom/q:conversation.txt");
    assert.equal(countIn(conversation, "mind the gap"), 1);
    assert.equal(countIn(conversation, "hold the door"), 1);
    assert.equal(project.record("q").runs, 2);
    assert.match(project.runFile("q", 2, "prompt.md"), /> hold the door/);
  },
);
