import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { classifyError } from "../../../src/agents/dialogue/error-kind.ts";
import { ERROR_KINDS, type ErrorKind } from "../../../src/agents/port.ts";

/** What providers and programs say, with the status where it is told beside it. */
const SAID: readonly (readonly [kind: ErrorKind, text: string, status?: number])[] = [
  ["auth", "invalid x-api-key", 401],
  ["auth", "Incorrect API key provided: sk-…", 401],
  ["auth", "anything", 403],
  ["auth", "Not logged in · Please run /login"],
  ["auth", "Invalid API key · Please run /login"],
  ["auth", "OAuth token has expired. Please obtain a new token"],
  ["auth", "unexpected status 401 Unauthorized"],
  ["auth", "API key not valid. Please pass a valid API key.", 400],
  ["auth", "No API key found for provider"],
  ["auth", "authentication_failed"],
  ["rate-limit", "anything", 429],
  ["rate-limit", "This request would exceed your organization's rate limit of 50 requests", 429],
  ["rate-limit", "API Error: Request rejected (429) · too much"],
  ["rate-limit", "Too Many Requests"],
  ["rate-limit", "rate_limit_error"],
  ["rate-limit", "Quota exceeded for quota metric 'Requests' and limit 'Requests per minute'", 429],
  ["quota", "You exceeded your current quota, please check your plan and billing details.", 429],
  ["quota", '{"error":{"type":"insufficient_quota"}}', 429],
  ["quota", "Your credit balance is too low to access the Anthropic API.", 400],
  ["quota", "Credit balance is too low"],
  ["quota", "Claude AI usage limit reached|1794743278"],
  ["quota", "You've hit your limit · resets 3pm (UTC)", 429],
  ["quota", "5-hour limit reached ∙ resets 3pm"],
  ["quota", "anything", 402],
  ["quota", "billing_error"],
  ["quota", "Free usage exceeded, subscribe to Go", 429],
  ["overloaded", "Overloaded", 529],
  ["overloaded", "overloaded_error"],
  ["overloaded", "API Error: 529 {…}"],
  ["overloaded", '{"error":{"code": 503}}'],
  ["overloaded", "Service unavailable", 503],
  ["overloaded", "Internal server error", 500],
  ["overloaded", "Selected model is at capacity"],
  ["network", "connect ECONNREFUSED 127.0.0.1:1"],
  ["network", "getaddrinfo ENOTFOUND api.example.com"],
  ["network", "API Error: Unable to connect to API (ConnectionRefused)"],
  ["network", "fetch failed"],
  ["network", "Request timed out."],
  ["network", "socket hang up"],
  ["network", "bad gateway", 502],
  ["network", "terminated", 500],
  ["network", "TypeError: terminated"],
  ["overloaded", "the process was terminated by the operator", 500],
  ["network", "anything", 522],
  ["session-lost", "No conversation found with session ID: 0000"],
  ["session-lost", "Session not found"],
  ["session-lost", "Session not found", 404],
  ["auth", "Forbidden"],
  ["auth", "API Error: 403 Forbidden"],
  ["auth", '{"error":{"message":"Incorrect API key provided","type":"invalid_request_error"}}'],
  ["quota", "Billing hard limit has been reached", 400],
  [
    "quota",
    "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
    400,
  ],
  ["quota", "You're out of extra usage · resets 3pm (UTC)"],
  ["quota", "You’ve reached your workspace credit limit"],
  [
    "quota",
    "You hit your spend cap set by the owner of your workspace. Ask an owner to increase your spend cap to continue.",
  ],
  ["quota", '{"type":"invalid_request_error","message":"Your credit balance is too low"}', 400],
  ["quota", "insufficient_quota", 403],
  ["network", "anything", 408],
  ["network", "anything", 425],
  ["network", "Model request failed: host not found, ECONNREFUSED"],
  ["overloaded", "The model is overloaded. Please try again later.", 503],
  ["rate-limit", "Rate limit reached for requests with a long context window", 429],
  ["other", "Model not found: a/b."],
  ["other", "prompt is too long: 300000 tokens > 200000 maximum", 400],
  ["other", "File not found: /worktree/src/429.ts"],
  ["other", "Exit code 401"],
  ["other", ""],
];

