import { asCount, asFields, asString, type JsonFields } from "../../kernel/json-fields.ts";
import type { Dialogue, Heard } from "../dialogue/dialogue.ts";
import { NOTHING_HEARD } from "../dialogue/dialogue.ts";
import { type FormatWatch, formatWatch } from "../dialogue/format-watch.ts";
import { jsonLines } from "../dialogue/json-lines.ts";
import { asSessionId } from "../dialogue/session-id.ts";
import type { AgentEvent, ErrorEvent } from "../port.ts";
import { codexFailure, codexRefusal } from "./failure.ts";
import { itemReader } from "./items.ts";

/** Tokens of a conversation so far. */
export interface CodexTokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

export interface CodexHearing {
  /** As the user started it, for messages. */
  readonly program: string;
  /** Codex does not print which model answered. */
  readonly model: string;
  /** What earlier runs of the same conversation have told: Codex counts a conversation from its beginning. */
  readonly before: CodexTokens;
  readonly now: () => number;
}

const EXPECTED = '"thread.started", "turn.started", "item.completed" …';

/** Understands what `codex exec --json` prints. It takes no messages while it works. */
export function codexDialogue(hearing: CodexHearing): Dialogue {
  return new CodexDialogue(hearing);
}

class CodexDialogue implements Dialogue {
  readonly #hearing: CodexHearing;
  readonly #lines = jsonLines();
  readonly #items = itemReader();
  #counted: CodexTokens;
  #lastFailure: string | undefined;
  readonly #format: FormatWatch;
  /** It has begun: what else it prints is not a reason why it could not. */
  #begun = false;

  constructor(hearing: CodexHearing) {
    this.#hearing = hearing;
    this.#counted = hearing.before;
    this.#format = formatWatch({ program: hearing.program, expected: EXPECTED });
  }

  read(text: string): Heard {
    const line = this.#lines(text);
    if (line.kind === "part") return NOTHING_HEARD;
    if (line.kind === "text") return this.#text(line.text);
    const heard = this.#object(line.value);
    if (heard) this.#format.known();
    else this.#format.strange(text);
    this.#begun ||= heard !== undefined;
    return heard ?? NOTHING_HEARD;
  }

  close(): readonly AgentEvent[] {
    return this.#format.close();
  }

  #text(text: string): Heard {
    if (this.#begun) return { events: [{ type: "text", text }] };
    this.#format.strange(text);
    const refusal = codexRefusal(text, this.#hearing.program, this.#hearing.now());
    return refusal ? this.#tell(refusal) : { events: [{ type: "text", text }] };
  }

  #tell(failure: ErrorEvent): Heard {
    this.#format.known();
    return { events: [failure] };
  }

  /** The same sentence comes twice: as an error, and as the reason why the turn failed. */
  #fail(message: string): Heard {
    if (message === this.#lastFailure) return NOTHING_HEARD;
    this.#lastFailure = message;
    return this.#tell(codexFailure(message, this.#hearing.now()));
  }

  #object(value: JsonFields): Heard | undefined {
    switch (value.type) {
      case "thread.started":
        return typeof value.thread_id === "string" ? { events: sessionEvents(value.thread_id) } : undefined;
      case "turn.started":
        this.#items.turnStarted();
        return NOTHING_HEARD;
      case "turn.completed":
        return this.#usage(asFields(value.usage));
      case "turn.failed":
        return this.#fail(messageIn(value.error));
      case "error":
        return this.#fail(messageIn(value));
      case "item.started":
      case "item.updated":
      case "item.completed": {
        const events = this.#items.read(asFields(value.item), value.type === "item.completed");
        return events && { events };
      }
      default:
        return undefined;
    }
  }

  #usage(told: JsonFields): Heard {
    const total = { input: asCount(told.input_tokens), output: asCount(told.output_tokens) };
    const now: CodexTokens = { ...total, cached: Math.min(asCount(told.cached_input_tokens), total.input) };
    const before = this.#counted;
    this.#counted = now;
    const input = Math.max(0, now.input - before.input);
    const output = Math.max(0, now.output - before.output);
    const cached = Math.min(input, Math.max(0, now.cached - before.cached));
    if (input === 0 && output === 0) return NOTHING_HEARD;
    return { events: [{ type: "usage", model: this.#hearing.model, input, output, cached }] };
  }
}

function sessionEvents(threadId: string): AgentEvent[] {
  const sessionId = asSessionId(threadId);
  return sessionId === undefined ? [] : [{ type: "session", sessionId }];
}

function messageIn(value: unknown): string {
  return asString(asFields(value).message) ?? JSON.stringify(value ?? null);
}
