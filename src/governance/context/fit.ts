/** A part of a text, and how early it is given up for want of room: the highest first, 0 never. */
export interface Part {
  readonly lines: readonly string[];
  readonly yields: number;
}

const joined = (parts: readonly Part[]): string => parts.flatMap(({ lines }) => lines).join("\n");

/** The parts in their order within a budget of characters. Of those that yield first, the last is given up first. */
export function fit(parts: readonly Part[], budget: number): string {
  const kept = parts.filter(({ lines }) => lines.length > 0);
  // Counted, not joined again: there may be a thousand parts.
  for (let length = joined(kept).length; length > budget; ) {
    const most = Math.max(0, ...kept.map(({ yields }) => yields));
    if (most === 0) break;
    const given = kept.splice(
      kept.findLastIndex(({ yields }) => yields === most),
      1,
    );
    length -= joined(given).length + 1;
  }
  const text = joined(kept);
  // Providers refuse half of a character, and not every program takes it out.
  return (text.length > budget ? `${text.slice(0, budget - 1)}…` : text).toWellFormed();
}

/** What no person sees, and a model reads all the same. Joiners, which some scripts need, stay. */
const HIDDEN =
  /\u034f|[\u00ad\u180e\u200b\u2060-\u2064\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e01ef}]/gu;

/** Words of agents and people stay on their line, short, and inside of what they are a part of. */
export function short(text: string, most = 160): string {
  const seen = text.replace(HIDDEN, "").replace(/prloom-governance/gi, "prloom governance");
  const line = seen.replace(/\s+/g, " ").trim();
  return (line.length > most ? `${line.slice(0, most - 1)}…` : line).toWellFormed();
}
