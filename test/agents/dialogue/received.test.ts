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
  assert.deepEqual(receivedIn(dialogue, [...lines, torn], [taken, queued]), [taken.id]);
});
