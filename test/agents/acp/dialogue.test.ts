import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { acpDialogue } from "../../../src/agents/acp/dialogue.ts";
import { permissionAnswer } from "../../../src/agents/acp/protocol.ts";
import { usageOfTurn } from "../../../src/agents/acp/usage.ts";
import type { Dialogue } from "../../../src/agents/dialogue/dialogue.ts";
import { usualPermit } from "../../../src/agents/dialogue/permit.ts";
import { eventLine } from "../../testing/event-line.ts";
import { assertUnshaken, heard } from "../../testing/printed-lines.ts";

type Talk = Parameters<typeof acpDialogue>[0];

function dialogue(more: Partial<Talk> = {}): Dialogue {
  const usual = { program: "agent", cwd: "/w", prompt: "Do it.", costUsd: 0, sandboxed: true };
  return acpDialogue({ ...usual, now: () => 0, ...more });
}

function recorded(name: string): string[] {
  const text = readFileSync(new URL(`../fixtures/acp/${name}.log`, import.meta.url), "utf8");
  return text.replace(/\n$/, "").split("\n");
}

/** A request of ours by its method, an answer of ours by what it says. */
function short(line: string): string {
  if (!line.startsWith("> {")) return line;
  const { method, result, error } = JSON.parse(line.slice(2));
  return `> ${method ?? JSON.stringify(result ?? error)}`;
}

const told = (talk: Dialogue, lines: readonly string[], sandboxed = true): string[] =>
  heard(talk, lines, usualPermit(sandboxed)).map(short);
const answer = (id: number, result: unknown): string => JSON.stringify({ jsonrpc: "2.0", id, result });
const refusal = (id: number, error: unknown): string => JSON.stringify({ jsonrpc: "2.0", id, error });
const update = (value: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update: value } });
const said = (text: string): string =>
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const READY = answer(0, { protocolVersion: 1, agentCapabilities: {} });
const OPENED = answer(1, { sessionId: "s" });
const START = ["> session/new", "session", "> session/prompt"];
const allowed = '> {"outcome":{"outcome":"selected","optionId":"proceed_once"}}';

