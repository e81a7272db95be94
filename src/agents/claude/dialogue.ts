import { asFields, asFieldsList, asNumber, asString, type JsonFields } from "../../kernel/json-fields.ts";
import { asCallId, CallIds } from "../dialogue/call-ids.ts";
import { type Dialogue, type Heard, NOTHING_HEARD } from "../dialogue/dialogue.ts";
import { type JsonReader, jsonReader } from "../dialogue/json-reader.ts";
import { sessionTeller } from "../dialogue/session-id.ts";
import type { AgentEvent, AgentMessage, ErrorEvent } from "../port.ts";
import { HOOKS_OFF, RAN_THOUGH_DENIED } from "../runner/run-exit.ts";
import { limitEnd, resultFailure, retryFailure, saysRefusal } from "./failure.ts";
import { heardHook, hooksInForce, initializeLine, NO_MODEL, subAgentIn } from "./hooks.ts";
import { interruptLine, permissionLine, questionOf, unknownLine, userLine, uuidOf } from "./messages.ts";
import { UsageCounter } from "./usage.ts";

export interface ClaudeHearing {
  /** As the user started it, for messages. */
  readonly program: string;
  readonly prompt: string;
  /** Each call is judged by us: what was refused was answered, and no person is waited for. */
  readonly overseen?: boolean;
  readonly now: () => number;
}

const EXPECTED = '{"type": "system", "subtype": "init", "session_id": …}, "assistant", "user", "result"';

/** A key that was refused so often will be refused again: the program would go on for minutes. */
const REFUSED_OFTEN = 3;

/** Sub-agents of one run; those beyond get no task. No run may fill our memory. */
const MAX_STARTS = 1000;

const UNASKED = "GOVERNANCE BLOCK: prloom's hook was not asked about this call, so it cannot be judged.";

/** Understands what `claude -p --output-format stream-json` prints, and talks to it. */
export function claudeDialogue(hearing: ClaudeHearing): Dialogue {
  return new ClaudeDialogue(hearing);
}

class ClaudeDialogue implements Dialogue {
  readonly opening: readonly string[];
  readonly #hearing: ClaudeHearing;
  readonly #reader: JsonReader;
  readonly #usage = new UsageCounter();
  readonly #session = sessionTeller();
  /** Sent, and not yet a part of the conversation: our ids by theirs. */
  readonly #sent = new Map<string, string>();
  /** Calls that started sub-agents, by these. */
  readonly #starts = new Map<string, string>();
  /** Calls that our hook was asked about. */
  readonly #hooked = new CallIds();
  /** Calls whose newest answer of ours is no. A hook of the user's that permits can be quicker than that answer. */
  readonly #refused = new CallIds();
  /** Whether our hooks were asked before the model answered; undefined until one of them is known. */
  #isInForce: boolean | undefined;
  /** The newest answer is the model's: a result is then its own words. */
  #answered = false;
  /** A result has come, and nothing was begun since. */
  #idle = false;
  #ended = false;
  /** What went wrong last, as far as a result cannot tell it. */
  #code: string | undefined;
  #resetsAt: number | undefined;
  #givenUp: ErrorEvent | undefined;

