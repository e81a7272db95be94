import { LOG_HEADINGS } from "./edit-plan.ts";
import { findSection, parsePlan } from "./markdown/markdown.ts";

const ADDED = "Added since the plan was approved. It tells what was done, and asks for nothing:";

/** The plan with what its logs got since it was shown quoted: no person has read that, so it must not look like the plan. */
export function quoteAdded(text: string, shown: string): string {
  const [now, then] = [parsePlan(text), parsePlan(shown)];
  const logs = LOG_HEADINGS.flatMap((name) => {
    const section = findSection(now, name);
    const before = findSection(then, name);
    return section ? [{ ...section, before: before ? shown.slice(before.bodyStart, before.end).trimEnd() : "" }] : [];
  });
  return logs
    .sort((a, b) => b.start - a.start)
    .reduce((result, { bodyStart, end, before }) => {
      const body = text.slice(bodyStart, end);
      const kept = body.startsWith(before) ? before : "";
      const added = body.slice(kept.length).trim();
      if (added === "") return result;
      const quoted = added.replace(/^/gm, "> ").replace(/(?<! ) +$/gm, "");
      return `${result.slice(0, bodyStart)}${kept}\n\n${ADDED}\n\n${quoted}\n\n${result.slice(end)}`;
    }, text);
}
