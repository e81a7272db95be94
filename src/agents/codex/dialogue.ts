import { asFields, asString, type JsonFields } from "../../kernel/json-fields.ts";
import type { Dialogue, Heard } from "../dialogue/dialogue.ts";
import { NOTHING_HEARD } from "../dialogue/dialogue.ts";
import { type JsonReader, jsonReader } from "../dialogue/json-reader.ts";
import { sessionTeller } from "../dialogue/session-id.ts";
import type { AgentEvent, UsageEvent } from "../port.ts";
import { codexFailure, codexRefusal } from "./failure.ts";
import { itemReader } from "./items.ts";
import { type CodexTokens, usageCounter } from "./usage.ts";

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
  readonly #items = itemReader();
  readonly #session = sessionTeller();
  readonly #usage: (told: JsonFields) => UsageEvent[];
  #lastFailure: string | undefined;
  readonly #reader: JsonReader;
  /** It has begun: what else it prints is not a reason why it could not. */
  #begun = false;

  constructor(hearing: CodexHearing) {
    this.#hearing = hearing;
    this.#usage = usageCounter(hearing.model, hearing.before);
    this.#reader = jsonReader({
      program: hearing.program,
      expected: EXPECTED,
      object: (value) => this.#begin(this.#object(value)),
      text: (line) => this.#text(line),
    });
  }

  read(line: string): Heard {
    return this.#reader.read(line);
  }

  close(): readonly AgentEvent[] {
    return this.#reader.close();
  }

  #begin(heard: Heard | undefined): Heard | undefined {
    this.#begun ||= heard !== undefined;
    return heard;
  }

  #text(line: string): Heard | undefined {
    if (this.#begun) return undefined;
    const refusal = codexRefusal(line, this.#hearing.program, this.#hearing.now());
    return refusal && { events: [refusal] };
  }

  /** A turn that was completed without an answer, and whose last item was an error. */
  #silentRefusal(): AgentEvent[] {
    const warning = this.#items.unanswered();
    const failure = warning === undefined ? undefined : codexFailure(warning, this.#hearing.now());
    return failure === undefined || failure.kind === "other" ? [] : [failure];
  }

  /** The same sentence comes twice: as an error, and as the reason why the turn failed. */
  #fail(message: string): Heard {
    if (message === this.#lastFailure) return NOTHING_HEARD;
    this.#lastFailure = message;
    return { events: [codexFailure(message, this.#hearing.now())] };
  }

  #object(value: JsonFields): Heard | undefined {
    switch (value.type) {
      case "thread.started":
        return typeof value.thread_id === "string" ? { events: this.#session(value.thread_id) } : undefined;
      case "turn.started":
        this.#items.turnStarted();
        return NOTHING_HEARD;
      case "turn.completed":
        return { events: [...this.#usage(asFields(value.usage)), ...this.#silentRefusal()] };
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
}

function messageIn(value: unknown): string {
  return asString(asFields(value).message) ?? JSON.stringify(value ?? null);
}
