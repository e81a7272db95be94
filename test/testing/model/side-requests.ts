import type { Conversation } from "./conversation.ts";

/** What programs ask their model beside the work: a title for the session, a summary, whether there is quota. */
const SIDE = [
  /title generator/i,
  /generate a (?:concise|short|brief)[^.\n]{0,80}title/i,
  /isNewTopic/,
  /you are a helpful ai assistant tasked with summarizing/i,
  /summari[sz]e (?:this|the) (?:coding )?(?:conversation|session)/i,
];

const QUOTA_CHECK = /^quota$/i;

/** Agent programs always offer tools for the work itself: what comes without is the program's own. */
const PROGRAM = /claude-cli|opencode|codex|gemini/i;

/** A program's own request, which must not take a step of the script; what to answer, or undefined. */
export function sideAnswer(conversation: Conversation, userAgent: string): string | undefined {
  const newest = conversation.said.findLast(({ role }) => role === "user")?.text ?? "";
  const isProgram = PROGRAM.test(userAgent);
  if (isProgram && QUOTA_CHECK.test(newest.trim())) return "Yes.";
  if (conversation.tools.length > 0) return undefined;
  if (!isProgram && !SIDE.some((pattern) => pattern.test(conversation.system))) return undefined;
  // Some want JSON, with a title or with something else: an object with a title does no harm to the others.
  return /json/i.test(conversation.system + newest) ? '{"title": "A scripted title"}' : "A scripted title";
}
