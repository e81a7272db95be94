import assert from "node:assert/strict";
import { test } from "node:test";
import { UpdateReader } from "../../../src/agents/acp/updates.ts";
import type { AgentEvent } from "../../../src/agents/port.ts";

const reader = () => new UpdateReader(0, () => "model");
const chunk = (text: string) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const call = (toolCallId: string, more: object = {}) => ({ sessionUpdate: "tool_call", toolCallId, ...more });
const texts = (events: readonly AgentEvent[] = []) =>
  events.flatMap((event) => (event.type === "text" ? event.text : []));

test("an agent that never ends its line is heard, and only the end of it is kept", () => {
  const updates = reader();
  const before = process.cpuUsage();
  const said = Array.from({ length: 4000 }, () => texts(updates.read(chunk("a".repeat(1000))))).flat();
  const { user, system } = process.cpuUsage(before);
  assert((user + system) / 1000 < 1000);
  const rest = texts(updates.flush());
  assert.equal([...said, ...rest].join("").length, 4_000_000);
  for (const part of [...said, ...rest]) assert(part.length < 70_000);
});

test("of a call only what is understood is kept, however many fields are told of it", () => {
  const updates = reader();
  const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`k${at}`, at]));
  updates.read(call("a", { title: "Look", kind: "read", ...fields }));
  assert.deepEqual(updates.toldOf({ toolCallId: "a", rawInput: { path: "x" }, ...fields }), {
    kind: "read",
    rawInput: { path: "x" },
    title: "Look",
  });
});

test("a word about a long call costs what the word is long", () => {
  const updates = reader();
  updates.read(call("a", { title: "Write", rawInput: { content: "a".repeat(15_000_000) } }));
  const before = process.cpuUsage();
  for (let at = 0; at < 200; at += 1)
    updates.read({ sessionUpdate: "tool_call_update", toolCallId: "a", title: `${at}` });
  const { user, system } = process.cpuUsage(before);
  assert((user + system) / 1000 < 1000);
});

test("of calls that never end the oldest are forgotten, and the newest are not", () => {
  const updates = reader();
  const rawInput = { content: "a".repeat(4_000_000) };
  for (let at = 0; at < 20; at += 1) updates.read(call(`call-${at}`, { title: "Write", rawInput }));
  assert.deepEqual(updates.toldOf({ toolCallId: "call-0" }), {});
  assert.equal(updates.toldOf({ toolCallId: "call-19" }).title, "Write");
  // What is over is not counted any more.
  for (let at = 0; at < 20; at += 1) updates.read(call(`call-${at}`, { status: "completed" }));
  for (let at = 20; at < 26; at += 1) updates.read(call(`call-${at}`, { title: "Write", rawInput }));
  assert.equal(updates.toldOf({ toolCallId: "call-20" }).title, "Write");
});
