import { createHash } from "node:crypto";
import { asString, type JsonFields } from "../../kernel/json-fields.ts";
import type { Permission } from "../port.ts";

/** A line that says something to Claude Code as its user. */
export function userLine(text: string, uuid?: string): string {
  // What begins with a slash would be a command of the program, and run without the model.
  const said = text.startsWith("/") ? ` ${text}` : text;
  const message = { role: "user", content: [{ type: "text", text: said }] };
  return JSON.stringify({ type: "user", message, parent_tool_use_id: null, ...(uuid === undefined ? {} : { uuid }) });
}

/**
 * The name under which Claude Code knows a message. It is made from ours, so that the same message is the same for the
 * program when it is sent once more: it takes none twice in a conversation.
 */
export function uuidOf(messageId: string): string {
  const hex = createHash("sha256").update(messageId).digest("hex");
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
}

/** Ends what the program is at; it stays for what comes next. */
export function interruptLine(requestId: string): string {
  return JSON.stringify({ type: "control_request", request_id: requestId, request: { subtype: "interrupt" } });
}

/** The answer to a request of the program that prloom does not know. */
export function unknownLine(request_id: string): string {
  const response = { subtype: "error", request_id, error: "prloom does not know this request." };
  return JSON.stringify({ type: "control_response", response });
}

/** The answer to the question whether a tool may be used, as it was asked for. */
export function permissionLine(request_id: string, request: JsonFields, permission: Permission): string {
  const response = permission.allow
    ? { behavior: "allow", updatedInput: request.input ?? {} }
    : { behavior: "deny", message: permission.reason };
  return successLine(request_id, response);
}

/** The answer to a request of the program. */
export function successLine(request_id: string, response: JsonFields): string {
  return JSON.stringify({ type: "control_response", response: { subtype: "success", request_id, response } });
}

/** What a permission that was asked for, or was refused, is about. */
export function questionOf(asked: JsonFields): string {
  const tool = asString(asked.tool_name) ?? "a tool";
  const why = asString(asked.decision_reason) ?? asString(asked.message) ?? asString(asked.description);
  return `May ${tool} be used?${why === undefined ? "" : ` ${why}`}`;
}
