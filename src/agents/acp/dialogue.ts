import { asFields, asString, type JsonFields } from "../../kernel/json-fields.ts";
import { type Dialogue, type Heard, NOTHING_HEARD } from "../dialogue/dialogue.ts";
import { refusalInWords } from "../dialogue/error-kind.ts";
import { type JsonReader, jsonReader } from "../dialogue/json-reader.ts";
import { asSessionId } from "../dialogue/session-id.ts";
import type { AgentEvent, AgentMessage } from "../port.ts";
import { type AskedOfAgent, acpFailure } from "./failure.ts";
import {
  answerLine,
  type Capabilities,
  type Choosing,
  capabilitiesOf,
  isReading,
  type ModelChoice,
  modelChoiceOf,
  PROTOCOL_VERSION,
  permissionAnswer,
  permissionQuestion,
  requestLine,
  UNKNOWN_METHOD,
} from "./protocol.ts";
import { toolInputOf, toolNameOf, UpdateReader } from "./updates.ts";
import { usageOfTurn } from "./usage.ts";

export interface AcpTalk {
  /** As the user started it, for messages. */
  readonly program: string;
  readonly cwd: string;
  readonly prompt: string;
  readonly sessionId?: string | undefined;
  readonly model?: string | undefined;
  /** What it writes into its settings is gone with the run. */
  readonly sandboxed: boolean;
  /** What earlier runs of the same conversation cost. */
  readonly costUsd: number;
  /** Goes with the request for a session; only programs that prloom knows get any. */
  readonly meta?: unknown;
  readonly now: () => number;
}

const EXPECTED = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,…}}';

/** Talks to an agent in the Agent Client Protocol: one session, one prompt, and what is said to it meanwhile. */
export function acpDialogue(talk: AcpTalk): Dialogue {
  return new AcpDialogue(talk);
}

class AcpDialogue implements Dialogue {
  readonly opening: readonly string[];
  readonly #talk: AcpTalk;
  readonly #reader: JsonReader;
  readonly #updates: UpdateReader;
  readonly #asked = new Map<number, AskedOfAgent>();
  #nextId = 0;
  #capabilities: Capabilities = { version: undefined, logins: [] };
  #sessionId = "";
  #model: string;
  /** Said while the agent works; they make the next turn, because a second prompt would end the first. */
  #messages: AgentMessage[] = [];
  /** Part of a prompt that was written, and nothing was heard since. */
  #unheard: AgentMessage[] = [];
  /** Something of an earlier conversation was told since the last request. */
  #retold = false;
  /** Chooses the model that the session has anyway. */
  #again: Choosing | undefined;
  #phase: "preparing" | "prompted" | "over" = "preparing";