describe("what agents say over ACP", () => {
  test("Gemini at work: it tells of a call when it asks whether it may", () => {
    assert.deepEqual(told(dialogue(), recorded("gemini-work")), [
      ...START,
      "turn",
      "text I write.",
      "text One file.",
      'call edit {"title":"Writing to hello.txt","paths":["/home/ada/widgets/hello.txt"]}',
      allowed,
      "result changed /home/ada/widgets/hello.txt",
      "turn",
      'call execute {"title":"cat hello.txt; exit 3"}',
      allowed,
      "result ",
      "turn",
      "text All done.",
      "usage gemini-2.5-pro 3700/0/60",
      "> end",
    ]);
  });

  test("OpenCode at work: calls get their input bit by bit, and the cost is a sum", () => {
    const command = { command: "cat hello.txt; exit 3", description: "Run it", cwd: "/home/ada/widgets" };
    assert.deepEqual(told(dialogue(), recorded("opencode-work")), [
      ...START,
      "turn",
      "text I write.",
      "text One file.",
      'call edit {"filePath":"/home/ada/widgets/hello.txt","content":"hello\\n"}',
      "result Wrote file successfully.",
      "turn",
      `call execute ${JSON.stringify(command)}`,
      "result hello",
      "turn",
      "usage scripted/scripted-1 0/0/0 $0.002520",
      "text All done.",
      "usage scripted/scripted-1 1500/1000/10",
      "> end",
    ]);
  });

  test("a conversation that goes on: what is told once more does not count again", () => {
    for (const [name, method] of [
      ["gemini-resumed", "session/load"],
      ["opencode-resumed", "session/resume"],
    ] as const) {
      const lines = told(dialogue({ sessionId: "s", costUsd: 0.00252 }), recorded(name));
      const ready = name === "gemini-resumed" ? ["> session/set_model", "> session/set_model"] : [];
      const start = [`> ${method}`, "session", ...ready, "> session/prompt", "turn"];
      assert.deepEqual(lines.slice(0, start.length), start);
      assert.equal(lines.filter((line) => line.startsWith("text ")).join(), "text I remember.");
      assert.equal(lines.at(-1), "> end");
      assert.equal(lines.filter((line) => /^usage \S+ 70\/0\/7$/.test(line)).length, 1, lines.join("\n"));
      const costs = lines.filter((line) => line.includes("$")).join();
      assert.match(costs, name === "gemini-resumed" ? /^$/ : /^usage scripted\/scripted-1 0\/0\/0 \$0\.0000\d\d$/);
    }
  });

  test("failures are told by their kind, and nothing is waited for after them", () => {
    const lost = told(dialogue({ sessionId: "s" }), recorded("gemini-session-lost").slice(0, 2));
    assert.match(lost.join("\n"), /^> session\/load\nerror session-lost: Internal error: Invalid session.*> end$/s);
    const stranger = told(dialogue(), recorded("gemini-not-logged-in"));
    assert.match(stranger.join("\n"), /\nerror auth: Gemini API key is missing .*Log in with Google, .*\n> end$/);
    const refused = told(dialogue(), recorded("gemini-key-refused"));
    assert.deepEqual(refused.slice(3), ["error auth: Request had invalid authentication credentials.", "> end"]);
    const often = { code: -32603, message: "Internal error: Rate limit reached. Please try again in 20s." };
    assert.deepEqual(told(dialogue(), [READY, OPENED, refusal(2, often)]).slice(3), [
      `error rate-limit in 20000: ${often.message}`,
      "> end",
    ]);
    const stopped = told(dialogue(), [READY, OPENED, answer(2, { stopReason: "max_turn_requests" })]);
    assert.deepEqual(stopped.slice(3), ["error other: The agent stopped: max turn requests.", "> end"]);
  });

  test("a conversation is loaded when whatever is told of it has been told", () => {
    const loads = answer(0, { protocolVersion: 1, agentCapabilities: { loadSession: true } });
    const old = [said("Old.\n"), answer(2, {}), said("Older.\n"), refusal(3, { code: -32601 })];
    const lines = [loads, said("Oldest.\n"), answer(1, {}), ...old, answer(4, {}), said("New.\n"), answer(5, {})];
    const ready = ["> _prloom/ready", "> _prloom/ready", "> _prloom/ready"];
    assert.deepEqual(told(dialogue({ sessionId: "s" }), lines), [
      ...["> session/load", "session", ...ready, "> session/prompt"],
      ...["turn", "text New.", "> end"],
    ]);
  });

  test("an agent that cannot go on with a conversation begins a new one", () => {
    assert.deepEqual(told(dialogue({ sessionId: "old" }), [READY, OPENED]), START);
  });

  test("another version of the protocol, and no protocol at all, are named", () => {
    const newer = told(dialogue(), [answer(0, { protocolVersion: 2 })]);
    assert.match(newer.join("\n"), /^error format: agent speaks version 2 of the Agent Client Protocol.*\n> end$/);
    const other = told(dialogue(), ["Welcome!", '{"hello":1}']);
    assert.match(other.join("\n"), /^text Welcome!\nerror format: agent printed nothing .*came: Welcome!$/);
    assert.deepEqual(told(dialogue(), []), []);
  });

  test("texts come in pieces and go on as lines", () => {
    const pieces = [READY, OPENED, said("One li"), said("ne.\nAnother"), said(".\n\nThird"), answer(2, {})];
    assert.deepEqual(told(dialogue(), pieces).slice(3), [
      "turn",
      "text One line.",
      "text Another.\n",
      "text Third",
      "> end",
    ]);
  });

  test("requests that prloom does not serve are refused, never left open", () => {
    const read = JSON.stringify({ jsonrpc: "2.0", id: "a", method: "fs/read_text_file", params: {} });
    assert.deepEqual(told(dialogue(), [READY, OPENED, read]).slice(3), [
      '> {"code":-32601,"message":"prloom does not do fs/read_text_file."}',
    ]);
  });

  test("whatever comes, nothing breaks and nothing is given back", () => {
    const keys = ["id", "method", "params", "result", "error", "update", "sessionUpdate", "usage", "inputTokens"];
    assertUnshaken(dialogue, {
      types: ["session/update", "session/request_permission", "tool_call", "usage_update", "completed", "USD"],
      keys: [...keys, "outputTokens", "cost", "amount", "currency", "toolCallId", "status", "content", "rawInput"],
      recorded: [...recorded("gemini-work"), ...recorded("opencode-work"), ...recorded("gemini-key-refused")],
    });
  });
});

