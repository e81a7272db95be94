import type { Conversation, Json, Protocol, ProtocolName } from "./conversation.ts";
import type { Answering, Fault, PromptNames } from "./script.ts";

/** A request as it came in, with what was made of it. */
export interface ModelRequest {
  readonly method: string;
  /** With what follows the question mark. */
  readonly path: string;
  /** Absent for requests that are not about a conversation. */
  readonly protocol?: ProtocolName;
  /** What carries a key is hidden. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The newest words of the user, and what prloom's prompt in them names. */
  readonly text: string;
  readonly prompt: PromptNames;
  /** All that was said so far, to ask whether a conversation went on. */
  readonly conversation: Conversation;
  /** The program asked something of its own, which took no step of the script. */
  readonly aside: boolean;
  /** The rule, and the position of the step in it; absent when no rule fitted. */
  readonly rule?: number;
  readonly step?: number;
}

/** What a request gets. */
export interface Planned {
  readonly recorded: ModelRequest;
  readonly protocol?: Protocol;
  readonly answer: Answering;
  readonly fault?: Fault;
}
