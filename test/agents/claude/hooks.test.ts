import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { claudeDialogue } from "../../../src/agents/claude/dialogue.ts";
import { claudeEnvironment, claudeInvocation } from "../../../src/agents/claude/invocation.ts";
import type { Dialogue, Heard } from "../../../src/agents/dialogue/dialogue.ts";
import type { Overseer } from "../../../src/agents/port.ts";

const dialogue = (): Dialogue => claudeDialogue({ program: "claude", prompt: "Do it.", overseen: true, now: () => 0 });

const hook = (event: string, input: object): string =>
  JSON.stringify({
    type: "control_request",
    request_id: "r1",
    request: { subtype: "hook_callback", callback_id: event, input: { hook_event_name: event, ...input } },
  });

const WRITE = { tool_name: "Write", tool_input: { file_path: "a" }, tool_use_id: "t1" };

/** What the program is told. */
function answered({ write = [] }: Heard): unknown[] {
  return write.map((line) => {
    const { response, request } = JSON.parse(line);
    return request ?? response.response;
  });
}

describe("a run of Claude Code that is judged from outside", () => {
  test("registers its hooks before it is told anything", () => {
    const [first, second] = dialogue().opening ?? [];
    const { request } = JSON.parse(first ?? "");
    assert.equal(request.subtype, "initialize");
    assert.deepEqual(Object.keys(request.hooks), [
      "PreToolUse",
      "PostToolUse",
      "PostToolUseFailure",
      "SubagentStart",
      "PreCompact",
      "UserPromptSubmit",
    ]);
    assert.match(second ?? "", /Do it\./);
  });

  test("has short names for calls and sub-agents, the same wherever it names them, as they are kept", () => {
    const talk = dialogue();
    const [call, by] = ["c", "s"].map((name) => name.repeat(1_000_000));
    talk.read(JSON.stringify({ type: "system", subtype: "task_started", task_id: by, tool_use_id: call }));
    const asked = { ...WRITE, tool_use_id: call, agent_id: by };
    const { ask } = talk.read(hook("PreToolUse", asked));
    const { callId = "", by: { session = "", startedBy = "" } = {} } = ask?.request ?? {};
    for (const name of [callId, session]) assert.ok(name.length > 0 && name.length <= 200);
    assert.equal(startedBy, callId);
    const permission = { subtype: "can_use_tool", ...asked, input: {} };
    const again = talk.read(JSON.stringify({ type: "control_request", request_id: "r2", request: permission }));
    assert.deepEqual([again.ask?.request.callId, again.ask?.request.by], [callId, { session, startedBy }]);
    const { tell } = talk.read(hook("PostToolUse", asked));
    assert.deepEqual(tell?.told, { kind: "ended", callId, ok: true, by: { session, startedBy } });
    const brought = { type: "user", message: { content: [{ type: "tool_result", tool_use_id: call, content: "" }] } };
    const heard = talk.read(JSON.stringify(brought));
    assert.equal(heard.policyEnd, undefined);
    assert.deepEqual(heard.events, [{ type: "tool_result", id: callId, output: "", failed: false }]);
  });

  test("asks about each call, and is told why not", () => {
    const { ask } = dialogue().read(hook("PreToolUse", { ...WRITE, cwd: "/repo/src" }));
    assert.deepEqual(ask?.request, {
      tool: "Write",
      input: { file_path: "a" },
      callId: "t1",
      folder: "/repo/src",
      reads: false,
      question: "May Write be used?",
    });
    const decided = (fields: object) => [{ hookSpecificOutput: { hookEventName: "PreToolUse", ...fields } }];
    const { answer } = ask ?? assert.fail();
    assert.deepEqual(answered(answer({ allow: true })), decided({ permissionDecision: "allow" }));
    assert.deepEqual(
      answered(answer({ allow: true, note: "a fault of ours" })),
      decided({ permissionDecision: "allow", additionalContext: "a fault of ours" }),
    );
    const denied = answer({ allow: false, reason: "Not there." });
    assert.deepEqual(answered(denied), decided({ permissionDecision: "deny", permissionDecisionReason: "Not there." }));
    assert.deepEqual(denied.events, [], "it was answered: no person is waited for");
  });

  test("tells whose call it is, and by which call that one was started, also when it goes on", () => {
    const talk = dialogue();
    const started = (call: string) =>
      JSON.stringify({ type: "system", subtype: "task_started", task_id: "a1", tool_use_id: call });
    talk.read(started("t0"));
    talk.read(started("t9"));
    const by = { session: "a1", startedBy: "t0" };
    assert.deepEqual(talk.read(hook("PreToolUse", { ...WRITE, agent_id: "a1" })).ask?.request.by, by);
    assert.deepEqual(talk.read(hook("SubagentStart", { agent_id: "a1" })).tell?.told, { kind: "sub-agent", by });
    assert.deepEqual(talk.read(hook("PreToolUse", { ...WRITE, agent_id: "a2" })).ask?.request.by, { session: "a2" });
    const request = { subtype: "can_use_tool", tool_name: "Write", tool_use_id: "t1", input: {}, agent_id: "a1" };
    const asked = talk.read(JSON.stringify({ type: "control_request", request_id: "r2", request }));
    assert.deepEqual([asked.ask?.request.by, asked.ask?.request.callId], [by, "t1"]);
  });

  const table: readonly (readonly [event: string, input: object, told: object, answer: object])[] = [
    [
      "PostToolUse",
      WRITE,
      { kind: "ended", callId: "t1", ok: true },
      { hookSpecificOutput: { hookEventName: "PostToolUse", updatedMCPToolOutput: [{ type: "text", text: "Hear." }] } },
    ],
    [
      "UserPromptSubmit",
      { prompt: "x" },
      { kind: "prompt", said: "x" },
      { hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "Hear." } },
    ],
    ["PreCompact", { trigger: "auto" }, { kind: "compaction" }, { systemMessage: "Hear." }],
  ];
  for (const [event, input, told, answer] of table)
    test(`${event}: tells, and hears what is answered`, () => {
      const { tell } = dialogue().read(hook(event, input));
      assert.deepEqual(tell?.told, told);
      assert.deepEqual(answered(tell?.answer({ text: "Hear." }) ?? assert.fail()), [answer]);
      assert.deepEqual(answered(tell.answer({})), [{}]);
    });

  test("tells what a sub-agent said at its end, and of other calls only that they are over", () => {
    const content = [{ type: "text", text: "It is in a.ts." }];
    const over = (tool_response: object) =>
      dialogue().read(hook("PostToolUse", { ...WRITE, tool_response })).tell?.told;
    const ended = { kind: "ended", callId: "t1", ok: true };
    assert.deepEqual(over({ agentId: "a1", content }), { ...ended, said: "It is in a.ts." });
    const used = { text: "<tools-used-before-summary>Bash</tools-used-before-summary>\n" };
    assert.deepEqual(over({ agentId: "a1", content: [used, ...content] }), { ...ended, said: "It is in a.ts." });
    assert.deepEqual(over({ content }), ended);
  });

  for (const [what, more] of [
    ["ended with 1 behind a program whose 1 is no error for it", { returnCodeInterpretation: "No matches found" }],
    ["goes on in the background", { backgroundTaskId: "b1" }],
  ] as const)
    test(`takes a command for no success that ${what}`, () => {
      const tool_response = { stdout: "", stderr: "", interrupted: false, isImage: false };
      const ended = (response: object) => dialogue().read(hook("PostToolUse", { ...WRITE, tool_response: response }));
      assert.deepEqual(ended(tool_response).tell?.told, { kind: "ended", callId: "t1", ok: true });
      assert.deepEqual(ended({ ...tool_response, ...more }).tell?.told, { kind: "ended", callId: "t1", ok: false });
    });

  test("hears about a call what is not its result", () => {
    const { tell } = dialogue().read(hook("PostToolUseFailure", WRITE));
    assert.deepEqual(answered(tell?.answer({ note: "Put back." }) ?? assert.fail()), [
      { hookSpecificOutput: { hookEventName: "PostToolUseFailure", additionalContext: "Put back." } },
    ]);
  });

  test("a call that failed is over as well, and a sub-agent that was recalled is ended", () => {
    const { tell } = dialogue().read(hook("PostToolUseFailure", WRITE));
    assert.deepEqual(tell?.told, { kind: "ended", callId: "t1", ok: false });
    const [, stop] = answered(tell?.answer({ ends: "a1" }) ?? assert.fail());
    assert.deepEqual(stop, { subtype: "stop_task", task_id: "a1" });
  });

  test("gets an answer to hooks and requests that are not known", () => {
    for (const line of [hook("Newer", {}), hook("PostToolUse", {}), hook("SubagentStart", {})])
      assert.match(dialogue().read(line).write?.[0] ?? "", /"subtype":"error","request_id":"r1"/);
  });

  const answer = (model: string) =>
    JSON.stringify({ type: "assistant", message: { id: "m", model, content: [{ type: "text", text: "x" }] } });
  const result = (id: string, is_error: boolean) =>
    JSON.stringify({
      type: "user",
      message: { content: [{ type: "tool_result", tool_use_id: id, content: "x", is_error }] },
    });
  const PROMPTED = hook("UserPromptSubmit", { prompt: "Do it." });
  const ended = (...lines: readonly string[]): boolean[] => {
    const talk = dialogue();
    return lines.map((line) => /did not ask prloom's hooks/.test(talk.read(line).policyEnd ?? ""));
  };

  test("is ended where the model answers and no hook was asked, whatever is printed then", () => {
    assert.deepEqual(ended(PROMPTED, answer("m")), [false, false]);
    assert.deepEqual(ended(answer("<synthetic>"), PROMPTED, answer("m")), [false, false, false]);
    assert.deepEqual(ended(answer("m"), PROMPTED), [true, true]);
  });

  test("is ended where a call ran that no hook was asked about; one that failed may not have got so far", () => {
    const asked = hook("PreToolUse", WRITE);
    const lines = [PROMPTED, answer("m"), asked, result("t1", false), result("t2", true), result("t3", false)];
    assert.deepEqual(ended(...lines), [false, false, false, false, false, true]);
  });

  test("is permitted nothing that no hook was asked about", () => {
    const request = { subtype: "can_use_tool", tool_name: "Bash", tool_use_id: "t7", input: { command: "ls" } };
    const { ask, write = [] } = dialogue().read(JSON.stringify({ type: "control_request", request_id: "r", request }));
    assert.equal(ask, undefined);
    assert.match(write.join(), /"behavior":"deny","message":"GOVERNANCE BLOCK/);
  });

  test("is ended where a call ran that was refused, and only there", () => {
    const asks = (id: string, more = {}) =>
      JSON.stringify({
        type: "control_request",
        request_id: "r",
        request: { subtype: "can_use_tool", tool_name: "Write", tool_use_id: id, input: {}, ...more },
      });
    const call = (id: string, more = {}) => ({ ...WRITE, tool_use_id: id, ...more });
    for (const event of ["PostToolUse", "PostToolUseFailure"]) {
      const talk = dialogue();
      const judged = (id: string, allow: boolean, more = {}): void => {
        talk.read(hook("PreToolUse", call(id, more)));
        const { ask } = talk.read(asks(id, more));
        ask?.answer(allow ? { allow } : { allow, reason: "GOVERNANCE BLOCK" });
      };
      const isEnded = (id: string, more = {}): boolean =>
        /ran that prloom had denied/.test(talk.read(hook(event, call(id, more))).policyEnd ?? "");
      judged("t1", true);
      judged("t2", false);
      judged("t2", true, { agent_id: "a1" });
      assert.deepEqual([isEnded("t1"), isEnded("t2"), isEnded("t2", { agent_id: "a1" })], [false, true, false], event);
      judged("t2", true);
      assert.equal(isEnded("t2"), false, "another call with the id of an earlier one");
    }
  });

  test("has its hooks switched on, whatever its user's environment says", () => {
    const env = { CLAUDE_CODE_SIMPLE: "1", DISABLE_TELEMETRY: "0" };
    const overseer = {} as Overseer;
    assert.equal(claudeEnvironment(env, { sandboxed: true, overseer }).CLAUDE_CODE_SIMPLE, "0");
    assert.equal(claudeEnvironment(env, { sandboxed: true }).CLAUDE_CODE_SIMPLE, undefined);
  });

  test("is started so that it asks about everything, whatever its user's arguments say", () => {
    const server = { command: "/run/prloom-node", args: ["/run/prloom-program/cli.js", "mcp"], env: { X: "1" } };
    const overseer: Overseer = { permit: () => ({ allow: true }), tell: async () => ({}), server, shell: "/bin/bash" };
    const spec = { name: "c", command: "claude", projectSettings: false, args: ["--dangerously-skip-permissions"] };
    const started = claudeInvocation(spec, { sandboxed: true, overseer });
    const args = "args" in started ? started.args : [];
    const ours = args.slice(args.indexOf("--dangerously-skip-permissions") + 1);
    assert.equal(args.filter((arg) => arg === "--dangerously-skip-permissions").length, 1, "not by us");
    assert.deepEqual(ours, [
      ...["--permission-mode", "default", "--permission-prompt-tool", "stdio"],
      ...["--mcp-config", JSON.stringify({ mcpServers: { prloom: { type: "stdio", ...server } } })],
      "--settings",
      JSON.stringify({
        permissions: { ask: ["*"], disableBypassPermissionsMode: "disable" },
        env: {
          ...{ SHELL: "/bin/bash", CLAUDE_CODE_SHELL: "/bin/bash" },
          ...{ CLAUDE_CODE_SIMPLE: "0", CLAUDE_CODE_DISABLE_FILE_MENTIONS: "1" },
        },
      }),
    ]);
  });
});