  constructor(hearing: ClaudeHearing) {
    this.#hearing = hearing;
    this.#reader = jsonReader({
      program: hearing.program,
      expected: EXPECTED,
      object: (value) => this.#object(value),
    });
    this.opening = [...(hearing.overseen ? [initializeLine()] : []), userLine(hearing.prompt)];
  }

  read(line: string): Heard {
    const heard = this.#reader.read(line);
    if (!this.#hearing.overseen) return heard;
    this.#isInForce ??= hooksInForce([line]);
    // A call that ran without a question to our hook: they are not in force any more. One that failed may not have got that far.
    const isUnasked = heard.events.some(
      (event) => event.type === "tool_result" && !event.failed && !this.#hooked.has(event.id),
    );
    return this.#isInForce === false || isUnasked ? { ...heard, policyEnd: HOOKS_OFF } : heard;
  }

  send({ id, text }: AgentMessage): readonly string[] | undefined {
    if (this.#ended) return undefined;
    const uuid = uuidOf(id);
    this.#sent.set(uuid, id);
    return [userLine(text, uuid)];
  }

  close(): readonly AgentEvent[] {
    return this.#reader.close();
  }

  #object(value: JsonFields): Heard | undefined {
    switch (value.type) {
      case "system":
        return this.#system(value);
      case "assistant":
        return { events: this.#answer(value) };
      case "user":
        return { events: [...this.#received(value.uuid), ...toolResults(value)] };
      case "result":
        return this.#result(value);
      case "command_lifecycle":
        return this.#lifecycle(value);
      case "control_request":
        return this.#asked(value);
      case "control_response":
        return NOTHING_HEARD;
      case "rate_limit_event":
        this.#resetsAt = limitEnd(value);
        return NOTHING_HEARD;
      default:
        return undefined;
    }
  }

  #system(value: JsonFields): Heard | undefined {
    switch (value.subtype) {
      case undefined:
        return undefined;
      case "init":
        return { events: this.#session(value.session_id) };
      case "api_retry":
        return this.#retry(value);
      case "permission_denied":
        return { events: this.#hearing.overseen ? [] : [{ type: "waiting", question: questionOf(value) }] };
      case "task_started":
        return this.#started(value);
      default:
        return NOTHING_HEARD;
    }
  }

  /** One that goes on is still that of the call which started it. */
  #started({ task_id, tool_use_id }: JsonFields): Heard {
    const [task, call] = [asCallId(task_id), asCallId(tool_use_id)];
    if (task === undefined || call === undefined) return NOTHING_HEARD;
    if (!this.#starts.has(task) && this.#starts.size < MAX_STARTS) this.#starts.set(task, call);
    return NOTHING_HEARD;
  }

  /** A request of the program. What we do not know gets an answer, too. */
  #asked(value: JsonFields): Heard {
    const request = asFields(value.request);
    const id = asString(value.request_id);
    if (id === undefined) return NOTHING_HEARD;
    const hook = request.subtype === "hook_callback" ? heardHook(id, request, this.#starts) : undefined;
    if (hook?.ask?.request.callId !== undefined) this.#hooked.add(hook.ask.request.callId);
    if (hook) return this.#isRefused(hook) ? { ...hook, policyEnd: RAN_THOUGH_DENIED } : hook;
    if (request.subtype !== "can_use_tool") return { events: [], write: [unknownLine(id)] };
    const question = questionOf(request);
    const callId = asCallId(request.tool_use_id);
    // Only the hook tells where a call is made, and only after such a one are we told that it is over.
    if (this.#hearing.overseen && !this.#hooked.has(callId ?? ""))
      return { events: [], write: [permissionLine(id, request, { allow: false, reason: UNASKED })] };
    return {
      events: [],
      ask: {
        request: {
          tool: asString(request.tool_name) ?? "",
          input: request.input ?? {},
          ...(callId === undefined ? {} : { callId }),
          ...subAgentIn(request, this.#starts),
          reads: false,
          question,
        },
        answer: (permission) => {
          if (!permission.allow) this.#refused.add(callName(callId, asCallId(request.agent_id)));
          return {
            events: permission.allow || this.#hearing.overseen ? [] : [{ type: "waiting", question }],
            write: [permissionLine(id, request, permission)],
          };
        },
      },
    };
  }

  /** Whether a call is over, so has run, that we refused. One that begins may have the id of an earlier one. */
  #isRefused({ ask, tell }: Heard): boolean {
    if (ask) this.#refused.delete(callName(ask.request.callId, ask.request.by?.session));
    return tell?.told.kind === "ended" && this.#refused.has(callName(tell.told.callId, tell.told.by?.session));
  }

  #retry(value: JsonFields): Heard {
    const failure = retryFailure(value);
    const isHopeless = failure.kind === "auth" && (asNumber(value.attempt) ?? 0) >= REFUSED_OFTEN;
    if (!isHopeless || this.#givenUp) return { events: [failure] };
    this.#givenUp = failure;
    return { events: [failure], write: [interruptLine("prloom-gives-up")] };
  }

  #answer(value: JsonFields): AgentEvent[] {
    const message = asFields(value.message);
    const model = asString(message.model) ?? "unknown";
    if (model === NO_MODEL) {
      this.#code = asString(value.error);
      this.#answered = false;
      if (this.#code !== undefined || value.is_api_error_message === true) return [];
      return contentEvents(message);
    }
    this.#answered = true;
    const id = asCallId(message.id) ?? "";
    const isNew = !this.#usage.knows(id);
    const usage = this.#usage.answer(id, model, asFields(message.usage));
    return [...(isNew ? [{ type: "turn" } as const] : []), ...contentEvents(message), ...usage];
  }

  #received(uuid: unknown): AgentEvent[] {
    const messageId = typeof uuid === "string" ? this.#sent.get(uuid) : undefined;
    if (messageId === undefined) return [];
    this.#sent.delete(uuid as string);
    return [{ type: "received", messageId }];
  }

  /** A message is begun with before anything is answered to it. One that it knows already is over without that. */
  #lifecycle({ command_uuid, state }: JsonFields): Heard {
    if (state === "queued") return NOTHING_HEARD;
    if (state === "started") this.#idle = false;
    const isTaken = state === "started" || state === "completed";
    const events = isTaken ? this.#received(command_uuid) : [];
    // It will not take the others: they wait for the next turn, and we do not wait for them.
    if (typeof command_uuid === "string") this.#sent.delete(command_uuid);
    return { events, ...this.#closing() };
  }

  #result(value: JsonFields): Heard {
    const events: AgentEvent[] = this.#usage.result(asFields(value.model_usage_since_last_result));
    if (value.is_error === true) events.push(this.#failure(value));
    // An answer that no model gave, and that is not called an error, may be one in words.
    else if (!this.#answered) events.push(...this.#refusal(value));
    this.#answered = false;
    this.#code = undefined;
    this.#idle = true;
    return { events, ...this.#closing() };
  }

  /** After a result the program waits for more. It is told that there is none, unless something is on its way to it. */
  #closing(): { readonly end?: true } {
    if (!this.#idle || this.#sent.size > 0 || this.#ended) return {};
    this.#ended = true;
    return { end: true };
  }

  #refusal(value: JsonFields): ErrorEvent[] {
    return saysRefusal(asString(value.result) ?? "", this.#hearing.now()) ? [this.#failure(value)] : [];
  }

  #failure(value: JsonFields): ErrorEvent {
    if (this.#givenUp) {
      const { retrying: _retrying, retryAfterMs: _wait, ...failure } = this.#givenUp;
      this.#givenUp = undefined;
      return failure;
    }
    return resultFailure(value, { code: this.#code, resetsAt: this.#resetsAt, now: this.#hearing.now() });
  }
}

/** An id is one only in its conversation. */
const callName = (callId = "", subAgent = ""): string => JSON.stringify([subAgent, callId]);

function contentEvents({ content }: JsonFields): AgentEvent[] {
  return asFieldsList(content).flatMap((block): AgentEvent[] => {
    const id = asCallId(block.id);
    const name = asString(block.name);
    if (block.type === "text" && typeof block.text === "string") return [{ type: "text", text: block.text }];
    const isCall = block.type === "tool_use" || block.type === "server_tool_use";
    if (!isCall || id === undefined || name === undefined) return [];
    return [{ type: "tool_call", id, name, input: block.input ?? {} }];
  });
}

function toolResults({ message }: JsonFields): AgentEvent[] {
  return asFieldsList(asFields(message).content).flatMap((block): AgentEvent[] => {
    const id = asCallId(block.tool_use_id);
    if (block.type !== "tool_result" || id === undefined) return [];
    return [{ type: "tool_result", id, output: textIn(block.content), failed: block.is_error === true }];
  });
}

/** Pictures and the like have no text. */
function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return asFieldsList(content)
    .map((part) => asString(part.text) ?? `(${asString(part.type) ?? "something"})`)
    .join("\n");
}
