import { scopeOf } from "../../bus/types.ts";
import type { PluginAction } from "../../hooks/contexts/event-types.ts";
import { withoutEscapes } from "../../kernel/text/terminal-escapes.ts";
import type { Priority } from "./settings.ts";

/** What a person is told. */
export interface Notice {
  /** The action's id: the same notice again has the same one. */
  readonly id: string;
  readonly priority: Priority;
  readonly title: string;
  readonly message: string;
  readonly planId?: string;
}

const MAX_TITLE_CHARACTERS = 200;
/** What fits a message of a chat; a desktop and a terminal get less. */
const MAX_MESSAGE_CHARACTERS = 3000;

/** The notice that an action asks for, or why it asks for none. */
export function noticeOf(action: PluginAction, planId: string | undefined): Notice | { readonly refused: string } {
  const { payload } = action;
  const about = { id: action.id, ...scopeOf(planId) };
  const fallback = planId === undefined ? "prloom" : `prloom: ${planId}`;
  if (payload.type === "comment") {
    return { ...about, priority: "info", title: fallback, message: shortened(payload.message, MAX_MESSAGE_CHARACTERS) };
  }
  if (payload.type !== "notification") return { refused: `the notify bridge cannot carry "${payload.type}"` };
  return {
    ...about,
    priority: payload.priority,
    title: shortened(payload.title.trim(), MAX_TITLE_CHARACTERS) || fallback,
    message: shortened(payload.message, MAX_MESSAGE_CHARACTERS),
  };
}

/** The text, or its beginning and an ellipsis when it has more than `longest` characters. */
export function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text.toWellFormed();
  // A character is at most two units, so the slice holds enough of them and the rest need not be looked at.
  const characters = [...text.slice(0, longest * 2 + 2)];
  if (characters.length <= longest) return text.toWellFormed();
  return `${characters
    .slice(0, longest - 1)
    .join("")
    .toWellFormed()}…`;
}

/** Characters that steer a terminal or reverse the reading order: a title must not be able to forge what is shown. */
const STEERING = /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** The text without anything that steers, and with its lines. */
export function plainLines(text: string): string {
  return withoutEscapes(text)
    .replaceAll("\r\n", "\n")
    .replaceAll("\t", " ")
    .replace(STEERING, (char) => (char === "\n" ? char : ""))
    .trim();
}

/** The same in one line. */
export function plainLine(text: string): string {
  return plainLines(text).replace(/\s+/g, (blank) => (blank.includes("\n") ? " " : blank));
}