  constructor(talk: AcpTalk) {
    this.#talk = talk;
    this.#model = talk.model ?? "default";
    this.#reader = jsonReader({
      program: talk.program,
      expected: EXPECTED,
      object: (value) => this.#message(value),
    });
    this.#updates = new UpdateReader(talk.costUsd, () => this.#model);
    this.opening = [
      this.#request("initialize", "initialize", {
        protocolVersion: PROTOCOL_VERSION,
        // Its own tools work inside its sandbox; ours would not.
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        clientInfo: { name: "prloom", title: "prloom", version: "1" },
      }),
    ];
  }

  read(line: string): Heard {
    return this.#reader.read(line);
  }

  send(message: AgentMessage): readonly string[] | undefined {
    if (this.#phase === "over") return undefined;
    this.#messages.push(message);
    return [];
  }

  close(): readonly AgentEvent[] {
    this.#phase = "over";
    return [...this.#updates.flush(), ...this.#reader.close()];
  }

  #request(asked: AskedOfAgent, method: string, params: unknown): string {
    const id = this.#nextId++;
    this.#asked.set(id, asked);
    return requestLine(id, method, params);
  }

  #message(value: JsonFields): Heard | undefined {
    const method = asString(value.method);
    if (method !== undefined && value.id !== undefined) return this.#asks(method, value.id, asFields(value.params));
    if (method === "session/update") return this.#update(asFields(asFields(value.params).update));
    // Other notifications may come with any version.
    if (method !== undefined) return NOTHING_HEARD;
    const asked = typeof value.id === "number" ? this.#asked.get(value.id) : undefined;
    if (asked === undefined) return undefined;
    this.#asked.delete(value.id as number);
    return value.error === undefined
      ? this.#answered(asked, asFields(value.result))
      : this.#refused(asked, value.error);
  }

  #asks(method: string, id: unknown, params: JsonFields): Heard {
    if (method !== "session/request_permission") {
      const error = { code: UNKNOWN_METHOD, message: `prloom does not do ${method}.` };
      return { events: [], write: [answerLine(id, { error })] };
    }
    const toolCall = asFields(params.toolCall);
    const events = [...this.#taken(), ...this.#updates.asked(toolCall)];
    const told = this.#updates.toldOf(toolCall);
    const question = permissionQuestion(told);
    const callId = asString(toolCall.toolCallId);
    return {
      events,
      ask: {
        request: {
          tool: toolNameOf(told),
          input: toolInputOf(told),
          ...(callId === undefined ? {} : { callId }),
          reads: isReading(told),
          question,
        },
        answer: ({ allow }) => {
          const answer = permissionAnswer(params, allow ? (this.#talk.sandboxed ? "always" : "once") : "never");
          const write = [answerLine(id, { result: { outcome: answer.outcome } })];
          return { events: answer.allowed ? [] : [{ type: "waiting", question }], write };
        },
      },
    };
  }

  #update(update: JsonFields): Heard | undefined {
    // An agent that loads a conversation tells all of it once more.
    if (this.#phase === "preparing") {
      this.#retold ||= update.sessionUpdate !== "available_commands_update";
      return NOTHING_HEARD;
    }
    const events = this.#updates.read(update);
    if (events === undefined) return undefined;
    return { events: events.length === 0 ? events : [...this.#taken(), ...events] };
  }

  #taken(): AgentEvent[] {
    return this.#unheard.splice(0).map(({ id }) => ({ type: "received", messageId: id }));
  }

  #answered(asked: AskedOfAgent, result: JsonFields): Heard {
    switch (asked) {
      case "initialize":
        return this.#initialized(capabilitiesOf(result));
      case "session":
      case "resume":
        return this.#opened(result);
      case "model":
      case "ready":
        return { events: [], write: [this.#begin()] };
      case "prompt":
        return this.#turnOver(result);
    }
  }

  #initialized(capabilities: Capabilities): Heard {
    this.#capabilities = capabilities;
    if (capabilities.version !== PROTOCOL_VERSION) {
      const told = JSON.stringify(capabilities.version ?? null);
      const message = `${this.#talk.program} speaks version ${told} of the Agent Client Protocol; prloom knows ${PROTOCOL_VERSION}.`;
      return this.#over([{ type: "error", kind: "format", message }]);
    }
    const { cwd, sessionId, meta } = this.#talk;
    const place = { cwd, mcpServers: [], ...(meta === undefined ? {} : { _meta: meta }) };
    if (sessionId === undefined || capabilities.resume === undefined) {
      return { events: [], write: [this.#request("session", "session/new", place)] };
    }
    this.#sessionId = sessionId;
    return { events: [], write: [this.#request("resume", capabilities.resume, { sessionId, ...place })] };
  }

  #opened(result: JsonFields): Heard {
    this.#sessionId = asString(result.sessionId) ?? this.#sessionId;
    const sessionId = asSessionId(this.#sessionId);
    const events: AgentEvent[] = sessionId === undefined ? [] : [{ type: "session", sessionId }];
    const choice = modelChoiceOf(result);
    const { model } = this.#talk;
    if (model !== undefined && model !== choice?.current) return this.#choose(events, model, choice);
    this.#model = choice?.current ?? this.#model;
    this.#again = choice?.current === undefined ? undefined : choice.choose(this.#sessionId, choice.current);
    // Answered already, and yet to be told in part.
    this.#retold = this.#isLoaded();
    return { events, write: [this.#begin()] };
  }

  #isLoaded(): boolean {
    return this.#talk.sessionId !== undefined && this.#capabilities.resume === "session/load";
  }

  /**
   * Some agents say that a conversation is loaded before they have told all of it once more. They do one thing after
   * another, so when they answer a request that changes nothing, and told nothing in the meantime, that is over.
   */
  #begin(): string {
    if (!this.#retold) return this.#prompt([this.#talk.prompt]);
    this.#retold = false;
    const { method, params } = this.#again ?? { method: "_prloom/ready", params: { sessionId: this.#sessionId } };
    return this.#request("ready", method, params);
  }

  #choose(events: readonly AgentEvent[], model: string, choice: ModelChoice | undefined): Heard {
    if (choice) {
      const { method, params } = choice.choose(this.#sessionId, model);
      this.#again = { method, params };
      this.#retold = this.#isLoaded();
      return { events, write: [this.#request("model", method, params)] };
    }
    // Working with a model other than the one that was asked for would be a surprise on the bill.
    const message = `${this.#talk.program} does not let its model be chosen over ACP. Take "model" (${model}) out of its agent in prloom/config.json, or name it in "args" where the program has an option for it.`;
    return this.#over([...events, { type: "error", kind: "other", message }]);
  }

  #prompt(texts: readonly string[]): string {
    this.#phase = "prompted";
    this.#updates.turnStarted();
    const prompt = texts.map((text) => ({ type: "text", text }));
    return this.#request("prompt", "session/prompt", { sessionId: this.#sessionId, prompt });
  }

  #turnOver(result: JsonFields): Heard {
    const events = [
      ...this.#taken(),
      ...this.#updates.flush(),
      ...usageOfTurn(result, this.#model),
      ...stopped(result),
      ...this.#refusal(result),
    ];
    if (this.#messages.length === 0) return this.#over(events);
    this.#unheard = this.#messages.splice(0);
    return { events, write: [this.#prompt(this.#unheard.map(({ text }) => text))] };
  }

  /** Some agents end a turn as if all was well when their provider refused it, with its words, or with none at all. */
  #refusal({ stopReason }: JsonFields): AgentEvent[] {
    const said = stopReason === "end_turn" ? this.#updates.sentence() : undefined;
    if (said === undefined) return [];
    if (said === "") {
      const message = `${this.#talk.program} ended its turn without an answer of the model.`;
      return [{ type: "error", kind: "other", message }];
    }
    const known = refusalInWords(said, this.#talk.now());
    return known ? [{ type: "error", message: said.trim(), ...known }] : [];
  }

  #refused(asked: AskedOfAgent, error: unknown): Heard {
    if (asked === "ready") return this.#answered(asked, {});
    const { logins } = this.#capabilities;
    return this.#over([...this.#updates.flush(), acpFailure({ asked, error, logins, now: this.#talk.now() })]);
  }

  #over(events: readonly AgentEvent[]): Heard {
    this.#phase = "over";
    return { events, end: true };
  }
}

/** Why a turn ended, where that is not because the agent had done all. */
function stopped({ stopReason }: JsonFields): AgentEvent[] {
  const reason = asString(stopReason);
  if (reason === undefined || reason === "end_turn" || reason === "cancelled") return [];
  return [{ type: "error", kind: "other", message: `The agent stopped: ${reason.replaceAll("_", " ")}.` }];
}
