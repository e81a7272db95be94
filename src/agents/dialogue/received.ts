import type { AgentMessage } from "../port.ts";
import type { Dialogue } from "./dialogue.ts";

/**
 * Which of the messages that were sent to a run became a part of its conversation, as far as what it printed tells. For a
 * run that the dispatcher did not follow to its end: its output is read once more, by a dialogue that is told of the same messages.
 */
export function receivedIn(dialogue: Dialogue, lines: readonly string[], sent: readonly AgentMessage[]): string[] {
  for (const message of sent) dialogue.send?.(message);
  return lines
    .flatMap((line) => dialogue.read(line).events)
    .flatMap((event) => (event.type === "received" ? [event.messageId] : []));
}
