import { asFields, asString } from "../../kernel/json-fields.ts";
import type { Governor } from "../governor.ts";
import type { Message, MessagePart, ToolOutput } from "./types.ts";

/** Adds to the last message of the person what the session is to know; it is not kept, so it never doubles. */
export function addTurn(messages: readonly Message[], governor: Governor): void {
  const last = messages.findLast(({ info }) => info.role === "user");
  const part = last?.parts.findLast(({ type, text }) => type === "text" && text !== undefined);
  if (!last || !part) return;
  part.text = `${part.text}\n\n${governor.turn(last.info.sessionID, part.text)}`;
}

/** Adds to what a tool brought. What is beside the list of an MCP server's tool reaches no model. */
export function addNote(output: ToolOutput, note: string): void {
  if (Array.isArray(output.content)) output.content.push({ type: "text", text: note });
  else output.output = `${output.output ?? ""}\n\n${note}`;
}

/** Cuts what tools printed long ago. */
export function pruneOutputs(messages: readonly Message[], governor: Governor): void {
  const outputs = messages.flatMap(({ parts }) => parts.filter(hasOutput));
  const cut = governor.cutOutputs(
    outputs.map(({ callID, state }) => ({ call: callID ?? "", text: state?.output ?? "" })),
  );
  for (const [at, text] of cut) {
    const state = outputs[at]?.state;
    if (state) state.output = text;
  }
}

const hasOutput = ({ type, state }: MessagePart): boolean => type === "tool" && typeof state?.output === "string";

/** How a summary that was begun is over: it is there, or the session does something else. */
const OVER = new Set(["session.compacted", "session.idle", "session.error", "session.deleted"]);

/** Sessions of which a summary is being made: it is made of all that was said, and has where they stand from us already. */
export class Summarised {
  readonly #sessions = new Set<string>();

  begin(session: string): void {
    this.#sessions.add(session);
  }

  heard({ type, properties }: { readonly type: string; readonly properties?: unknown }): void {
    const { sessionID, info } = asFields(properties);
    if (OVER.has(type)) this.#sessions.delete(asString(sessionID) ?? asString(asFields(info).id) ?? "");
  }

  has(messages: readonly Message[]): boolean {
    return this.#sessions.has(messages.at(-1)?.info.sessionID ?? "");
  }
}
