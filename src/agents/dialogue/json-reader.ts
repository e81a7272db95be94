import type { JsonFields } from "../../kernel/json-fields.ts";
import type { AgentEvent } from "../port.ts";
import { type Heard, NOTHING_HEARD } from "./dialogue.ts";
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

const MAX_EXCERPT = 200;

export function jsonReader(style: JsonStyle): JsonReader {
  const lines = jsonLines();
  /** A line was understood, or told a failure that needs no second explanation. */
  let isKnown = false;
  /** The first line that was not understood. */
  let strange: string | undefined;
  const watched = (heard: Heard | undefined, line: () => string): Heard | undefined => {
    if (heard) isKnown = true;
    else if (strange === undefined) strange = line().trim().slice(0, MAX_EXCERPT) || undefined;
    return heard;
  };
  return {
    read: (text) => {
      const line = lines(text);
      if (line.kind === "part") return NOTHING_HEARD;
      if (line.kind === "object")
        return watched(style.object(line.value), () => JSON.stringify(line.value)) ?? NOTHING_HEARD;
      return watched(style.text?.(line.text), () => line.text) ?? { events: [{ type: "text", text: line.text }] };
    },
    close: () => {
      // One that printed nothing that is known is another version, or another program. One that printed nothing at all has not
      // changed its format: how it ended says more.
      if (isKnown || strange === undefined) return [];
      const message = `${style.program} printed nothing that prloom knows. Expected were lines such as ${style.expected}; the first that came: ${strange}`;
      return [{ type: "error", kind: "format", message }];
    },
  };
}
