import assert from "node:assert/strict";
import type { ProtocolName } from "../testing/model/conversation.ts";

/** What a client makes of an answer. */
export interface Heard {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
  readonly usage: { readonly input: number; readonly output: number; readonly cached: number };
  /** Why the answer ended, in the provider's words. */
  readonly end: string;
}

export interface Asked {
  readonly user: string;
  /** Tools that were used since, each with what it brought. */
  readonly used?: readonly { readonly name: string; readonly result: string }[];
  readonly tools?: readonly string[];
  readonly system?: string;
}

/** A small client of a protocol, which knows nothing of the model's own code. */
export interface Client {
  readonly path: (stream: boolean) => string;
  readonly body: (asked: Asked) => Record<string, unknown>;
  readonly whole: (answer: never) => Heard;
  readonly events: (events: readonly SentEvent[]) => Heard;
}

export interface SentEvent {
  readonly event?: string;
  readonly data: Any;
}

// biome-ignore lint/suspicious/noExplicitAny: answers of four providers, each read by its own client
type Any = any;

const joined = (parts: readonly (string | undefined)[]): string => parts.filter((part) => part !== undefined).join("");

const chat: Client = {
  path: () => "/v1/chat/completions",
  body: ({ user, used = [], tools = [], system }) => ({
    model: "scripted-1",
    messages: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      { role: "user", content: user },
      ...used.flatMap(({ name, result }, index) => [
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: `c${index}`, type: "function", function: { name, arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: `c${index}`, content: result },
      ]),
    ],
    tools: tools.map((name) => ({ type: "function", function: { name, parameters: {} } })),
  }),
  whole({ choices: [{ message, finish_reason }], usage }: Any) {
    const calls = (message.tool_calls ?? []).map((call: Any) => called(call.function));
    return { text: message.content ?? "", calls, usage: chatUsage(usage), end: finish_reason };
  },
  events(events) {
    assert.equal(events.at(-1)?.data, "[DONE]");
    const chunks = events.slice(0, -1).map(({ data }) => data);
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: Any) => delta));
    const calls = deltas.flatMap(({ tool_calls = [] }) => tool_calls.map((call: Any) => called(call.function)));
    const end = chunks.flatMap(({ choices }) => choices).findLast(({ finish_reason }) => finish_reason).finish_reason;
    const { usage } = chunks.find((chunk) => chunk.usage) ?? {};
    return { text: joined(deltas.map(({ content }) => content)), calls, usage: chatUsage(usage), end };
  },
};

const called = ({ name, arguments: args }: Any) => ({ name, args: JSON.parse(args) });

function chatUsage({ prompt_tokens, completion_tokens, prompt_tokens_details }: Any): Heard["usage"] {
  return { input: prompt_tokens, output: completion_tokens, cached: prompt_tokens_details.cached_tokens };
}

const responses: Client = {
  path: () => "/v1/responses",
  body: ({ user, used = [], tools = [], system }) => ({
    model: "scripted-1",
    instructions: system ?? "",
    input: [
      { type: "message", role: "user", content: [{ type: "input_text", text: user }] },
      ...used.flatMap(({ name, result }, index) => [
        { type: "reasoning", summary: [] },
        { type: "function_call", call_id: `c${index}`, name, arguments: "{}" },
        { type: "function_call_output", call_id: `c${index}`, output: result },
      ]),
    ],
    tools: tools.map((name) => ({ type: "function", name, parameters: {} })),
  }),
  whole: (answer: Any) => response(answer),
  events(events) {
    const numbers = events.map(({ data }) => data.sequence_number);
    assert.deepEqual(numbers, [...numbers.keys()]);
    assert(events.every(({ event, data }) => event === data.type));
    const items = events.filter(({ event }) => event === "response.output_item.done").map(({ data }) => data.item);
    const deltas = events.filter(({ event }) => event === "response.output_text.delta").map(({ data }) => data.delta);
    const last = events.at(-1);
    assert.equal(last?.event, "response.completed");
    const heard = response(last.data.response);
    assert.deepEqual(last.data.response.output, items);
    assert.equal(heard.text, deltas.join(""));
    return heard;
  },
};

function response({ output, usage, status }: Any): Heard {
  const text = output.flatMap(({ content = [] }: Any) => content.map((part: Any) => part.text)).join("");
  const calls = output.filter(({ type }: Any) => type === "function_call").map(called);
  const cached = usage.input_tokens_details.cached_tokens;
  return { text, calls, usage: { input: usage.input_tokens, output: usage.output_tokens, cached }, end: status };
}

