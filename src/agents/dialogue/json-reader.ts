import type { JsonFields } from "../../kernel/json-fields.ts";
import type { AgentEvent } from "../port.ts";
import { type Heard, NOTHING_HEARD } from "./dialogue.ts";
import { formatWatch } from "./format-watch.ts";
import { jsonLines } from "./json-lines.ts";

/** How the output of one kind of program that prints JSON objects is read. */
export interface JsonStyle {
  /** As the user started it, for messages. */
  readonly program: string;
  /** Some lines that every run has. */
  readonly expected: string;
  /** What an object means; undefined when it is not known. */
  object(value: JsonFields): Heard | undefined;
  /** What a line that is not an object means; undefined, or absent, when it is not known. It is text then. */
  text?(line: string): Heard | undefined;
}

/** The part that the dialogues have in common: what they are told line by line, and whether any of it was understood. */
export interface JsonReader {
  read(line: string): Heard;
  close(): readonly AgentEvent[];
}

export function jsonReader(style: JsonStyle): JsonReader {
  const lines = jsonLines();
  const format = formatWatch(style);
  const watched = (heard: Heard | undefined, line: string): Heard | undefined => {
    if (heard) format.known();
    else format.strange(line);
    return heard;
  };
  return {
    read: (text) => {
      const line = lines(text);
      if (line.kind === "part") return NOTHING_HEARD;
      if (line.kind === "object") return watched(style.object(line.value), JSON.stringify(line.value)) ?? NOTHING_HEARD;
      return watched(style.text?.(line.text), line.text) ?? { events: [{ type: "text", text: line.text }] };
    },
    close: () => format.close(),
  };
}
