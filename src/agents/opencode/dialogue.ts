import { asFields, asNumber, asString, type JsonFields } from "../../kernel/json-fields.ts";
import { withoutEscapes } from "../../kernel/text/terminal-escapes.ts";
import type { Dialogue, Heard } from "../dialogue/dialogue.ts";
import { type JsonReader, jsonReader } from "../dialogue/json-reader.ts";
import { sessionTeller } from "../dialogue/session-id.ts";
import type { AgentEvent, ErrorEvent } from "../port.ts";
import { NOT_IN_FORCE } from "../runner/run-exit.ts";
import { failureOf, saidFailure, withoutClass } from "./failure.ts";
import { type LogLine, readAskedAgain, readLogLine, readPolicyEnd, rulesInForce } from "./log-line.ts";
import { usageOfStep } from "./usage.ts";

export interface OpenCodeHearing {
  /** As the user started it, for messages. */
  readonly program: string;
  /** OpenCode does not print which model answered. */
  readonly model: string;
  readonly now: () => number;
  /** The run that our rules must be in force in before the model answers; undefined for one without rules inside. */
  readonly governedRun?: string | undefined;
}

const EXPECTED = '{"type": "step_start", "sessionID": …}, "text", "tool_use", "step_finish"';

/** Understands what `opencode run --format json --print-logs` prints. */
export function openCodeDialogue(hearing: OpenCodeHearing): Dialogue {
  return new OpenCodeDialogue(hearing);
}

class OpenCodeDialogue implements Dialogue {
  readonly #hearing: OpenCodeHearing;
  readonly #reader: JsonReader;
  readonly #session = sessionTeller();
  #hasSession = false;
  /** Whether our rules were there before the model answered; undefined until one of them is known. */
  #isInForce: boolean | undefined;
  /** It has told how it ended: what its log says about the same is not news. */
  #failed = false;
  /** An error that only names a line of the log, until that line comes. */
  #unexplained: { readonly ref: string; readonly failure: ErrorEvent } | undefined;
  readonly #explained = new Map<string, string>();

  constructor(hearing: OpenCodeHearing) {
    this.#hearing = hearing;
    this.#reader = jsonReader({
      program: hearing.program,
      expected: EXPECTED,
      object: (value) => this.#told(value),
      text: (line) => this.#text(line),
    });
  }

  read(line: string): Heard {
    const plain = line.startsWith("{") ? line : withoutEscapes(line);
    const { governedRun } = this.#hearing;
    if (governedRun !== undefined) this.#isInForce ??= rulesInForce([plain], governedRun);
    const heard = this.#reader.read(plain);
    return this.#isInForce === false ? { ...heard, policyEnd: NOT_IN_FORCE } : heard;
  }

  close(): readonly AgentEvent[] {
    return [...(this.#unexplained ? [this.#unexplained.failure] : []), ...this.#reader.close()];
  }

  #told(value: JsonFields): Heard | undefined {
    const events = this.#object(value);
    if (!events) return undefined;
    const session = this.#session(value.sessionID);
    this.#hasSession ||= session.length > 0;
    return { events: [...session, ...events] };
  }

  #object(value: JsonFields): readonly AgentEvent[] | undefined {
    const part = asFields(value.part);
    switch (value.type) {
      case "step_start":
        return [{ type: "turn" }];
      case "text": {
        const text = asString(part.text);
        return text === undefined ? undefined : [{ type: "text", text }];
      }
      case "tool_use":
        return toolEvents(part);
      case "step_finish":
        return usageOfStep(part, this.#hearing.model);
      case "reasoning":
        return [];
      case "error":
        return this.#error(asFields(value.error));
      default:
        return undefined;
    }
  }

  #error(error: JsonFields): AgentEvent[] {
    this.#failed = true;
    const failure = failureOf(error, this.#hearing.now());
    const ref = asString(asFields(error.data).ref);
    if (ref === undefined) return [failure];
    const why = this.#explained.get(ref);
    if (why !== undefined) return [this.#reasonOf(why)];
    this.#unexplained = { ref, failure };
    return [];
  }

  #reasonOf(why: string): ErrorEvent {
    return saidFailure(withoutClass(why), this.#hearing.now());
  }

  #text(text: string): Heard | undefined {
    const log = readLogLine(text);
    if (log) return { events: this.#logged(log), ...endIn(log) };
    const question = /^!\s+(permission requested: .*?)(?:; auto-rejecting)?$/.exec(text)?.[1];
    if (question !== undefined) return { events: [{ type: "waiting", question }] };
    const said = /^Error:\s+(\S.*)$/.exec(text)?.[1];
    if (said === undefined || this.#hasSession) return undefined;
    return { events: [saidFailure(said, this.#hearing.now())] };
  }

  /** Of the log only errors are asked for; all of it is in the run's output. */
  #logged({ level, fields }: LogLine): AgentEvent[] {
    if (level !== "ERROR" && level !== "FATAL") return [];
    const { ref, error, message = "" } = fields;
    if (ref !== undefined) return this.#reason(ref, error ?? message);
    const again = readAskedAgain(message);
    if (again && !this.#failed) return this.#askedAgain(again);
    const cause = fields["error.error"] ?? error;
    if (message !== "stream error" || cause === undefined || this.#failed) return [];
    return [{ ...saidFailure(withoutClass(cause), this.#hearing.now()), retrying: true }];
  }

  #askedAgain({ at, why }: { readonly at: number; readonly why: string }): AgentEvent[] {
    const now = this.#hearing.now();
    const { kind, message } = saidFailure(why, now);
    // It asks again only where it was refused, whatever the words.
    const refused = kind === "other" ? "rate-limit" : kind;
    return [{ type: "error", kind: refused, message, retryAfterMs: Math.max(0, at - now), retrying: true }];
  }

  #reason(ref: string, why: string): AgentEvent[] {
    if (this.#unexplained?.ref !== ref) {
      this.#explained.set(ref, why);
      return [];
    }
    this.#unexplained = undefined;
    return [this.#reasonOf(why)];
  }
}

function endIn({ fields: { message = "" } }: LogLine): Pick<Heard, "policyEnd"> {
  const policyEnd = readPolicyEnd(message);
  return policyEnd === undefined ? {} : { policyEnd };
}

/** A tool is told when it has ended: the call and its result at once. */
function toolEvents(part: JsonFields): AgentEvent[] | undefined {
  const id = asString(part.callID) ?? asString(part.id);
  const name = asString(part.tool);
  if (id === undefined || name === undefined) return undefined;
  const state = asFields(part.state);
  const call: AgentEvent = { type: "tool_call", id, name, input: state.input ?? {} };
  const exit = asNumber(asFields(state.metadata).exit);
  const failed = state.status === "error" || (exit !== undefined && exit !== 0);
  const output = asString(state.output) ?? asString(state.error) ?? "";
  return [call, { type: "tool_result", id, output, failed }];
}
