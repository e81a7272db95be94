import {
  type Answer,
  asList,
  asObject,
  asText,
  type Conversation,
  contentText,
  type Json,
  type Protocol,
  type Said,
  sse,
} from "./conversation.ts";
import { openAiFailure } from "./openai-failure.ts";

/** OpenAI's chat completions, which many other providers speak too. */
export const openAiChat: Protocol = {
  name: "openai-chat",
  read,
  whole,
  stream,
  failure: openAiFailure,
  failedStream: (told) => [sse(openAiFailure(told).body)],
};

function read(body: Json): Conversation {
  const messages = asList(body.messages);
  return {
    model: asText(body.model),
    system: messages
      .filter(({ role }) => role === "system" || role === "developer")
      .map(({ content }) => contentText(content))
      .join("\n"),
    said: messages.flatMap(({ role, content }): Said[] =>
      role === "user" || role === "assistant" || role === "tool" ? [{ role, text: contentText(content) }] : [],
    ),
    tools: asList(body.tools).map((tool) => {
      const described = asObject(tool.function);
      const parameters = Object.keys(asObject(asObject(described.parameters).properties));
      return { name: asText(described.name), freeform: false, parameters };
    }),
    stream: body.stream === true,
  };
}

function toolCalls({ calls }: Answer): Json[] {
  return calls.map(({ id, name, args }, index) => {
    return { index, id: `call_${id}`, type: "function", function: { name, arguments: JSON.stringify(args) } };
  });
}

function usageOf({ usage }: Answer): Json {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
  };
}

function finish({ calls }: Answer): string {
  return calls.length > 0 ? "tool_calls" : "stop";
}

function whole(answer: Answer): unknown {
  const tool_calls = toolCalls(answer).map(({ index: _index, ...call }) => call);
  const content = [...answer.pieces].join("") || null;
  const message = { role: "assistant", content, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
  return {
    id: `chatcmpl-${answer.id}`,
    object: "chat.completion",
    created: 1,
    model: answer.model,
    choices: [{ index: 0, message, finish_reason: finish(answer) }],
    usage: usageOf(answer),
  };
}

function* stream(answer: Answer): Iterable<string> {
  const shared = { id: `chatcmpl-${answer.id}`, object: "chat.completion.chunk", created: 1, model: answer.model };
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    sse({ ...shared, choices: [{ index: 0, delta, finish_reason }] });
  yield chunk({ role: "assistant", content: "" });
  for (const content of answer.pieces) yield chunk({ content });
  for (const call of toolCalls(answer)) yield chunk({ tool_calls: [call] });
  yield chunk({}, finish(answer));
  yield sse({ ...shared, choices: [], usage: usageOf(answer) });
  yield "data: [DONE]\n\n";
}
