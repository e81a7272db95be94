import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { codexDialogue } from "../../../src/agents/codex/dialogue.ts";
import { codexFailure } from "../../../src/agents/codex/failure.ts";
import { codexInvocation } from "../../../src/agents/codex/invocation.ts";
import { codexProgram } from "../../../src/agents/codex/program.ts";
import type { Dialogue } from "../../../src/agents/dialogue/dialogue.ts";
import { earlierUsage } from "../../../src/agents/run-log/earlier-usage.ts";
import { openRunLog } from "../../../src/agents/run-log/run-log.ts";
import { assertUnshaken, heard } from "../../testing/printed-lines.ts";

const NOTHING = { input: 0, output: 0, cached: 0 };
const dir = mkdtempSync(join(tmpdir(), "prloom-codex-"));
after(() => rmSync(dir, { recursive: true, force: true }));

function dialogue(before = NOTHING): Dialogue {
  return codexDialogue({ program: "codex", model: "m1", before, now: () => 0 });
}

function recorded(name: string): string[] {
  const text = readFileSync(new URL(`../fixtures/codex/${name}.log`, import.meta.url), "utf8");
  return text.replace(/\n$/, "").split("\n");
}

/** Said by the program about a model that it does not know; of no interest here. */
const told = (name: string, before = NOTHING): string[] =>
  heard(dialogue(before), recorded(name)).filter((line) => !line.startsWith("text Model metadata"));

describe("what Codex prints", () => {
  test("work with tools; answers are told apart by the results between them", () => {
    assert.deepEqual(told("work"), [
      "session",
      "turn",
      "text I write.",
      `call command_execution {"command":"/bin/bash -lc 'echo hello > hello.txt'"}`,
      "result ",
      "turn",
      `call command_execution {"command":"/bin/bash -lc 'cat hello.txt; exit 3'"}`,
      "failed hello",
      "turn",
      `call command_execution {"command":"/bin/bash -lc 'cat hello.txt'"}`,
      "result hello",
      "turn",
      "text All done.",
      "usage m1 3700/1300/60",
    ]);
  });

  test("of a conversation that goes on only what is new counts", () => {
    const expected = ["session", "turn", "text I remember.", "usage m1 100/10/7"];
    assert.deepEqual(told("resumed", { input: 3700, output: 60, cached: 1300 }), expected);
    // Another program has used the conversation, or its beginning is gone: nothing is ever given back.
    assert.deepEqual(told("resumed", { input: 9000, output: 900, cached: 0 }), expected.slice(0, 3));
  });

  test("a change of files, and lines that are not JSON", () => {
    const changes = JSON.stringify({ changes: [{ path: "/home/ada/widgets/patched.txt", kind: "add" }] });
    const [session, strange, ...rest] = told("patch");
    assert.equal(session, "session");
    assert.match(strange ?? "", /^text .*unsupported call: update_plan$/);
    assert.deepEqual(rest, ["turn", `call file_change ${changes}`, "result ", "turn", "text ok", "usage m1 405/0/60"]);
  });

  test("failures, each told once, and whether it goes on trying", () => {
    const status = "url: http://127.0.0.1:8080/v1/responses, request id: req_scripted";
    const refused = `unexpected status 401 Unauthorized: Incorrect API key provided., ${status}`;
    const often = "exceeded retry limit, last status: 429 Too Many Requests, request id: req_scripted";
    const errors: Record<string, string[]> = {
      "key-refused": [`error auth, again: ${refused}`, `error auth: ${refused}`],
      "too-often": [`error rate-limit, again: ${often}`, `error rate-limit: ${often}`],
      "no-room": ["error overloaded: Selected model is at capacity. Please try a different model."],
      "no-credit": ["error quota: Quota exceeded. Check your plan and billing details."],
    };
    for (const [name, expected] of Object.entries(errors)) assert.deepEqual(told(name), ["session", ...expected]);
  });

  test("a conversation that it has forgotten, and options that it does not know", () => {
    assert.match(told("session-lost").join("\n"), /^error session-lost: .*no rollout found for thread id 01a1df08-\S+/);
    const [first, ...rest] = told("too-old");
    assert.match(first ?? "", /^error format: codex does not know how prloom starts it.*'--no-such-option'/);
    assert(rest.length > 0);
    for (const line of rest) assert.match(line, /^text /);
  });

  test("another format is noticed and named, once; an addition to the known one is not", () => {
    const strange = heard(dialogue(), ['{"event":"hello"}', "{}"]);
    assert.equal(strange.length, 1);
    assert.match(
      strange[0] ?? "",
      /^error format: codex printed nothing .*"thread.started".*came: \{"event":"hello"\}$/,
    );
    assert.deepEqual(heard(dialogue(), []), []);
    const added = ['{"type":"turn.started"}', '{"type":"news"}', '{"type":"item.completed","item":{"type":"news"}}'];
    assert.deepEqual(heard(dialogue(), added), []);
  });

  test("whatever comes, nothing breaks and nothing is given back", () => {
    assertUnshaken(dialogue, {
      types: ["thread.started", "turn.started", "turn.completed", "turn.failed", "error", "item.started"].concat([
        "item.updated",
        "item.completed",
        "command_execution",
        "mcp_tool_call",
        "web_search",
        "agent_message",
      ]),
      keys: ["item", "id", "usage", "input_tokens", "cached_input_tokens", "output_tokens", "error", "message"].concat([
        "thread_id",
        "aggregated_output",
        "status",
        "changes",
        "result",
        "text",
      ]),
      recorded: [...recorded("work"), ...recorded("key-refused")],
    });
  });
});

