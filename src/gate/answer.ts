import { type Block, blocksOf, lineEnd, linesOf } from "../plan/markdown/blocks.ts";
import { isUnseenIn } from "./unseen-characters.ts";

/** What a comment can decide about a gate. */
const DECISIONS = ["approve", "reject", "revise", "withdraw", "hold", "unhold"] as const;
export type Decision = (typeof DECISIONS)[number];

export interface DecidingAnswer {
  readonly says: Decision;
  /** The gate that it names. */
  readonly gateId?: string;
  /** What is said besides: a reason, or what to change. */
  readonly words: string;
}

/** What the words of a comment say, by themselves. */
export type Answer =
  | DecidingAnswer
  | {
      readonly says: "none";
      /** A sentence for the person who wrote it. */
      readonly why: string;
      /** It was probably meant as an answer. */
      readonly isNear: boolean;
    };

const APPROVES = new Set(["approved", "approve", "lgtm", "proceed", "go ahead"]);
// Not with `u`: other letters would then count as these, in lower case.
const COMMAND = new RegExp(`^/(${DECISIONS.join("|")})[.!…]*(?:[ \\t]+(?![ \\t])(.*))?$`, "is");
const GATE_ID = /^[0-9A-HJKMNP-TV-Z]{26}$/i;

/** More than a comment has at any forge. */
const MAX_BODY = 65_536;

/** Decides only when the first line that is not quoted is an answer: a word of the grammar, or a command. */
export function readAnswer(body: string): Answer {
  if (body.length > MAX_BODY) return none("it is longer than any comment");
  const found = firstLine(body);
  if (found === undefined) return none("it has no line of its own: quotes, code and what is hidden do not count");
  const { line, rest } = found;
  const said = line.replace(/[ \t]+/g, " ").replace(/(?<![.!…。！])[.!…。！]+$/u, "");
  if (APPROVES.has(said.toLowerCase())) return { says: "approve", words: rest };
  const [, name, argument = ""] = COMMAND.exec(line) ?? [];
  if (name === undefined) {
    const why = isUnseenIn(line) ? "has characters that cannot be seen" : "is not an answer";
    return none(`its first line ${why}`, isNear(line));
  }
  return command(name.toLowerCase() as Decision, argument.trim(), rest);
}

function command(says: Decision, argument: string, rest: string): Answer {
  const [first = "", ...more] = argument === "" ? [] : argument.split(/[ \t]+/);
  const bare = first.replace(/(?<![.!])[.!]+$/, "");
  const id = GATE_ID.test(bare) ? bare.toUpperCase() : undefined;
  const words = [id === undefined ? argument : more.join(" "), rest].filter((part) => part !== "").join("\n");
  const gate = id === undefined ? {} : { gateId: id };
  const isBare = id === undefined ? argument === "" : more.length === 0;
  // An approval with a condition behind it would be an approval without it.
  if (says === "approve" && !isBare) return none(`behind "/approve" stands nothing but the id of the gate`, true);
  if (says === "revise" && words === "") return none(`"/revise" needs what is to change: /revise <what>`, true);
  return { says, ...gate, words };
}

const none = (why: string, isNear = false): Answer => ({ says: "none", why, isNear });

/** Short, and with a word of the grammar in it. */
function isNear(line: string): boolean {
  if (line.length > 80) return false;
  const seen = line.replace(/\p{Cf}/gu, "");
  // Small words are in every other sentence.
  if (/^(?:yes|ok(?:ay)?|no)[.!]*$/i.test(seen)) return true;
  return /\b(?:approv\w*|lgtm|proceed|go ahead|reject\w*|den(?:y|ied)|revise|withdraw|ship ?it|looks good)\b|👍|👎|✅|❌|🚀|\+1|:-1:/iu.test(
    seen,
  );
}

interface FirstLine {
  readonly line: string;
  /** What stands below it. */
  readonly rest: string;
}

/** The first line that is neither quoted nor hidden; undefined where something else comes first, as code or a list. */
function firstLine(body: string): FirstLine | undefined {
  const block = blocksOf(body).find((one) => one.type !== "blockquote" && !isHidden(body, one));
  if (block?.type !== "paragraph" && block?.type !== "heading") return undefined;
  if (isInComment(body.slice(0, block.start))) return undefined;
  const end = lineEnd(body, block.start);
  const rest = linesOf(body.slice(end)).join("\n").trim();
  return { line: body.slice(block.start, end).trimEnd(), rest };
}

/** Whether what follows is hidden: a comment in a quote, or one that Markdown takes for ended, may go on in the page. */
function isInComment(before: string): boolean {
  return before.lastIndexOf("<!--") > before.lastIndexOf("-->");
}

/** A block that shows nothing: comments alone, or the target of a link. */
function isHidden(body: string, { type, start, end }: Block): boolean {
  if (type === "definition") return true;
  return (
    type === "html" &&
    body
      .slice(start, end)
      .replace(/<!--.*?(?:-->|$)/gs, "")
      .trim() === ""
  );
}
