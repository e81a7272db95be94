import {
  type Answer,
  asList,
  asObject,
  asText,
  type Conversation,
  contentText,
  type Failure,
  type Json,
  type Protocol,
  type Said,
  sse,
} from "./conversation.ts";
import { openAiFailure } from "./openai-failure.ts";

/** OpenAI's responses, which Codex speaks. */
export const openAiResponses: Protocol = {
  name: "openai-responses",
  read,
  whole,
  stream,
  failure: openAiFailure,
  failedStream,
};

function read(body: Json): Conversation {
  const items = typeof body.input === "string" ? [{ role: "user", content: body.input }] : asList(body.input);
  const isSystem = ({ role }: Json): boolean => role === "system" || role === "developer";
  return {
    model: asText(body.model),
    system: [asText(body.instructions), ...items.filter(isSystem).map(({ content }) => contentText(content))].join(
      "\n",
    ),
    said: items.flatMap(saidIn),
    tools: asList(body.tools).map((tool) => ({
      name: asText(tool.name) || asText(tool.type),
      freeform: tool.type === "custom",
      parameters: Object.keys(asObject(asObject(tool.parameters).properties)),
    })),
    stream: body.stream === true,
  };
}

function saidIn(item: Json): Said[] {
  const type = asText(item.type);
  if (item.role === "user" || item.role === "assistant") return [{ role: item.role, text: contentText(item.content) }];
  if (type.endsWith("_call_output")) return [{ role: "tool", text: outputText(item.output) }];
  if (type.endsWith("_call")) return [{ role: "assistant", text: "" }];
  return [];
}

function outputText(output: unknown): string {
  return typeof output === "string" ? output : contentText(output) || JSON.stringify(output ?? "");
}

function usageOf({ usage }: Answer): Json {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached ?? 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  };
}

function response(answer: Answer, status: string): Json {
  return { id: `resp_${answer.id}`, object: "response", created_at: 1, status, model: answer.model, output: [] };
}

function message(answer: Answer, status: string, text?: string): Json {
  const content = text === undefined ? [] : [{ type: "output_text", text, annotations: [] }];
  return { type: "message", id: `msg_${answer.id}`, role: "assistant", status, content };
}

function calls(answer: Answer): Json[] {
  return answer.calls.map(({ id, name, args, freeform }) => {
    const shared = { id: `fc_${id}`, call_id: `call_${id}`, name, status: "completed" };
    if (freeform) return { ...shared, type: "custom_tool_call", input: String(args) };
    return { ...shared, type: "function_call", arguments: JSON.stringify(args) };
  });
}

function whole(answer: Answer): unknown {
  const text = [...answer.pieces].join("");
  const output = [...(text === "" ? [] : [message(answer, "completed", text)]), ...calls(answer)];
  return { ...response(answer, "completed"), output, usage: usageOf(answer) };
}

function* stream(answer: Answer): Iterable<string> {
  let sequence_number = 0;
  const event = (type: string, data: object): string =>
    sse({ type, sequence_number: sequence_number++, ...data }, type);
  yield event("response.created", { response: response(answer, "in_progress") });
  const output: Json[] = [];
  let text = "";
  const item_id = `msg_${answer.id}`;
  const place = { item_id, output_index: 0, content_index: 0 };
  for (const delta of answer.pieces) {
    if (text === "") {
      yield event("response.output_item.added", { output_index: 0, item: message(answer, "in_progress") });
      const part = { type: "output_text", text: "", annotations: [] };
      yield event("response.content_part.added", { ...place, part });
    }
    text += delta;
    yield event("response.output_text.delta", { ...place, delta });
  }
  if (text !== "") {
    const item = message(answer, "completed", text);
    yield event("response.output_text.done", { ...place, text });
    yield event("response.content_part.done", { ...place, part: { type: "output_text", text, annotations: [] } });
    yield event("response.output_item.done", { output_index: 0, item });
    output.push(item);
  }
  for (const item of calls(answer)) {
    const output_index = output.length;
    yield event("response.output_item.added", { output_index, item: { ...item, status: "in_progress" } });
    yield event("response.output_item.done", { output_index, item });
    output.push(item);
  }
  const done = { ...response(answer, "completed"), output, usage: usageOf(answer) };
  yield event("response.completed", { response: done });
}

/** Of an error there it tells the code and the message only. */
function* failedStream(told: Failure): Iterable<string> {
  const { message, code, type } = asObject(asObject(openAiFailure(told).body).error);
  const failed = { id: "resp_failed", object: "response", status: "failed", error: { code: code ?? type, message } };
  yield sse({ type: "response.failed", sequence_number: 0, response: failed }, "response.failed");
}