/** Asked once more, the answer would be the same; whatever passes is asked for again without an end. */
const LASTING: readonly (readonly [text: string, status?: number])[] = [
  ["messages.12.content.0: tool_result 'the command timed out after 120 s' is not valid", 400],
  ["messages.3: tool_result 'usage limit reached, too many requests, 401 unauthorized' is not valid", 400],
  ["Invalid schema for function 'forbidden'", 400],
  ["Invalid schema for function 'forbidden'"],
  ["model: claude-x not found; at capacity", 404],
  ["insufficient_quota of rows", 404],
  ["connection reset", 409],
  ["request entity too large, overloaded", 413],
  ["field 'rate_limit' unknown", 422],
  ["API Error: 400 the tool said: fetch failed"],
  ['{"error":{"code": 400,"message":"503 service unavailable is not valid"}}'],
  ["Your input exceeds the context window of this model; connection closed"],
  ["context_length_exceeded: request timed out"],
  ["This model's maximum context length is 8192 tokens", 500],
  ["The model `gpt-x` does not exist or you do not have access to it, fetch failed"],
  ["No such model: fetch failed", 502],
  ["invalid_request_error: 'rate limit' is no property"],
  ["Request too large for gpt-x on tokens per min: Limit 30000, Requested 46722.", 429],
];

/** Sunday. */
const NOW = Date.UTC(2026, 10, 15, 12, 0, 0);
const HOUR = 3_600_000;

const WAITS: readonly (readonly [text: string, ms: number | undefined])[] = [
  ["Rate limit reached. Please try again in 6m12s.", 372_000],
  ["rate limit: please try again in 1.5s", 1500],
  ["rate limit, try again in 20ms", 20],
  ["Too many requests. Please retry after 30 seconds", 30_000],
  ["429 rate limit; retry-after: 30", 30_000],
  ['rate limit {"retryDelay": "34s"}', 34_000],
  ["usage limit reached. Try again in 2 hours 5 minutes", 7_500_000],
  ["usage limit; resets in 3 days", 3 * 24 * HOUR],
  ["Claude AI usage limit reached|1794747600", 1_794_747_600_000 - NOW],
  ["usage limit reached|1794747600000", 1_794_747_600_000 - NOW],
  ["usage limit reached|1000000000", 0],
  ["You've hit your limit · resets 3pm (UTC)", 3 * HOUR],
  ["You've hit your limit · resets 11:30am (UTC)", 23.5 * HOUR],
  ["You've hit your limit · resets 3pm (Europe/Berlin)", 2 * HOUR],
  ["You've hit your limit · resets 3pm (Nowhere/Land)", 3 * HOUR],
  ["weekly limit reached ∙ resets Nov 18, 9am (UTC)", 69 * HOUR],
  ["weekly limit reached ∙ resets Jan 2, 12am (UTC)", (47 * 24 + 12) * HOUR],
  ["You have reached your specified API usage limits. You will regain access on 2026-11-16 at 00:00 UTC.", 12 * HOUR],
  ["rate limit", undefined],
  ["rate limit reset 5 times", undefined],
  // A key that is refused does not become right by waiting.
  ["Invalid API key, retry after 30", undefined],
];

describe("what went wrong", () => {
  for (const [kind, text, status] of SAID) {
    test(`${kind}: ${status ?? ""} ${text}`, () => {
      assert.equal(classifyError({ text, ...(status === undefined ? {} : { status }) }).kind, kind);
    });
  }

  for (const [text, status] of LASTING) {
    test(`lasts: ${status ?? ""} ${text}`, () => {
      assert.equal(classifyError({ text, ...(status === undefined ? {} : { status }) }).kind, "other");
    });
  }

  test("is of some kind, whatever is said", () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.integer()), fc.integer({ min: 0, max: 4e12 }), (text, status, now) => {
        const { kind, retryAfterMs = 0 } = classifyError({ text, now, ...(status === null ? {} : { status }) });
        assert(ERROR_KINDS.includes(kind) && Number.isFinite(retryAfterMs) && retryAfterMs >= 0);
      }),
    );
  });
});

describe("how long it is to be left alone", () => {
  for (const [text, expected] of WAITS) {
    test(text, () => assert.equal(classifyError({ text, now: NOW }).retryAfterMs, expected));
  }

  test("a time of day without a zone is that of this machine, where the program made it", (t) => {
    const { TZ: before } = process.env;
    t.after(() => {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    });
    process.env.TZ = "America/New_York";
    const said = (text: string) => classifyError({ text, now: NOW }).retryAfterMs;
    assert.equal(said("5-hour limit reached ∙ resets 3pm"), 8 * HOUR);
    assert.equal(said("You've hit your limit · resets 3pm (UTC)"), 3 * HOUR);
  });

  test("a point in time says nothing where there is no clock", () => {
    assert.equal(classifyError({ text: "usage limit reached|1794747600" }).retryAfterMs, undefined);
  });
});