describe("a message to an agent at work", () => {
  const working = (): Dialogue => {
    const talk = dialogue();
    for (const line of [READY, OPENED]) talk.read(line);
    return talk;
  };

  test("makes the next turn, and is received when that has begun", () => {
    const talk = working();
    assert.deepEqual(talk.send?.({ id: "m1", text: "also this" }), []);
    assert.deepEqual(talk.send?.({ id: "m2", text: "and that" }), []);
    const { write, end } = talk.read(answer(2, { stopReason: "end_turn" }));
    assert.equal(end, undefined);
    assert.deepEqual(JSON.parse(write?.[0] ?? "{}").params.prompt, [
      { type: "text", text: "also this" },
      { type: "text", text: "and that" },
    ]);
    assert.deepEqual(talk.read(update({ sessionUpdate: "available_commands_update" })).events, []);
    assert.deepEqual(talk.read(said("Yes.")).events.map(eventLine), ["received m1", "received m2", "turn"]);
    assert.deepEqual(talk.read(answer(3, {})), { events: [{ type: "text", text: "Yes." }], end: true });
    assert.equal(talk.send?.({ id: "m3", text: "too late" }), undefined);
  });

  test("is not received when the turn with it fails", () => {
    const talk = working();
    talk.send?.({ id: "m1", text: "also this" });
    talk.read(answer(2, {}));
    assert.deepEqual(talk.read(refusal(3, { code: 500, message: "no" })).events.map(eventLine), [
      "error overloaded: no",
    ]);
  });
});

describe("the model of a session", () => {
  const config = { id: "m", category: "model", currentValue: "a", options: [] };
  const chosen = (result: object): string[] =>
    heard(dialogue({ model: "b" }), [READY, answer(1, { sessionId: "s", ...result }), answer(2, {})]).slice(1);

  test("is chosen in the way that the agent has, before the prompt", () => {
    const [, option, prompt] = chosen({ configOptions: [config] });
    assert.match(option ?? "", /"session\/set_config_option","params":\{"sessionId":"s","configId":"m","value":"b"\}/);
    assert.match(prompt ?? "", /session\/prompt/);
    const [, model] = chosen({ models: { currentModelId: "a", availableModels: [] } });
    assert.match(model ?? "", /"session\/set_model","params":\{"sessionId":"s","modelId":"b"\}/);
    assert.match(chosen({ models: { currentModelId: "b" } })[1] ?? "", /session\/prompt/);
  });

  test("that cannot be had is an error, not another model", () => {
    assert.match(
      chosen({})[1] ?? "",
      /^error other: agent does not let its model be chosen over ACP\. Take "model" \(b\)/,
    );
    const talk = dialogue({ model: "b" });
    const lines = [READY, answer(1, { sessionId: "s", configOptions: [config] }), refusal(2, { message: "Unknown" })];
    assert.deepEqual(told(talk, lines).slice(-2), ["error other: Unknown", "> end"]);
  });
});

