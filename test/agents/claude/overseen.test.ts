import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { claudeAdapter } from "../../../src/agents/claude/adapter.ts";
import type { AgentEvent, Overseer, PermitRequest, Told } from "../../../src/agents/port.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-overseen-"));
after(() => rmSync(root, { recursive: true, force: true }));

/** Speaks as Claude Code does: asks by a hook, then for a permission, tells that the call is over, or another one if that was denied, and says all answers. */
const ASKS = `#!${process.execPath}
const say = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
const call = { tool_name: "Write", tool_use_id: "t1", agent_id: "a1" };
const hook = (hook_event_name) => ({ subtype: "hook_callback", input: { hook_event_name, ...call, tool_input: {} } });
const requests = [hook("PreToolUse"), { subtype: "can_use_tool", ...call, input: {} }, hook("PostToolUse")];
const ask = () => {
  if (answers.at(-1)?.behavior === "deny") requests[0].input.tool_use_id = "t0";
  say({ type: "control_request", request_id: "r" + requests.length, request: requests.shift() });
};
say({ type: "control_request", request_id: "r0", request: { subtype: "hook_callback", callback_id: "UserPromptSubmit", input: {} } });
say({ type: "system", subtype: "init", session_id: "s1" });
say({ type: "system", subtype: "task_started", task_id: "a1", tool_use_id: "t0" });
const answers = [];
const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { type, request, response } = JSON.parse(line);
  if (type === "control_request") return say({ type: "control_response", response: { subtype: "success" } });
  if (response?.request_id === "r0") return;
  if (type === "control_response") answers.push(response.response);
  if (requests.length > 0) return ask();
  say({ type: "assistant", message: { id: "m", model: "m", content: [{ type: "text", text: JSON.stringify(answers) }] } });
  say({ type: "result", subtype: "success", is_error: false });
});
lines.on("close", () => process.exit(0));
`;

async function run(name: string, overseer: Pick<Overseer, "permit" | "tell">) {
  const file = join(root, name);
  writeFileSync(file, ASKS);
  chmodSync(file, 0o755);
  const events: AgentEvent[] = [];
  for await (const event of claudeAdapter({ name: "test", command: file, projectSettings: false }).start({
    stage: "worker",
    prompt: "Do it.",
    cwd: root,
    runDir: `${file}.run`,
    runId: `overseen-${process.pid}/${name}`,
    env: { PATH: process.env.PATH ?? "" },
    limits: { deadlineMs: 60_000, silenceMs: 60_000, maxOutputBytes: 100_000, graceMs: 500 },
    sandboxed: true,
    signal: new AbortController().signal,
    // It would permit everything.
    permit: () => ({ allow: true }),
    overseer: { ...overseer, server: { command: "node", args: [], env: {} }, shell: "/bin/bash" },
  }))
    events.push(event);
  const [text] = events.flatMap((event) => (event.type === "text" ? [event.text] : []));
  assert(!events.some(({ type }) => type === "waiting"), "nothing waits for a person");
  return { answers: JSON.parse(text ?? "null"), done: events.at(-1)?.type };
}

const decided = (fields: object) => ({ hookSpecificOutput: { hookEventName: "PreToolUse", ...fields } });

describe("a conversation that is judged from outside", () => {
  test("asks the one who judges, no other, and tells it what came of the call", async () => {
    const asked: PermitRequest[] = [];
    const told: Told[] = [];
    const { answers, done } = await run("asks", {
      permit: (request) => {
        asked.push(request);
        return { allow: true };
      },
      tell: async (one) => {
        told.push(one);
        return { text: "Recorded." };
      },
    });
    const by = { session: "a1", startedBy: "t0" };
    assert.deepEqual(
      asked.map((request) => [request.callId, request.by]),
      [
        ["t1", by],
        ["t1", by],
      ],
    );
    assert.deepEqual(told, [{ kind: "ended", callId: "t1", ok: true, by }]);
    const output = { hookEventName: "PostToolUse", updatedMCPToolOutput: [{ type: "text", text: "Recorded." }] };
    assert.deepEqual(answers, [
      decided({ permissionDecision: "allow" }),
      { behavior: "allow", updatedInput: {} },
      { hookSpecificOutput: output },
    ]);
    assert.equal(done, "done");
  });

  test("permits nothing when that one fails, and goes on", async () => {
    const fails = () => Promise.reject(new Error("no judge"));
    const { answers, done } = await run("fails", { permit: fails, tell: fails });
    const reason = "prloom could not decide whether Write may be used: no judge";
    assert.deepEqual(answers, [
      decided({ permissionDecision: "deny", permissionDecisionReason: reason }),
      { behavior: "deny", message: reason },
      {},
    ]);
    assert.equal(done, "done");
  });
});