describe("an answer that broke off", () => {
  const table: readonly (readonly [kind: string, reason: string])[] = [
    ["network", "stream closed before response.completed"],
    ["network", "idle timeout waiting for SSE"],
    ["network", "error sending request for url (http://127.0.0.1:1/v1/responses)"],
    ["overloaded", "An error occurred while processing your request. You can retry your request."],
    ["rate-limit", "Rate limit reached for gpt-x. Please try again in 1.2s."],
    ["quota", "You exceeded your current quota, please check your plan and billing details."],
    ["other", "Your input exceeds the context window of this model. Please adjust your input and try again."],
    ["other", "The model `gpt-x` does not exist or you do not have access to it."],
    ["other", "Invalid 'input[3].output': string too long"],
    ["other", "Invalid 'input[3].output': the connection timed out"],
    ["other", "Whatever this may be."],
  ];
  for (const [kind, reason] of table) {
    test(`${kind}: ${reason}`, () => {
      assert.equal(codexFailure(`stream disconnected before completion: ${reason}`, 0).kind, kind);
    });
  }

  test("a number that is told holds against all words", () => {
    const kind = (message: string): string => codexFailure(message, 0).kind;
    assert.equal(kind("unexpected status 400 Bad Request: the tool said: model is at capacity"), "other");
    assert.equal(kind("unexpected status 404 Not Found: stream disconnected before completion"), "other");
    assert.equal(kind("Codex ran out of room in the model's context window. Start a new thread."), "other");
    assert.equal(kind("stream disconnected before completion"), "network");
  });
});

test("a limit of the user's plan is told with the time at which it ends", () => {
  const now = new Date(2026, 10, 15, 11, 50, 20).getTime();
  const minutes = (message: string): number | undefined => {
    const { kind, retryAfterMs } = codexFailure(`You’ve hit your usage limit. ${message}`, now);
    assert.equal(kind, "quota");
    return retryAfterMs === undefined ? undefined : retryAfterMs / 60_000;
  };
  assert.equal(minutes("Upgrade to Pro or try again at 1:50 PM."), 120 - 1 / 3);
  assert.equal(minutes("Try again at 12:10 AM."), 12 * 60 + 20 - 1 / 3);
  assert.equal(minutes("Send a request to your admin or try again at Nov 18th, 2026 11:50 AM."), 3 * 24 * 60 - 1 / 3);
  assert.equal(minutes("Try again at 11:50 AM."), 0);
  assert.equal(minutes("Try again later."), undefined);
});

