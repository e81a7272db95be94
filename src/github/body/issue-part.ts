import { isTodoSection, parsePlan } from "../../plan/markdown/markdown.ts";
import { safeBody } from "../outgoing.ts";
import { withoutMarkers } from "../pulls/body.ts";

const BEGIN =
  "<!-- prloom plan begins: what stands between these lines is written anew, and does not reach the plan -->";
const END = "<!-- prloom plan ends -->";
/** Between what people wrote and our part. */
const GAP = "\n\n";
const MAX_BODY = 65_536;
const CUT = "\n\n… (too long for GitHub: the rest is left out)";

interface Around {
  readonly before: string;
  readonly after: string;
}

/** What is around our part; `none`: the text has no such part; `damaged`: one of its markers is gone. */
function around(body: string): Around | "none" | "damaged" {
  const from = body.indexOf(BEGIN);
  // The first behind it: another one is people's own.
  const to = body.indexOf(END, Math.max(0, from));
  if (from === -1 && to === -1) return "none";
  if (from === -1 || to === -1) return "damaged";
  return { before: body.slice(0, from), after: body.slice(to + END.length) };
}

/** Pure: what people wrote: the text of an issue without our part, as it was before that came into it. */
export function peoplesPart(body: string): string {
  const place = around(body);
  if (typeof place === "string") return body;
  const { before, after } = place;
  // Saved from a browser, its lines end in another way.
  return `${before.replace(/\r?\n\r?\n$/, "")}${after}`;
}

/** Pure: the text of an issue in which our part says this, and nothing else is another; or why there is none. */
export function withPlanPart(body: string, part: string): { readonly body: string } | { readonly problem: string } {
  const found = around(body);
  if (found === "damaged")
    return { problem: "one of the lines that mark prloom's part is gone: delete the rest of it" };
  const { before, after } = found === "none" ? { before: body === "" ? "" : `${body}${GAP}`, after: "" } : found;
  const ours = withoutMarkers(part);
  const room = MAX_BODY - before.length - after.length - BEGIN.length - END.length - 2;
  if (ours.length > room && room < 2 * CUT.length) return { problem: "its text leaves no room for the plan" };
  const fitting = ours.length <= room ? ours : `${ours.slice(0, room - CUT.length).toWellFormed()}${CUT}`;
  return { body: `${before}${BEGIN}\n${fitting}\n${END}${after}` };
}

const LEFT_OUT: ReadonlySet<string> = new Set(["title", "progress log"]);
const words = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Pure: what our part of an issue says of its plan: the TODOs, and what the plan says beyond what people wrote there. */
export function planPart(planId: string, text: string, people: string): string {
  const said = words(people);
  const sections = parsePlan(text).sections.filter((section) => {
    if (isTodoSection(section)) return true;
    const { key, bodyStart, end } = section;
    return !LEFT_OUT.has(key) && !said.includes(words(text.slice(bodyStart, end)));
  });
  const notice = `**prloom**: the plan \`${planId}\`. What is changed here is replaced; change the text above, or comment.`;
  return safeBody([notice, ...sections.map(({ start, end }) => text.slice(start, end).trim())].join("\n\n"));
}
