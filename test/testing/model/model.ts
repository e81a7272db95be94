import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic } from "./anthropic.ts";
import { asObject, type Protocol, turnsOf } from "./conversation.ts";
import { gemini } from "./gemini.ts";
import { openAiChat } from "./openai-chat.ts";
import { openAiResponses } from "./openai-responses.ts";
import { promptNames } from "./prompt-names.ts";
import type { ModelRequest, Planned } from "./request.ts";
import { type Answering, type Choice, chooseStep, placeOf, type Script } from "./script.ts";
import { sendPlanned } from "./send.ts";
import { sideAnswer } from "./side-requests.ts";

export interface Model {
  /** Without a path: `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Everything that was asked, oldest first. */
  readonly requests: readonly ModelRequest[];
  /** What took a step of the script. */
  readonly asked: () => readonly ModelRequest[];
  /** The first request that fits, past or to come. */
  waitFor(fits: (request: ModelRequest) => boolean): Promise<ModelRequest>;
  /** From now on this script is followed; faults are counted from zero. */
  follow(script: Script): void;
  close(): Promise<void>;
}

/** Starts a model on loopback that does what a script says, in every protocol that agent programs speak. */
export async function startModel(script: Script = []): Promise<Model> {
  const requests: ModelRequest[] = [];
  const more = new EventEmitter().setMaxListeners(0);
  let followed = { script, met: new Map<string, number>() };
  const server = createServer((request, response) => {
    response.on("error", () => response.destroy());
    serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await textOf(request);
    const planned = plan(request, text, followed);
    requests.push(planned.recorded);
    more.emit("request");
    await sendPlanned(response, planned);
  }
  server.keepAliveTimeout = 60_000;
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    asked: () => requests.filter((one) => one.protocol !== undefined && !one.aside),
    async waitFor(fits) {
      for (;;) {
        const found = requests.find(fits);
        if (found) return found;
        await once(more, "request");
      }
    },
    follow(next) {
      followed = { script: next, met: new Map() };
    },
    close: () => close(server),
  };
}

async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

interface Followed {
  readonly script: Script;
  readonly met: Map<string, number>;
}

const NO_RULE: Answering = { say: "There is nothing to do." };

/** What a request gets; counts the faults that it meets. */
function plan(request: IncomingMessage, text: string, { script, met }: Followed): Planned {
  const path = request.url ?? "/";
  const protocol = protocolOf(request.method ?? "GET", path);
  const body = asObject(parsed(text));
  const conversation = (protocol ?? openAiChat).read(body, path);
  const turns = turnsOf(conversation);
  const base = { method: request.method ?? "GET", path, headers: shown(request), body, at: Date.now(), conversation };
  const said = {
    ...base,
    text: turns[0]?.text ?? "",
    prompt: turns[0]?.prompt ?? promptNames(""),
    ...(protocol ? { protocol: protocol.name } : {}),
  };
  if (protocol === undefined) return { recorded: { ...said, aside: true }, answer: NO_RULE };
  const aside = sideAnswer(conversation, request.headers["user-agent"] ?? "");
  if (aside !== undefined) return { recorded: { ...said, aside: true }, protocol, answer: { say: aside } };
  const place = placeOf(script, turns);
  if (place === undefined) return { recorded: { ...said, aside: false }, protocol, answer: NO_RULE };
  const key = (position: number): string => `${place.rule}:${position}`;
  const choice: Choice = chooseStep(script[place.rule]!, place.turn, (position) => met.get(key(position)) ?? 0);
  if (choice.fault) met.set(key(choice.position), (met.get(key(choice.position)) ?? 0) + 1);
  const recorded = { ...said, aside: false, rule: place.rule, step: choice.position };
  return { ...choice, recorded, protocol };
}

function protocolOf(method: string, path: string): Protocol | undefined {
  if (method !== "POST") return undefined;
  const [bare = ""] = path.split("?");
  if (bare.endsWith("/chat/completions")) return openAiChat;
  if (bare.endsWith("/responses")) return openAiResponses;
  if (bare.endsWith("/messages")) return anthropic;
  return /:(?:stream)?generateContent$/i.test(bare) ? gemini : undefined;
}

const SECRET = /authorization|api-key|cookie|token/i;

function shown(request: IncomingMessage): Record<string, string> {
  const headers = Object.entries(request.headers).map(([name, value]) => {
    return [name, SECRET.test(name) ? "(hidden)" : String(value)] as const;
  });
  return Object.fromEntries(headers);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not JSON: recorded without a body
  }
}