describe("how Codex is started", () => {
  const spec = { name: "codex", command: "codex", projectSettings: false };
  const args = (more: Partial<Parameters<typeof codexInvocation>[1]>, extra = {}): string => {
    const invocation = codexInvocation({ ...spec, ...extra }, { folders: ["/w"], sandboxed: true, ...more });
    assert("args" in invocation);
    return invocation.args.join(" ");
  };
  const common = "exec --json --disable plugins -c check_for_update_on_startup=false";
  const untold = "-c skills.include_instructions=false -c project_doc_max_bytes=0";
  const untrusted = `-c projects={"/w"={trust_level="untrusted"}} ${untold}`;
  const open = "--dangerously-bypass-approvals-and-sandbox";

  test("as told", () => {
    assert.equal(args({}), `${common} ${untrusted} ${open} -`);
    assert.equal(args({ sandboxed: false }), `${common} ${untrusted} --sandbox workspace-write -`);
    assert.equal(args({ sessionId: "s1", model: "m" }), `${common} ${untrusted} ${open} --model m resume s1 -`);
    assert.equal(args({}, { args: ["--oss"] }), `${common} ${untrusted} ${open} --oss -`);
    assert.equal(args({}, { projectSettings: true }), `${common} -c projects={"/w"={trust_level="trusted"}} ${open} -`);
  });

  test("a folder may have any name, and two", () => {
    const both = args({ folders: ['/a "b"\\c', "/real", "/real"] });
    assert(
      both.includes(String.raw`projects={"/a \"b\"\\c"={trust_level="untrusted"},"/real"={trust_level="untrusted"}}`),
    );
  });
});

test("what earlier runs of a conversation told is found beside the run", () => {
  const runs = join(dir, "runs");
  const log = (name: string, sessionId: string, input: number): void => {
    mkdirSync(join(runs, name), { recursive: true });
    const kept = openRunLog(join(runs, name));
    kept.add({ type: "session", sessionId }, 0);
    kept.add({ type: "usage", model: name, input, output: 1, cached: 2, costUsd: 0.5 }, 0);
    kept.close();
  };
  log("1", "a", 100);
  log("2", "b", 1000);
  log("3", "a", 10_000);
  mkdirSync(join(runs, "4"));
  assert.deepEqual(earlierUsage(join(runs, "4"), "a"), { input: 10_100, output: 2, cached: 4, costUsd: 1 });
  assert.equal(earlierUsage(join(runs, "3"), "a").input, 100);
  assert.equal(earlierUsage(join(runs, "4"), undefined).input, 0);
  assert.equal(earlierUsage(join(dir, "none", "1"), "a").input, 0);
});

test("a login is found where it is, and never told", () => {
  const home = join(dir, "home");
  mkdirSync(join(home, ".codex"), { recursive: true });
  mkdirSync(join(home, "moved"));
  const login = (env: Record<string, string> = {}): string => codexProgram.loginOf({ home, env }).state;
  assert.equal(login(), "no");
  assert.equal(login({ OPENAI_API_KEY: "k" }), "no");
  assert.equal(login({ CODEX_API_KEY: "k" }), "yes");
  writeFileSync(join(home, ".codex", "config.toml"), "");
  assert.equal(login(), "unknown");
  writeFileSync(join(home, ".codex", "auth.json"), "secret");
  assert.equal(login(), "yes");
  assert.doesNotMatch(JSON.stringify(codexProgram.loginOf({ home, env: {} })), /secret/);
  const moved = { home, env: { CODEX_HOME: join(home, "moved") } };
  assert.equal(codexProgram.loginOf(moved).state, "no");
  const items = codexProgram.homeItems(moved);
  assert(items.length > 0);
  for (const { from, to } of items) assert(from.startsWith(join(home, "moved")) && to.startsWith(".codex/"), from);
});