const anthropic: Client = {
  path: () => "/v1/messages?beta=true",
  body: ({ user, used = [], tools = [], system }) => ({
    model: "scripted-1",
    max_tokens: 1000,
    ...(system === undefined ? {} : { system: [{ type: "text", text: system }] }),
    messages: [
      { role: "user", content: [{ type: "text", text: user }] },
      ...used.flatMap(({ name, result }, index) => [
        { role: "assistant", content: [{ type: "tool_use", id: `t${index}`, name, input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: `t${index}`, content: result }] },
      ]),
    ],
    tools: tools.map((name) => ({ name, input_schema: {} })),
  }),
  whole({ content, usage, stop_reason }: Any) {
    const calls = content.filter(({ type }: Any) => type === "tool_use");
    return {
      text: joined(content.map(({ text }: Any) => text)),
      calls: calls.map(({ name, input }: Any) => ({ name, args: input })),
      usage: messageUsage(usage),
      end: stop_reason,
    };
  },
  events(events) {
    assert(events.every(({ event, data }) => event === data.type));
    assert.deepEqual([events[0]?.event, events.at(-1)?.event], ["message_start", "message_stop"]);
    const of = (type: string) => events.filter(({ event }) => event === type).map(({ data }) => data);
    const starts = of("content_block_start");
    assert.deepEqual(
      of("content_block_stop").map(({ index }) => index),
      [...starts.keys()],
    );
    const deltas = of("content_block_delta");
    const calls = starts
      .filter(({ content_block }) => content_block.type === "tool_use")
      .map(({ index, content_block }) => {
        const json = joined(deltas.filter((one) => one.index === index).map(({ delta }) => delta.partial_json));
        return { name: content_block.name, args: JSON.parse(json) };
      });
    const [{ delta, usage }] = of("message_delta") as [Any];
    const text = joined(deltas.map((one) => one.delta.text));
    return { text, calls, usage: messageUsage(usage), end: delta.stop_reason };
  },
};

function messageUsage({ input_tokens, cache_read_input_tokens, output_tokens }: Any): Heard["usage"] {
  return {
    input: input_tokens + cache_read_input_tokens,
    output: output_tokens,
    cached: cache_read_input_tokens,
  };
}

const gemini: Client = {
  path: (stream) => `/v1beta/models/scripted-1:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
  body: ({ user, used = [], tools = [], system }) => ({
    ...(system === undefined ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    contents: [
      { role: "user", parts: [{ text: user }] },
      ...used.flatMap(({ name, result }) => [
        { role: "model", parts: [{ functionCall: { name, args: {} } }] },
        { role: "user", parts: [{ functionResponse: { name, response: { output: result } } }] },
      ]),
    ],
    tools: [{ functionDeclarations: tools.map((name) => ({ name, parametersJsonSchema: {} })) }],
  }),
  whole: (answer: Any) => generated([answer]),
  events: (events) => generated(events.map(({ data }) => data)),
};

function generated(answers: readonly Any[]): Heard {
  const candidates = answers.map(({ candidates: [one] }) => one);
  const parts = candidates.flatMap(({ content }) => content.parts);
  const { promptTokenCount, candidatesTokenCount, cachedContentTokenCount } = answers.at(-1).usageMetadata;
  return {
    text: joined(parts.map(({ text }) => text)),
    calls: parts.flatMap(({ functionCall }) => (functionCall ? [pick(functionCall)] : [])),
    usage: { input: promptTokenCount, output: candidatesTokenCount, cached: cachedContentTokenCount },
    end: candidates.at(-1).finishReason,
  };
}

const pick = ({ name, args }: Any) => ({ name, args });

export const CLIENTS: Readonly<Record<ProtocolName, Client>> = {
  "openai-chat": chat,
  "openai-responses": responses,
  anthropic,
  gemini,
};

/** One request, as the client sends it. */
export function post(url: string, client: Client, asked: Asked, stream = false): Promise<Response> {
  return fetch(`${url}${client.path(stream)}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer very-secret", "x-api-key": "very-secret" },
    body: JSON.stringify({ ...client.body(asked), ...(stream ? { stream: true } : {}) }),
  });
}

/** One request and what the client makes of the answer. */
export async function ask(url: string, client: Client, asked: Asked, stream = false): Promise<Heard> {
  const response = await post(url, client, asked, stream);
  assert.equal(response.status, 200);
  if (!stream) return client.whole((await response.json()) as never);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  return client.events(sentEvents(await response.text()));
}

/** Server-sent events, read strictly: what is not well-formed is an error. */
export function sentEvents(text: string): SentEvent[] {
  assert(text.endsWith("\n\n"));
  return text
    .slice(0, -2)
    .split("\n\n")
    .map((block) => {
      const found = /^(?:event: (?<event>.+)\n)?data: (?<data>.+)$/.exec(block)?.groups;
      assert(found, `not an event: ${block}`);
      const data = found.data === "[DONE]" ? found.data : JSON.parse(found.data ?? "");
      return { ...(found.event === undefined ? {} : { event: found.event }), data };
    });
}
