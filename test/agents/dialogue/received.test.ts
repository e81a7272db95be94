import assert from "node:assert/strict";
import { test } from "node:test";
import { claudeDialogue } from "../../../src/agents/claude/dialogue.ts";
import { uuidOf } from "../../../src/agents/claude/messages.ts";
import { receivedIn } from "../../../src/agents/dialogue/received.ts";

const taken = { id: "local-1", text: "use blue" };
const queued = { id: "local-2", text: "no, red" };
const uuid = uuidOf(taken.id);

test("the output of a run that was not followed to its end tells which messages it took", () => {
  const dialogue = claudeDialogue({ program: "claude", prompt: "", now: () => 0 });
  const lines = [
    { type: "system", subtype: "init", session_id: "s" },
    { type: "command_lifecycle", command_uuid: uuidOf(queued.id), state: "queued" },
    { type: "user", uuid, message: { role: "user", content: [{ type: "text", text: taken.text }] } },
  ].map((line) => JSON.stringify(line));
  // The last line is torn, as a kill leaves it.
  const torn = JSON.stringify({ type: "user", uuid: uuidOf(queued.id) }).slice(0, -4);
  const output = [...lines, torn].join("\n");
  assert.deepEqual(receivedIn(dialogue, { output, sent: [taken, queued], nameOf: uuidOf }), [taken.id]);
});

test("an output of millions of lines holds nobody up", () => {
  const dialogue = claudeDialogue({ program: "claude", prompt: "", now: () => 0 });
  const output = `${"{\n".repeat(8 * 1024 * 1024)}${JSON.stringify({ type: "user", uuid })}\n`;
  const begun = performance.now();
  assert.deepEqual(receivedIn(dialogue, { output, sent: [taken, queued], nameOf: uuidOf }), [taken.id]);
  const ms = performance.now() - begun;
  assert.ok(ms < 500, `${ms} ms`);
});
