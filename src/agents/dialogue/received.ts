import type { AgentMessage } from "../port.ts";
import type { Dialogue } from "./dialogue.ts";

/** What a run printed, and what was sent to it. */
export interface SentInto {
  readonly output: string;
  readonly sent: readonly AgentMessage[];
  /** What the program calls a message in the lines that are about it. */
  nameOf(messageId: string): string;
}

/**
 * Which of the messages that were sent to a run became a part of its conversation, as far as what it printed tells. For a
 * run that the dispatcher did not follow to its end: what its output says of them is read once more, by a dialogue that is told of
 * the same messages. No other line, as a program can print millions, and everything waits meanwhile.
 */
export function receivedIn(dialogue: Dialogue, { output, sent, nameOf }: SentInto): string[] {
  for (const message of sent) dialogue.send?.(message);
  return sent
    .flatMap(({ id }) => linesWith(output, nameOf(id)))
    .flatMap((line) => dialogue.read(line).events)
    .flatMap((event) => (event.type === "received" ? [event.messageId] : []));
}

function linesWith(output: string, name: string): string[] {
  const lines: string[] = [];
  for (let at = output.indexOf(name); at >= 0; ) {
    const end = output.indexOf("\n", at);
    lines.push(output.slice(output.lastIndexOf("\n", at) + 1, end < 0 ? undefined : end));
    at = end < 0 ? -1 : output.indexOf(name, end);
  }
  return lines;
}
