import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { claudeDialogue } from "../../../src/agents/claude/dialogue.ts";
import { claudeEnvironment, claudeInvocation } from "../../../src/agents/claude/invocation.ts";
import { userLine, uuidOf } from "../../../src/agents/claude/messages.ts";
import type { Dialogue } from "../../../src/agents/dialogue/dialogue.ts";
import { heard } from "../../testing/printed-lines.ts";

function dialogue(now = 0): Dialogue {
  return claudeDialogue({ program: "claude", prompt: "Do it.", now: () => now });
}

const INIT = '{"type":"system","subtype":"init","session_id":"s1"}';
const RESULT = '{"type":"result","subtype":"success","is_error":false}';

describe("what Claude Code prints", () => {
  test("the same lines cut at any length mean the same", () => {
    const big = {
      type: "assistant",
      message: { id: "m", model: "x", content: [{ type: "text", text: "y".repeat(200_000) }] },
    };
    const whole = JSON.stringify(big);
    const parts = [
      whole.slice(0, 65_536),
      whole.slice(65_536, 131_072),
      whole.slice(131_072, 196_608),
      whole.slice(196_608),
    ];
    assert.deepEqual(heard(dialogue(), parts), heard(dialogue(), [whole]));
  });

  test("a limit of the user's plan is told with the time at which it ends", () => {
    const limit =
      '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":5000,"rateLimitType":"five_hour"}}';
    const result = '{"type":"result","is_error":true,"api_error_status":429,"result":"You have hit your limit"}';
    assert.deepEqual(heard(dialogue(4_000_000), [INIT, limit, result]), [
      "session",
      "error quota in 1000000: You have hit your limit",
      "> end",
    ]);
    const allowed = limit.replace("rejected", "allowed");
    const lines = heard(dialogue(4_000_000), [INIT, limit, allowed, result.replace("You have hit your limit", "no")]);
    assert.deepEqual(lines[1], "error rate-limit: no");
  });

  test("answers of sub-agents that come in between are counted once", () => {
    const answer = (id: string, output: number): string =>
      JSON.stringify({
        type: "assistant",
        message: { id, model: "x", content: [], usage: { input_tokens: 10, output_tokens: output } },
      });
    assert.deepEqual(heard(dialogue(), [answer("a", 1), answer("b", 1), answer("a", 1), answer("b", 5)]), [
      "turn",
      "usage x 10/0/1",
      "turn",
      "usage x 10/0/1",
      "usage x 0/0/4",
    ]);
  });

  test("a result may call the model by a longer name", () => {
    const answer =
      '{"type":"assistant","message":{"id":"a","model":"x","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}';
    const usage = { "x[1m]": { inputTokens: 10, outputTokens: 7, costUSD: 0.5 } };
    const result = JSON.stringify({ type: "result", is_error: false, model_usage_since_last_result: usage });
    assert.deepEqual(heard(dialogue(), [answer, result]), [
      "turn",
      "usage x 10/0/1",
      "usage x 0/0/6 $0.500000",
      "> end",
    ]);
  });
});