describe("a permission", () => {
  const options = (...kinds: string[]) => ({ options: kinds.map((kind) => ({ kind, optionId: `id of ${kind}` })) });
  const pick = (allowance: "always" | "once" | "never", ...kinds: string[]): string => {
    const { allowed, outcome } = permissionAnswer(options(...kinds), allowance);
    return `${allowed ? "yes" : "no"}: ${outcome.optionId ?? outcome.outcome}`;
  };

  test("is given this once; one that outlives the run is the last resort", () => {
    assert.equal(pick("always", "allow_always", "allow_once", "reject_once"), "yes: id of allow_once");
    assert.equal(pick("always", "reject_once", "allow_always"), "yes: id of allow_always");
    assert.equal(pick("always", "reject_always", "reject_once"), "no: id of reject_once");
    assert.equal(pick("always"), "no: cancelled");
  });

  test("that is not given leaves nothing behind either", () => {
    assert.equal(pick("once", "allow_always", "allow_once", "reject_once"), "yes: id of allow_once");
    assert.equal(pick("once", "allow_always", "reject_once"), "no: id of reject_once");
    assert.equal(pick("never", "allow_once", "reject_always", "reject_once"), "no: id of reject_once");
    assert.equal(pick("never", "allow_once", "reject_always"), "no: cancelled");
  });

  const asks = (toolCall: object): string => {
    const params = {
      sessionId: "s",
      toolCall: { toolCallId: "t", ...toolCall },
      ...options("allow_once", "reject_once"),
    };
    return JSON.stringify({ jsonrpc: "2.0", id: "q", method: "session/request_permission", params });
  };
  const answered = (sandboxed: boolean, ...lines: string[]): string[] =>
    told(dialogue({ sandboxed }), [READY, OPENED, ...lines], sandboxed)
      .slice(3)
      .filter((line) => /^(?:>|waiting)/.test(line));
  const yes = '> {"outcome":{"outcome":"selected","optionId":"id of allow_once"}}';
  const no = '> {"outcome":{"outcome":"selected","optionId":"id of reject_once"}}';

  test("is given without a sandbox only for what changes nothing, and the refusal is told", () => {
    for (const kind of ["edit", "delete", "move", "execute", "fetch", "switch_mode", "other"]) {
      const question = asks({ kind, title: "rm -r /" });
      assert.deepEqual(answered(false, question), [`waiting May ${kind} be used? rm -r /`, no], kind);
      assert.deepEqual(answered(true, question), [yes], kind);
    }
    assert.deepEqual(answered(false, asks({})), ["waiting May a tool be used?", no]);
    for (const kind of ["read", "search", "think"]) assert.deepEqual(answered(false, asks({ kind })), [yes], kind);
  });

  test("is about the call as it was told before", () => {
    const call = (kind: string) => update({ sessionUpdate: "tool_call", toolCallId: "t", kind, title: "It" });
    assert.deepEqual(answered(false, call("read"), asks({})), [yes]);
    assert.deepEqual(answered(false, call("edit"), asks({})), ["waiting May edit be used? It", no]);
    assert.deepEqual(answered(false, call("read"), asks({ kind: "edit" })), ["waiting May edit be used? It", no]);
  });

  test("is not given to Gemini at work without a sandbox", () => {
    const lines = told(dialogue({ sandboxed: false }), recorded("gemini-work"), false);
    assert.equal(lines.filter((line) => line.startsWith("waiting ")).length, 2);
    assert(!lines.includes(allowed));
  });
});

test("tokens from a cache are counted once, whatever the agent means by input", () => {
  const usage = (told: object): string => usageOfTurn({ usage: told }, "m").map(eventLine).join();
  const apart = { inputTokens: 500, outputTokens: 10, cachedReadTokens: 1000, totalTokens: 1510 };
  assert.equal(usage(apart), "usage m 1500/1000/10");
  assert.equal(usage({ ...apart, inputTokens: 1500 }), "usage m 1500/1000/10");
  assert.equal(usage({ inputTokens: 5, outputTokens: 1, cachedReadTokens: 9 }), "usage m 5/5/1");
  assert.equal(usage({}), "");
});
