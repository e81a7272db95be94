import { createHash } from "node:crypto";
import type { Answer, Conversation } from "./conversation.ts";
import type { Answering, ToolUse, Usage } from "./script.ts";
import { mapTool } from "./tools.ts";

/** More would make programs replace the conversation by a summary of it, which only a script that says so shall do. */
const MAX_INPUT = 20_000;
const PIECE = 40;

/** A step of a script as an answer to one conversation. */
export function answerTo(step: Answering, conversation: Conversation, id: string): Answer {
  const uses: readonly ToolUse[] = "do" in step ? step.do : isToolUse(step) ? [step] : [];
  const bytes = JSON.stringify(conversation.said).length;
  const usage: Usage = step.usage ?? { input: Math.min(Math.ceil(bytes / 4), MAX_INPUT), output: 20 };
  return {
    id,
    model: conversation.model,
    pieces: step.flood === undefined ? inPieces(step.say ?? "") : flood(step.flood),
    calls: uses.map((use, index) => ({ ...mapTool(use, conversation), id: `${id}${index}` })),
    usage,
  };
}

function isToolUse(step: Answering): step is Answering & ToolUse {
  return "write" in step || "edit" in step || "shell" in step || "read" in step || "tool" in step;
}

function inPieces(text: string): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${PIECE}}`, "gu")) ?? [];
}

/**
 * No line twice, and each an item of a list: programs that look for loops would end a model that repeats itself, and
 * Gemini needs minutes to look for one in a megabyte of anything but a list.
 */
function* flood(bytes: number): Iterable<string> {
  for (let sent = 0, line = 0; sent < bytes; line += 1) {
    const piece = `* ${createHash("sha256").update(String(line)).digest("base64")}\n`;
    sent += piece.length;
    yield piece;
  }
}
