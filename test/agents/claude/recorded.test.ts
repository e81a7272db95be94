import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { claudeDialogue } from "../../../src/agents/claude/dialogue.ts";
import { uuidOf } from "../../../src/agents/claude/messages.ts";
import type { Dialogue } from "../../../src/agents/dialogue/dialogue.ts";
import { assertUnshaken, heard } from "../../testing/printed-lines.ts";

function dialogue(): Dialogue {
  return claudeDialogue({ program: "claude", prompt: "Do it.", now: () => 0 });
}

function recorded(name: string): string[] {
  const text = readFileSync(new URL(`../fixtures/claude/${name}.log`, import.meta.url), "utf8");
  return text.trimEnd().split("\n");
}

const NO_PERSON = "No person can be asked in this run. Do without it, and say in your report what you could not do.";
/** What was answered when it was recorded. */
const ANSWERED = "Nobody is there to ask. Do without it, and say in your report what you could not do.";

/** What version 2.1.325 printed, and what it means. */
const RECORDED: readonly (readonly [name: string, expected: readonly string[]])[] = [
  [
    "work",
    [
      "session",
      "turn",
      "text I write.",
      "usage claude-opus-5-5 100/0/1",
      'call Write {"file_path":"/worktree/hello.txt","content":"hello\\n"}',
      "result File created successfully at: /worktree/hello.txt (file state is current in your context — no need to Read it back)",
      "turn",
      'call Bash {"command":"cat hello.txt; exit 3","description":"Run it"}',
      "usage claude-opus-5-5 200/50/1",
      "failed Exit code 3",
      "turn",
      "text Done.",
      "usage claude-opus-5-5 100/0/1",
      "usage claude-opus-5-5 0/0/37 $0.002210",
      "> end",
    ],
  ],
  [
    "resumed",
    [
      "session",
      "turn",
      "text I remember.",
      "usage claude-opus-5-5 1000/0/1",
      "usage claude-opus-5-5 0/0/4 $0.004100",
      "> end",
    ],
  ],
  [
    "key-refused",
    [
      "session",
      "error auth, again in 562: The provider refused (status 401, authentication_failed); attempt 1.",
      "error auth, again in 1195: The provider refused (status 401, authentication_failed); attempt 2.",
      "error auth, again in 2142: The provider refused (status 401, authentication_failed); attempt 3.",
      '> {"type":"control_request","request_id":"prloom-gives-up","request":{"subtype":"interrupt"}}',
      "error auth: The provider refused (status 401, authentication_failed); attempt 3.",
      "> end",
    ],
  ],
  [
    "too-often",
    [
      "session",
      "error rate-limit, again in 1000: The provider refused (status 429, rate_limit); attempt 1.",
      "error rate-limit: API Error: Request rejected (429) · This request would exceed your organization's rate limit",
      "> end",
    ],
  ],
  ["no-credit", ["session", "error quota: Credit balance is too low", "> end"]],
  ["not-logged-in", ["session", "error auth: Not logged in · Please run /login", "> end"]],
  [
    "session-lost",
    [
      "text No conversation found with session ID: 00000000-0000-4000-8000-000000000000",
      "error session-lost: No conversation found with session ID: 00000000-0000-4000-8000-000000000000",
      "> end",
    ],
  ],
  [
    "refused-outside",
    [
      "session",
      "turn",
      'call Write {"file_path":"/outside.txt","content":"x"}',
      "usage claude-opus-5-5 299/0/1",
      "waiting May Write be used? Path is outside allowed working directories",
      "failed Claude requested permissions to write to /outside.txt, but you haven't granted it yet.",
      "turn",
      "text Done.",
      "usage claude-opus-5-5 342/0/1",
      "usage claude-opus-5-5 0/0/38 $0.003364",
      "> end",
    ],
  ],
  [
    "asks",
    [
      "session",
      "turn",
      'call Write {"file_path":"/outside.txt","content":"x"}',
      "usage claude-opus-5-5 299/0/1",
      "waiting May Write be used? Path is outside allowed working directories",
      `> {"type":"control_response","response":{"subtype":"success","request_id":"6f98ffeb-f93c-42d8-b22c-faade58dc036","response":{"behavior":"deny","message":"${NO_PERSON}"}}}`,
      `failed ${ANSWERED}`,
      "turn",
      "text Done.",
      "usage claude-opus-5-5 334/0/1",
      "usage claude-opus-5-5 0/0/38 $0.003332",
      "> end",
    ],
  ],
  [
    "background-agent",
    [
      "session",
      "turn",
      'call Agent {"description":"sub","subagent_type":"general-purpose","prompt":"sub task","run_in_background":true}',
      "usage claude-opus-5-5 299/0/1",
      "result Async agent launched successfully. (This tool result is internal metadata — never quote or paste any part of it, including the agentId below, into a user-facing reply.)",
      "turn",
      'call Bash {"command":"sleep 1","description":"Run it"}',
      "usage claude-opus-5-5 299/0/1",
      "turn",
      "text Parent done.",
      "usage claude-opus-5-5 588/0/1",
      "usage claude-opus-5-5 0/0/57 $0.005944",
      "> end",
      "result (Bash completed with no output)",
      "turn",
      "text Sub done.",
      "usage claude-opus-5-5 321/0/1",
      "turn",
      "text Parent done.",
      "usage claude-opus-5-5 950/0/1",
      "usage claude-opus-5-5 0/0/38 $0.005884",
    ],
  ],
];

describe("what Claude Code prints", () => {
  for (const [name, expected] of RECORDED) {
    test(`recorded: ${name}`, () => assert.deepEqual(heard(dialogue(), recorded(name)), expected));
  }

  test("recorded: a message that was sent is told once, when it is a part of the conversation", () => {
    const talk = dialogue();
    const [sent] = talk.send?.({ id: "message-1", text: "Hurry up." }) ?? [];
    assert.equal(JSON.parse(sent ?? "").uuid, uuidOf("message-1"));
    const lines = heard(talk, recorded("live-message"));
    assert.deepEqual(
      lines.filter((one) => one.startsWith("received")),
      ["received message-1"],
    );
    const firsts = ["call", "received", "text"].map((kind) => lines.findIndex((one) => one.startsWith(kind)));
    assert.deepEqual([firsts.includes(-1), firsts.toSorted((a, b) => a - b)], [false, firsts]);
  });

  test("nothing that could be printed throws, and nothing is ever given back", () => {
    assertUnshaken(dialogue, {
      types: ["system", "init", "assistant", "user", "result", "api_retry", "command_lifecycle", "control_request"],
      keys: [
        ...["subtype", "message", "content", "usage", "uuid", "request", "model", "id", "error", "state", "result"],
        ...["input_tokens", "output_tokens", "model_usage_since_last_result", "inputTokens", "costUSD", "attempt"],
      ],
      recorded: RECORDED.flatMap(([name]) => recorded(name)),
    });
  });
});
