import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { answerTo } from "./answer.ts";
import type { Json } from "./conversation.ts";
import type { ModelRequest, Planned } from "./request.ts";

/** Answers a request as it was planned. */
export async function sendPlanned(
  response: ServerResponse,
  { recorded, protocol, answer: step, fault }: Planned,
): Promise<void> {
  if (protocol === undefined) return answerAside(response, recorded);
  if (fault && "fail" in fault) {
    const failure = {
      status: fault.fail,
      quota: fault.quota ?? false,
      ...(fault.retryAfter === undefined ? {} : { retryAfter: fault.retryAfter }),
      ...(fault.limit === undefined ? {} : { limit: fault.limit }),
    };
    if (fault.inStream && recorded.conversation.stream) return sendStream(response, protocol.failedStream(failure));
    const { status, headers, body } = protocol.failure(failure);
    return sendJson(response, body, { status, headers });
  }
  if (fault && "hang" in fault) {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    await wait(fault.hang, undefined, { signal: gone.signal }).catch(() => undefined);
    if (gone.signal.aborted) return;
  }
  const { conversation } = recorded;
  const full = answerTo(step, conversation, randomUUID().replaceAll("-", "").slice(0, 24));
  if (fault && "garbage" in fault) return sendGarbage(response, conversation.stream);
  if (fault && "drop" in fault) return sendAndCut(response, protocol.stream(full));
  if (!conversation.stream) return sendJson(response, protocol.whole(full));
  await sendStream(response, protocol.stream(full));
}

async function sendStream(response: ServerResponse, frames: Iterable<string>): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  try {
    await pipeline(Readable.from(frames), response);
  } catch (error) {
    // A client that does not want the rest may leave.
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  }
}

function sendJson(
  response: ServerResponse,
  body: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Readonly<Record<string, string>> } = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

function sendGarbage(response: ServerResponse, stream: boolean): void {
  const type = stream ? "text/event-stream" : "application/json";
  response.writeHead(200, { "content-type": type }).end('data: {"what": \n\n<html>no such thing</html>\n\n');
}

/** The beginning of an answer, and then nothing any more. */
async function sendAndCut(response: ServerResponse, frames: Iterable<string>): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const [first = "", second = ""] = frames;
  await new Promise<void>((sent) => response.write(first + second, () => sent()));
  response.destroy();
}

/** Lists of models, counts of tokens, and whatever else programs ask. */
function answerAside(response: ServerResponse, { path, method, body }: ModelRequest): void {
  if (method === "HEAD") response.writeHead(200).end();
  else if (/\/count_tokens/.test(path)) sendJson(response, { input_tokens: tokensOf(body) });
  else if (/:countTokens/.test(path)) sendJson(response, { totalTokens: tokensOf(body) });
  else if (/\/models(\?|$)/.test(path)) sendJson(response, { object: "list", data: [], models: [], has_more: false });
  else {
    const error = {
      type: "not_found_error",
      code: "not_found",
      message: "The scripted model does not know this path.",
    };
    sendJson(response, { type: "error", error }, { status: 404 });
  }
}

function tokensOf(body: Json): number {
  return Math.ceil(JSON.stringify(body).length / 4);
}
