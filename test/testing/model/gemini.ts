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

/** Gemini's generateContent. */
export const gemini: Protocol = {
  name: "gemini",
  read,
  whole,
  stream,
  failure,
  failedStream: (told) => [sse(failure(told).body)],
};

function read(body: Json, path: string): Conversation {
  const declared = asList(body.tools).flatMap((tool) => asList(tool.functionDeclarations));
  return {
    model: /models\/([^:]+):/.exec(path)?.[1] ?? "",
    system: contentText(asObject(body.systemInstruction).parts),
    said: asList(body.contents).flatMap(saidIn),
    tools: declared.map((tool) => {
      const schema = asObject(tool.parametersJsonSchema ?? tool.parameters);
      return { name: asText(tool.name), freeform: false, parameters: Object.keys(asObject(schema.properties)) };
    }),
    stream: path.includes(":streamGenerateContent"),
  };
}

function saidIn({ role, parts }: Json): Said[] {
  const list = asList(parts);
  const text = contentText(list);
  if (role === "model") return [{ role: "assistant", text }];
  const results = list.filter((part) => part.functionResponse !== undefined);
  return [
    ...results.map((part): Said => {
      return { role: "tool", text: JSON.stringify(asObject(part.functionResponse).response ?? "") };
    }),
    ...(text === "" ? [] : [{ role: "user", text } as const]),
  ];
}

function usageOf({ usage }: Answer): Json {
  return {
    promptTokenCount: usage.input,
    cachedContentTokenCount: usage.cached ?? 0,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.input + usage.output,
  };
}

function content(answer: Answer, parts: readonly Json[], isLast: boolean): Json {
  const candidate = { index: 0, content: { role: "model", parts }, ...(isLast ? { finishReason: "STOP" } : {}) };
  return { candidates: [candidate], usageMetadata: usageOf(answer), modelVersion: answer.model, responseId: answer.id };
}

function callParts({ calls }: Answer): Json[] {
  return calls.map(({ id, name, args }) => ({ functionCall: { id: `call_${id}`, name, args } }));
}

function whole(answer: Answer): unknown {
  const text = [...answer.pieces].join("");
  return content(answer, [...(text === "" ? [] : [{ text }]), ...callParts(answer)], true);
}

function* stream(answer: Answer): Iterable<string> {
  for (const text of answer.pieces) yield sse(content(answer, [{ text }], false));
  // A last part without text or call counts as an empty answer with some clients.
  const parts = callParts(answer);
  yield sse(content(answer, parts.length > 0 ? parts : [{ text: "" }], true));
}

const STATES: Readonly<Record<number, readonly [state: string, message: string]>> = {
  400: ["INVALID_ARGUMENT", "The request is not valid."],
  401: ["UNAUTHENTICATED", "Request had invalid authentication credentials."],
  403: ["PERMISSION_DENIED", "The caller does not have permission."],
  404: ["NOT_FOUND", "The model is not found."],
  429: ["RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."],
  503: ["UNAVAILABLE", "The model is overloaded. Please try again later."],
};

const TYPE = "type.googleapis.com/google.rpc";

function failure({ status, retryAfter, limit, quota }: Failure): HttpFailure {
  const wait = limit ?? retryAfter;
  const sent = quota ? 429 : status === 529 ? 503 : status;
  const [state, message] = STATES[sent] ?? ["INTERNAL", "An internal error has occurred."];
  const quotaId = `GenerateRequestsPer${quota ? "Day" : "Minute"}PerProjectPerModel`;
  const details = [
    ...(sent === 429 ? [{ "@type": `${TYPE}.QuotaFailure`, violations: [{ quotaId }] }] : []),
    ...(wait === undefined ? [] : [{ "@type": `${TYPE}.RetryInfo`, retryDelay: `${wait}s` }]),
  ];
  const text = quota ? "You exceeded your current quota, please check your plan and billing details." : message;
  const error = { code: sent, message: text, status: state, ...(details.length > 0 ? { details } : {}) };
  return { status: sent, headers: {}, body: { error } };
}
