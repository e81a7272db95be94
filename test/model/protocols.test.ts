import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { ProtocolName } from "../testing/model/conversation.ts";
import { type Model, startModel } from "../testing/model/model.ts";
import type { Rule } from "../testing/model/script.ts";
import { ask, CLIENTS, type Client, post } from "./clients.ts";

const usage = { input: 1000, output: 30, cached: 400 };
const LONG = `A long text — with ünïcödé 🧵 and "quotes"\n`.repeat(5);

const SCRIPT: readonly Rule[] = [
  {
    when: /^work/,
    steps: [
      { say: "First.", shell: "ls", usage },
      { write: "a.txt", content: "a" },
      { say: LONG, usage },
    ],
  },
  { when: /^several/, steps: [{ do: [{ shell: "one" }, { shell: "two" }] }] },
  ...[400, 401, 403, 404, 429, 500, 503, 529].map(
    (fail): Rule => ({
      when: new RegExp(`^fail ${fail}$`),
      steps: [{ fail, ...(fail === 429 ? { retryAfter: 7 } : {}) }],
    }),
  ),
  { when: /^quota/, steps: [{ fail: 429, quota: true }] },
];

const ENDS: Readonly<Record<ProtocolName, readonly [withTool: string, withText: string]>> = {
  "openai-chat": ["tool_calls", "stop"],
  "openai-responses": ["completed", "completed"],
  anthropic: ["tool_use", "end_turn"],
  gemini: ["STOP", "STOP"],
};

/** Status and the words by which clients tell errors apart. */
const FAILURES: Readonly<Record<ProtocolName, Readonly<Record<string, readonly [number, RegExp]>>>> = {
  "openai-chat": openAi(),
  "openai-responses": openAi(),
  anthropic: {
    "fail 400": [400, /"type":"error".*invalid_request_error/],
    "fail 401": [401, /authentication_error.*invalid x-api-key/],
    "fail 403": [403, /permission_error/],
    "fail 404": [404, /not_found_error/],
    "fail 429": [429, /rate_limit_error/],
    "fail 500": [500, /api_error/],
    "fail 503": [503, /api_error/],
    "fail 529": [529, /overloaded_error/],
    quota: [400, /credit balance is too low/],
  },
  gemini: {
    "fail 400": [400, /INVALID_ARGUMENT/],
    "fail 401": [401, /UNAUTHENTICATED/],
    "fail 403": [403, /PERMISSION_DENIED/],
    "fail 404": [404, /NOT_FOUND/],
    "fail 429": [429, /RESOURCE_EXHAUSTED.*PerMinute.*"retryDelay":"7s"/],
    "fail 500": [500, /INTERNAL/],
    "fail 503": [503, /UNAVAILABLE/],
    "fail 529": [503, /overloaded/],
    quota: [429, /RESOURCE_EXHAUSTED.*PerDay/],
  },
};

function openAi(): Record<string, readonly [number, RegExp]> {
  return {
    "fail 400": [400, /invalid_request_error/],
    "fail 401": [401, /invalid_api_key/],
    "fail 403": [403, /not allowed/],
    "fail 404": [404, /model_not_found/],
    "fail 429": [429, /rate_limit_exceeded/],
    "fail 500": [500, /server_error/],
    "fail 503": [503, /overloaded/],
    "fail 529": [503, /overloaded/],
    quota: [429, /insufficient_quota/],
  };
}

describe("the scripted model", () => {
  let model: Model;
  before(async () => {
    model = await startModel(SCRIPT);
  });
  after(() => model.close());

  for (const [name, client] of Object.entries(CLIENTS) as [ProtocolName, Client][]) {
    describe(`speaks ${name}`, () => {
      for (const stream of [false, true]) {
        const how = stream ? "as a stream" : "as a whole";

        test(`text, tools and usage ${how}`, async () => {
          const first = await ask(model.url, client, { user: "work", tools: ["bash", "write"] }, stream);
          const bash = { name: "bash", args: { command: "ls", description: "Run it" } };
          assert.deepEqual(first, { text: "First.", calls: [bash], usage, end: ENDS[name][0] });
          const used = [{ name: "bash", result: "a b" }];
          const second = await ask(model.url, client, { user: "work", used, tools: ["bash", "write"] }, stream);
          assert.deepEqual(second.calls, [{ name: "write", args: { filePath: "a.txt", content: "a" } }]);
          assert.equal(second.text, "");
          assert(second.usage.input > 0 && second.usage.output > 0);
          const third = await ask(
            model.url,
            client,
            { user: "work", used: [...used, ...used], tools: ["bash"] },
            stream,
          );
          assert.deepEqual(third, { text: LONG, calls: [], usage, end: ENDS[name][1] });
        });

        test(`several tools at once ${how}`, async () => {
          const { calls } = await ask(model.url, client, { user: "several", tools: ["exec_command"] }, stream);
          assert.deepEqual(calls, [
            { name: "exec_command", args: { cmd: "one" } },
            { name: "exec_command", args: { cmd: "two" } },
          ]);
        });
      }

      for (const [user, [status, words]] of Object.entries(FAILURES[name])) {
        test(`the error: ${user}`, async () => {
          for (const stream of [false, true]) {
            const response = await post(model.url, client, { user }, stream);
            assert.equal(response.status, status);
            assert.match(response.headers.get("content-type") ?? "", /^application\/json/);
            assert.match(await response.text(), words);
            if (user === "fail 429" && name !== "gemini") assert.equal(response.headers.get("retry-after"), "7");
          }
        });
      }
    });
  }

  test("counts tokens and lists models", async () => {
    const count = async (path: string): Promise<unknown> =>
      (await fetch(`${model.url}${path}`, { method: "POST", body: '{"contents": [], "messages": []}' })).json();
    assert.deepEqual(await count("/v1/messages/count_tokens?beta=true"), { input_tokens: 8 });
    assert.deepEqual(await count("/v1beta/models/scripted-1:countTokens"), { totalTokens: 8 });
    const models = await (await fetch(`${model.url}/v1/models`)).json();
    assert.deepEqual(models, { object: "list", data: [], models: [], has_more: false });
    assert.equal((await fetch(`${model.url}/`, { method: "HEAD" })).status, 200);
    assert.equal((await fetch(`${model.url}/nowhere`)).status, 404);
  });
});
