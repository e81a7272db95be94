import { sha256 } from "../kernel/ids.ts";
import { findSection, parsePlan } from "./markdown/markdown.ts";

/**
 * What an approval binds to: the plan without its Progress Log, without ticks, and without what an editor changes by
 * itself (line breaks, byte order mark, blank lines at the end), together with the plan's own config.
 */
export function planDigest(text: string, own?: unknown): string {
  return digestWithout(["Progress Log"], text, own);
}

/** The same without all logs that agents append to while they work. */
export function scopeDigest(text: string, own?: unknown): string {
  return digestWithout(["Progress Log", "Decision Log", "Implementation Notes"], text, own);
}

/** What the approval of a change binds to: its commit, and one of the digests of its plan. Hashes have no line breaks, so no two pairs read the same. */
export function changeDigest(head: string, plan: string): string {
  return sha256(`change\n${head}\n${plan}`);
}

function digestWithout(sections: readonly string[], text: string, own: unknown): string {
  const doc = parsePlan(text);
  const pieces: string[] = [];
  let from = 0;
  for (const { markerOffset } of doc.todos) {
    pieces.push(text.slice(from, markerOffset), " ");
    from = markerOffset + 1;
  }
  const plain = pieces.join("") + text.slice(from);
  const logs = sections.flatMap((name) => findSection(doc, name) ?? []).sort((a, b) => a.start - b.start);
  const starts = [0, ...logs.map(({ end }) => end)];
  const body = starts
    .map((start, at) => normalised(plain.slice(start, logs[at]?.start)))
    .filter((part) => part !== "")
    .join("\n\n");
  const config = isEmpty(own) ? "" : canonicalJson(own);
  return sha256(`${body.length}\n${body}\n${config}`);
}

function normalised(part: string): string {
  return part
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .replace(/^\n+/, "")
    .trimEnd();
}

function isEmpty(own: unknown): boolean {
  return own === undefined || own === null || (typeof own === "object" && Object.keys(own).length === 0);
}

/** JSON with sorted keys: the same value always gives the same text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
  });
}
