import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { acpFailure } from "../../../src/agents/acp/failure.ts";
import { resultFailure } from "../../../src/agents/claude/failure.ts";
import { failureOf } from "../../../src/agents/opencode/failure.ts";

const NOW = Date.UTC(2026, 10, 15);

describe("a failure that waiting does not fix is reported as one", () => {
  test("by Claude Code, whatever it calls it and whichever limit holds", () => {
    const kind = (line: object, more = {}): string => resultFailure({ ...line }, { now: NOW, ...more }).kind;
    const late = { resetsAt: NOW + 60_000 };
    const wrong = { result: "tool_result 'the command timed out' is not valid", api_error_status: 400 };
    assert.equal(kind(wrong, { code: "server_error" }), "other");
    assert.deepEqual(resultFailure(wrong, { now: NOW, ...late }).retryAfterMs, undefined);
    assert.equal(kind(wrong, late), "other");
    assert.equal(kind({ ...wrong, api_error_status: 429 }, late), "quota");
    assert.equal(kind({ result: "No." }, { code: "server_error" }), "overloaded");
    assert.equal(kind({ result: "No." }, { code: "constructor" }), "other");
  });

  test("by OpenCode, with the name of the error or the number", () => {
    const kind = (name: string, data: object): string => failureOf({ name, data }, NOW).kind;
    assert.equal(kind("ContextOverflowError", { message: "Overloaded with tokens" }), "other");
    assert.equal(kind("APIError", { message: "Bad", statusCode: 400, responseBody: "the tool timed out" }), "other");
    assert.equal(kind("APIError", { message: "Bad", statusCode: 503, responseBody: "" }), "overloaded");
    assert.equal(kind("ProviderAuthError", { message: "No.", statusCode: 400 }), "auth");
    assert.equal(kind("constructor", { message: "No." }), "other");
  });

  test("over ACP, where requests have faults of their own", () => {
    const kind = (error: object): string => acpFailure({ asked: "prompt", error, logins: [], now: NOW }).kind;
    assert.equal(kind({ code: -32602, message: "Invalid params: rate_limit is no number" }), "other");
    assert.equal(kind({ code: 400, message: "the tool timed out" }), "other");
    assert.equal(kind({ code: -32603, message: "Internal error", data: { details: "fetch failed" } }), "network");
    const google = { error: { code: 400, message: "API key not valid. Please pass a valid API key." } };
    assert.equal(kind({ code: -32603, message: JSON.stringify(google) }), "auth");
  });
});
