import { asFields, asFieldsList, asNumber, asString, type JsonFields } from "../../kernel/json-fields.ts";
import type { AgentEvent } from "../port.ts";

/** Known, and nothing that prloom waits for. */
const SILENT = new Set([
  "user_message_chunk",
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
]);

/** A program that speaks in the place of its model is brief. */
const MAX_SENTENCE = 1000;
/** A longer line is handed on in parts: it is copied with each piece that comes, and no run may fill our memory. */
const MAX_LINE = 64 * 1024;
/** Of calls that are not over; as long as one line of a program may be, and more. */
const MAX_TOLD = 32 * 1024 * 1024;

interface Tool {
  readonly told: JsonFields;
  readonly called: boolean;
  /** Of each field that was told, and of the id: a long one that was told once is not measured again with each word of another. */
  readonly lengths: Readonly<Record<string, number>>;
}

function lengthOf(tool: Tool | undefined): number {
  return Object.values(tool?.lengths ?? {}).reduce((sum, length) => sum + length, 0);
}

function lengthsOf(told: JsonFields): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(told).map(([key, value]) => [key, JSON.stringify(value).length]));
}

/** Makes events of what an agent tells while it works: `session/update`, and the tool calls of permission requests. */
export class UpdateReader {
  readonly #tools = new Map<string, Tool>();
  /** How much they have told, in characters. */
  #told = 0;
  readonly #running = new Set<string>();
  #text = "";
  #answerDue = true;
  /** All that was said since the prompt, as far as it may be one sentence; undefined once it is more than that. */
  #sentence: string | undefined = "";
  #costUsd: number;
  readonly #model: () => string;

  /** The cost is that of the conversation before this run: agents tell the sum. */
  constructor(costUsd: number, model: () => string) {
    this.#costUsd = costUsd;
    this.#model = model;
  }

  /** Undefined for an update of a kind that is not known. */
  read(update: JsonFields): readonly AgentEvent[] | undefined {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return [...this.#answer(), ...this.#chunk(asString(asFields(update.content).text) ?? "")];
      case "agent_thought_chunk":
        this.#sentence = undefined;
        return this.#answer();
      case "tool_call":
      case "tool_call_update":
        return [...this.flush(), ...this.#tool(update, false)];
      case "usage_update":
        return this.#cost(asFields(update.cost));
      case "plan":
        this.#sentence = undefined;
        return [];
      default:
        return SILENT.has(String(update.sessionUpdate)) ? [] : undefined;
    }
  }

  /** Some agents tell of a call only when they ask whether they may. */
  asked(toolCall: JsonFields): readonly AgentEvent[] {
    return [...this.flush(), ...this.#tool(toolCall, true)];
  }

  /** All that was told about a call, whenever that was. */
  toldOf(toolCall: JsonFields): JsonFields {
    return { ...this.#tools.get(asString(toolCall.toolCallId) ?? "")?.told, ...present(toolCall) };
  }

  /** Text after the last line break. */
  flush(): readonly AgentEvent[] {
    const text = this.#text;
    this.#text = "";
    return text === "" ? [] : [{ type: "text", text }];
  }

  /** The next request to the model begins. */
  turnStarted(): void {
    this.#answerDue = true;
    this.#sentence = "";
  }

  /** All that was said since the prompt, where nothing else was told: "" when it was nothing at all. */
  sentence(): string | undefined {
    return this.#sentence;
  }

  #answer(): AgentEvent[] {
    if (!this.#answerDue) return [];
    this.#answerDue = false;
    return [{ type: "turn" }];
  }

  /** Texts come in small pieces; whole lines are handed on. */
  #chunk(text: string): AgentEvent[] {
    const said = this.#sentence === undefined ? undefined : this.#sentence + text;
    this.#sentence = said === undefined || said.length > MAX_SENTENCE ? undefined : said;
    const lines = (this.#text + text).split("\n");
    this.#text = lines.pop() ?? "";
    const whole: AgentEvent[] = lines.length === 0 ? [] : [{ type: "text", text: lines.join("\n") }];
    return this.#text.length < MAX_LINE ? whole : [...whole, ...this.flush()];
  }

  #tool(update: JsonFields, begins: boolean): AgentEvent[] {
    this.#sentence = undefined;
    const id = asString(update.toolCallId);
    if (id === undefined) return [];
    const before = this.#tools.get(id);
    const news = present(update);
    const told = { ...before?.told, ...news };
    const isOver = update.status === "completed" || update.status === "failed";
    // Before it runs, an agent may not have told all of its input.
    const calls = !(before?.called ?? false) && (begins || isOver || update.status === "in_progress");
    this.#keep(id, {
      told,
      called: calls || (before?.called ?? false),
      lengths: { id: id.length, ...before?.lengths, ...lengthsOf(news) },
    });
    if (!isOver && !calls) return [];
    const events = this.#answer();
    if (calls) events.push({ type: "tool_call", id, name: toolNameOf(told), input: toolInputOf(told) });
    if (!isOver) {
      this.#running.add(id);
      return events;
    }
    this.#forget(id);
    if (this.#running.size === 0) this.#answerDue = true;
    return [...events, { type: "tool_result", id, output: outputOf(told), failed: update.status === "failed" }];
  }

  /** Of a program that begins calls and ends none, the oldest are forgotten. */
  #keep(id: string, tool: Tool): void {
    this.#told += lengthOf(tool) - lengthOf(this.#tools.get(id));
    this.#tools.set(id, tool);
    for (const oldest of this.#tools.keys()) {
      if (this.#told <= MAX_TOLD || oldest === id) break;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    this.#told -= lengthOf(this.#tools.get(id));
    this.#tools.delete(id);
    this.#running.delete(id);
  }

  #cost(cost: JsonFields): AgentEvent[] {
    const total = cost.currency === "USD" ? asNumber(cost.amount) : undefined;
    if (total === undefined || total <= this.#costUsd) return [];
    const costUsd = total - this.#costUsd;
    this.#costUsd = total;
    return [{ type: "usage", model: this.#model(), input: 0, output: 0, costUsd }];
  }
}

const KNOWN = ["_meta", "content", "kind", "locations", "rawInput", "rawOutput", "title"];

/** Only what we understand is kept: a program can name as many fields as it likes. */
function present(update: JsonFields): JsonFields {
  const there = KNOWN.map((key) => [key, update[key]] as const);
  return Object.fromEntries(there.filter(([, value]) => value !== undefined && value !== null));
}

/** The protocol has no names of tools; the kind is the nearest thing that does not differ from call to call. */
export function toolNameOf(told: JsonFields): string {
  const own = asString(asFields(asFields(told._meta).claudeCode).toolName);
  const kind = asString(told.kind);
  return own ?? (kind === undefined || kind === "other" ? (asString(told.title) ?? "tool") : kind);
}

export function toolInputOf({ rawInput, title, locations }: JsonFields): unknown {
  if (Object.keys(asFields(rawInput)).length > 0) return rawInput;
  const paths = asFieldsList(locations).flatMap(({ path }) => asString(path) ?? []);
  return { ...(title === undefined ? {} : { title }), ...(paths.length === 0 ? {} : { paths }) };
}

function outputOf({ content, rawOutput }: JsonFields): string {
  const texts = asFieldsList(content).flatMap((part) => {
    if (part.type === "diff") return `changed ${asString(part.path) ?? ""}`;
    return asString(asFields(part.content).text) ?? [];
  });
  if (texts.length > 0) return texts.join("\n");
  const raw = asString(rawOutput) ?? asString(asFields(rawOutput).output);
  return raw ?? (rawOutput === undefined ? "" : JSON.stringify(rawOutput));
}