describe("talking to Claude Code", () => {
  test("the prompt comes first, as its user", () => {
    assert.deepEqual(JSON.parse(dialogue().opening?.[0] ?? "").message.content, [{ type: "text", text: "Do it." }]);
  });

  test("stdin is closed after a result, but not while a message is on its way", () => {
    const talk = dialogue();
    assert.equal(talk.read(INIT).end, undefined);
    assert(talk.send?.({ id: "m1", text: "x" }));
    assert.equal(talk.read(RESULT).end, undefined);
    const started = JSON.stringify({ type: "command_lifecycle", command_uuid: uuidOf("m1"), state: "started" });
    assert.deepEqual(talk.read(started).events, [{ type: "received", messageId: "m1" }]);
    assert.deepEqual(talk.read(started.replace("started", "completed")), { events: [] });
    assert.equal(talk.read(RESULT).end, true);
    assert.equal(talk.send?.({ id: "m2", text: "x" }), undefined);
    assert.equal(talk.read(RESULT).end, undefined);
  });

  test("a message that the conversation has already, and that is over without an answer, keeps nothing open", () => {
    const talk = dialogue();
    talk.send?.({ id: "m1", text: "x" });
    assert.equal(talk.read(RESULT).end, undefined);
    const replay = JSON.stringify({ type: "user", uuid: uuidOf("m1"), isReplay: true, message: { content: [] } });
    assert.deepEqual(talk.read(replay), { events: [{ type: "received", messageId: "m1" }] });
    const over = JSON.stringify({ type: "command_lifecycle", command_uuid: uuidOf("m1"), state: "completed" });
    assert.deepEqual(talk.read(over), { events: [], end: true });
  });

  test("a message that the program will not take is not waited for", () => {
    for (const state of ["cancelled", "discarded", "refused"]) {
      const talk = dialogue();
      talk.send?.({ id: "m1", text: "x" });
      const told = talk.read(JSON.stringify({ type: "command_lifecycle", command_uuid: uuidOf("m1"), state }));
      assert.deepEqual([told.events, talk.read(RESULT).end], [[], true]);
    }
  });

  test("whatever else it asks gets an answer", () => {
    const { events, write } = dialogue().read(
      '{"type":"control_request","request_id":"r1","request":{"subtype":"new_thing"}}',
    );
    assert.deepEqual(events, []);
    assert.match(write?.[0] ?? "", /"subtype":"error","request_id":"r1"/);
  });

  test("what begins with a slash is not a command", () => {
    assert.match(userLine("/clear"), /"text":" \/clear"/);
    assert.match(userLine("a /clear"), /"text":"a \/clear"/);
  });

  test("messages have names that the program accepts, always the same and all different", () => {
    const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    fc.assert(fc.property(fc.string(), (id) => shape.test(uuidOf(id))));
    assert.equal(uuidOf("message-1"), "9deb880b-43bd-46f4-a5a0-afb130aed71b");
    assert.equal(new Set(Array.from({ length: 1000 }, (_, n) => uuidOf(`m${n}`))).size, 1000);
  });
});

describe("a format that has changed", () => {
  test("is told with what was expected and what came", () => {
    const [line, ...others] = heard(dialogue(), ['{"kind":"hello","v":3}', '{"kind":"bye"}']);
    assert.deepEqual(others, []);
    assert.match(
      line ?? "",
      /^error format: claude printed nothing that prloom knows\. Expected .*"init".*came: \{"kind":"hello","v":3\}$/,
    );
    assert.match(
      heard(dialogue(), ["error: unknown option '--verbose'"]).at(-1) ?? "",
      /^error format: .*unknown option/,
    );
  });

  test("is not suspected when something was understood, or nothing was printed", () => {
    assert.deepEqual(heard(dialogue(), [INIT, '{"type":"new_thing"}', '{"type":"system","subtype":"newer"}']), [
      "session",
    ]);
    assert.deepEqual(heard(dialogue(), []), []);
  });
});

describe("how Claude Code is started", () => {
  const spec = { name: "c", command: "claude", projectSettings: false };
  const BASE = "-p --output-format stream-json --verbose --input-format stream-json --replay-user-messages";
  const table: readonly (readonly [object, object, string])[] = [
    [{}, { sandboxed: true }, "--setting-sources user --dangerously-skip-permissions"],
    [{}, { sandboxed: false }, "--setting-sources user --permission-mode acceptEdits --allowedTools Bash"],
    [
      { projectSettings: true },
      { sandboxed: true, instructions: "/w/CLAUDE.md" },
      "--setting-sources user,project --dangerously-skip-permissions",
    ],
    [
      { args: ["--effort", "high"] },
      { sandboxed: true, sessionId: "s1", model: "opus", instructions: "/w/CLAUDE.md" },
      "--setting-sources user --dangerously-skip-permissions --resume s1 --model opus --append-system-prompt-file /w/CLAUDE.md --effort high",
    ],
  ];
  for (const [more, start, expected] of table) {
    test(expected, () => {
      const invocation = claudeInvocation({ ...spec, ...more }, { sandboxed: false, ...start });
      assert.deepEqual(invocation, { program: "claude", args: `${BASE} ${expected}`.split(" ") });
    });
  }

  test("it neither changes itself nor reports, and what the user set stays", () => {
    const env = claudeEnvironment({ CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "0" }, { sandboxed: true });
    assert.deepEqual(Object.keys(env).sort(), [
      "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
      "DISABLE_AUTOUPDATER",
      "DISABLE_ERROR_REPORTING",
      "DISABLE_TELEMETRY",
      "IS_SANDBOX",
    ]);
    assert(!("IS_SANDBOX" in claudeEnvironment({}, { sandboxed: false })));
  });
});
