import { promptNames } from "./prompt-names.ts";
import type { Turn, Usage } from "./script.ts";

export interface OfferedTool {
  readonly name: string;
  /** Takes text as it is, not JSON (OpenAI's "custom" tools). */
  readonly freeform: boolean;
  /** Names of its arguments. */
  readonly parameters: readonly string[];
}

export type Said =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string }
  | { readonly role: "tool"; readonly text: string };

/** What a request says, whatever protocol it came in. */
export interface Conversation {
  readonly model: string;
  readonly system: string;
  readonly said: readonly Said[];
  readonly tools: readonly OfferedTool[];
  readonly stream: boolean;
}

export interface Call {
  readonly id: string;
  readonly name: string;
  /** For a freeform tool the text. */
  readonly args: unknown;
  readonly freeform: boolean;
}

/** What is answered, whatever protocol it goes out in. */
export interface Answer {
  readonly id: string;
  readonly model: string;
  /** The text in the pieces in which it is sent. */
  readonly pieces: Iterable<string>;
  readonly calls: readonly Call[];
  readonly usage: Usage;
}

export interface Failure {
  readonly status: number;
  readonly retryAfter?: number;
  readonly quota: boolean;
  /** Seconds until a limit of the user's plan ends. */
  readonly limit?: number;
}

export interface HttpFailure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export type ProtocolName = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

/** One way in which programs talk to a model. */
export interface Protocol {
  readonly name: ProtocolName;
  /** Reads a request; whatever is in it, this does not throw. */
  read(body: Json, path: string): Conversation;
  /** The answer as one JSON object. */
  whole(answer: Answer): unknown;
  /** The answer as server-sent events, each complete with its empty line. */
  stream(answer: Answer): Iterable<string>;
  failure(failure: Failure): HttpFailure;
  /** A failure that comes in the place of an answer that had begun well. */
  failedStream(failure: Failure): Iterable<string>;
}

export type Json = Readonly<Record<string, unknown>>;

export function asObject(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function asList(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(asObject) : [];
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Text of a message whose content is a string or a list of parts. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return asList(content)
    .map((part) => asText(part.text))
    .filter((text) => text !== "")
    .join("\n");
}

/** What programs add to a user's words by themselves; a rule is about the user's words. */
const ADDED = [
  /<system-reminder>[\s\S]*?<\/system-reminder>/g,
  /<environment_context>[\s\S]*?<\/environment_context>/g,
  /<session_context>[\s\S]*?<\/session_context>/g,
  /<user_instructions>[\s\S]*?<\/user_instructions>/g,
  /<permissions instructions>[\s\S]*?<\/permissions instructions>/g,
];

function ownWords(text: string): string {
  return ADDED.reduce((rest, added) => rest.replace(added, ""), text).trim();
}

/** The turns of a conversation, newest first: one for each text of the user. */
export function turnsOf(conversation: Conversation): Turn[] {
  const turns: Turn[] = [];
  const names = conversation.tools.map(({ name }) => name);
  let answers = 0;
  let results: string[] = [];
  let wasAssistant = false;
  for (const said of conversation.said.toReversed()) {
    // Some protocols split one answer into several items: what stands together is one.
    if (said.role === "assistant" && !wasAssistant) answers += 1;
    wasAssistant = said.role === "assistant";
    if (said.role === "tool") results.unshift(said.text);
    if (said.role !== "user") continue;
    const text = ownWords(said.text);
    if (text === "") continue;
    turns.push({ text, answers, results, prompt: promptNames(text), tools: names });
    results = [...results];
  }
  return turns;
}

/** Server-sent event with JSON as its data. */
export function sse(data: unknown, event?: string): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}
