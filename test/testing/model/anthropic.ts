import {
  type Answer,
  asList,
  asObject,
  asText,
  type Conversation,
  contentText,
  type Failure,
  type HttpFailure,
  type Json,
  type Protocol,
  type Said,
  sse,
} from "./conversation.ts";

/** Anthropic's messages. */
export const anthropic: Protocol = {
  name: "anthropic",
  read,
  whole,
  stream,
  failure,
  failedStream: (told) => [sse(failure(told).body, "error")],
};

function read(body: Json): Conversation {
  return {
    model: asText(body.model),
    // Some versions of Claude Code send parts of the system prompt as messages.
    system: [contentText(body.system), ...systemMessages(body)].join("\n"),
    said: asList(body.messages).flatMap(saidIn),
    tools: asList(body.tools).map((tool) => ({
      name: asText(tool.name),
      freeform: false,
      parameters: Object.keys(asObject(asObject(tool.input_schema).properties)),
    })),
    stream: body.stream === true,
  };
}

function systemMessages(body: Json): string[] {
  return asList(body.messages).flatMap(({ role, content }) => (role === "system" ? [contentText(content)] : []));
}

function saidIn({ role, content }: Json): Said[] {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : asList(content);
  if (role === "assistant") return [{ role, text: contentText(content) }];
  if (role !== "user") return [];
  const results = parts.filter((part) => part.type === "tool_result");
  const text = contentText(parts.filter((part) => part.type === "text"));
  return [
    ...results.map((part): Said => ({ role: "tool", text: contentText(part.content) })),
    ...(text === "" ? [] : [{ role, text } as const]),
  ];
}

function usageOf({ usage }: Answer): Json {
  const { input, output, cached = 0 } = usage;
  return {
    input_tokens: input - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: output,
  };
}

function stopReason({ calls }: Answer): string {
  return calls.length > 0 ? "tool_use" : "end_turn";
}

function message(answer: Answer): Json {
  const { id, model } = answer;
  return { id: `msg_${id}`, type: "message", role: "assistant", model, content: [], stop_reason: null };
}

function whole(answer: Answer): unknown {
  const text = [...answer.pieces].join("");
  const content = [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...answer.calls.map(({ id, name, args }) => ({ type: "tool_use", id: `toolu_${id}`, name, input: args })),
  ];
  return {
    ...message(answer),
    content,
    stop_reason: stopReason(answer),
    stop_sequence: null,
    usage: usageOf(answer),
  };
}

function* stream(answer: Answer): Iterable<string> {
  const event = (type: string, data: object = {}): string => sse({ type, ...data }, type);
  const usage = usageOf(answer);
  yield event("message_start", {
    message: { ...message(answer), stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
  });
  yield event("ping");
  let index = 0;
  for (const text of answer.pieces) {
    if (index === 0) {
      yield event("content_block_start", { index, content_block: { type: "text", text: "" } });
      index = 1;
    }
    yield event("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
  }
  if (index === 1) yield event("content_block_stop", { index: 0 });
  for (const { id, name, args } of answer.calls) {
    const content_block = { type: "tool_use", id: `toolu_${id}`, name, input: {} };
    yield event("content_block_start", { index, content_block });
    yield event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: "" } });
    yield event("content_block_delta", {
      index,
      delta: { type: "input_json_delta", partial_json: JSON.stringify(args) },
    });
    yield event("content_block_stop", { index });
    index += 1;
  }
  yield event("message_delta", { delta: { stop_reason: stopReason(answer), stop_sequence: null }, usage });
  yield event("message_stop");
}

const TYPES: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ["invalid_request_error", "The request is not valid"],
  401: ["authentication_error", "invalid x-api-key"],
  403: ["permission_error", "Your API key does not have permission to use the specified resource"],
  404: ["not_found_error", "model: not found"],
  413: ["request_too_large", "Request exceeds the maximum size"],
  429: ["rate_limit_error", "This request would exceed your organization's rate limit"],
  503: ["api_error", "Service unavailable"],
  529: ["overloaded_error", "Overloaded"],
};

/** What a subscription is told whose five hours are used up. */
function limitFailure(seconds: number): HttpFailure {
  const reset = String(Math.floor(Date.now() / 1000) + seconds);
  const unified = "anthropic-ratelimit-unified";
  return {
    status: 429,
    headers: {
      "request-id": "req_scripted",
      "retry-after": String(seconds),
      "x-should-retry": "false",
      [`${unified}-status`]: "rejected",
      [`${unified}-reset`]: reset,
      [`${unified}-representative-claim`]: "five_hour",
      [`${unified}-5h-status`]: "rejected",
      [`${unified}-5h-reset`]: reset,
    },
    body: {
      type: "error",
      error: { type: "rate_limit_error", message: "This request would exceed your account's rate limit." },
      request_id: "req_scripted",
    },
  };
}

function failure({ status, retryAfter, quota, limit }: Failure): HttpFailure {
  if (limit !== undefined) return limitFailure(limit);
  const [type, text] = quota
    ? ["invalid_request_error", "Your credit balance is too low to access the Anthropic API."]
    : (TYPES[status] ?? ["api_error", "Internal server error"]);
  const request_id = "req_scripted";
  return {
    status: quota ? 400 : status,
    headers: {
      "request-id": request_id,
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
      ...(status === 429 ? { "anthropic-ratelimit-requests-remaining": "0" } : {}),
    },
    body: { type: "error", error: { type, message: text }, request_id },
  };
}
