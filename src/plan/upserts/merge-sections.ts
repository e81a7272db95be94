import { PrloomError } from "../../kernel/errors.ts";
import { LOG_HEADINGS, requireReadable } from "../edit-plan.ts";
import { linesOf } from "../markdown/blocks.ts";
import { hasTodoSection, headingKey, isTodoSection, type ParsedPlan, type Section } from "../markdown/markdown.ts";
import { applyEdits, type Edit } from "../markdown/text-edits.ts";
import { carryOver } from "./merge-todos.ts";

/** Reads text that is to be merged; throws `plan-invalid` when it is larger than a plan may be. */
export function readForMerge(text: string): ParsedPlan {
  return { text, doc: requireReadable(text) };
}

/** A section, or what is outside of all sections: before the first one, and below a top heading. */
interface SectionPart {
  /** Its name with a number: the n-th of a name belongs to the n-th of the same name. */
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly source: string;
  readonly kind: "todo" | "log" | "other";
}

/**
 * The incoming text with what was changed on our side since `base`, the text that it was made from: sections that the
 * source left alone are as ours are, and sections that only we have are added. TODOs and logs are the merge's own.
 */
export function withOurSections(current: ParsedPlan, incoming: ParsedPlan, base: ParsedPlan): ParsedPlan {
  const theirs = partsOf(incoming);
  const edits = [...additions(current, incoming, base), ...replacements(current, theirs, base)];
  if (edits.length === 0) return incoming;
  const result = readForMerge(applyEdits(incoming.text, edits));
  if (sameParts(expectedParts(current, theirs, base), partsOf(result))) return result;
  throw unmergeable();
}

/** The refusal of texts that cannot be put together. */
export function unmergeable(): PrloomError {
  return new PrloomError(
    "plan-invalid",
    "The new text cannot be merged into this plan: something in one of them, such as a code fence that is never closed, swallows what follows.",
    "Repair the text where it comes from, or merge by hand with `prloom edit <plan>`.",
  );
}

/** What a section says, its heading included. */
export function sectionText(plan: ParsedPlan, section: Pick<Section, "start" | "end">): string {
  return plan.text.slice(section.start, section.end).trimEnd();
}

const LOG_KEYS: ReadonlySet<string> = new Set(LOG_HEADINGS.map(headingKey));

export function isLog(section: Section): boolean {
  return LOG_KEYS.has(section.key);
}

function partsOf(plan: ParsedPlan): SectionPart[] {
  const counts = new Map<string, number>();
  const { sections } = plan.doc;
  const part = (name: string, place: { start: number; end: number }, kind: SectionPart["kind"]): SectionPart => {
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return { key: `${count} ${name}`, start: place.start, end: place.end, source: sectionText(plan, place), kind };
  };
  const first = part("#", { start: 0, end: sections[0]?.start ?? plan.text.length }, "other");
  const rest = sections.flatMap((section, at) => {
    const kind = isTodoSection(section) ? "todo" : isLog(section) ? "log" : "other";
    const own = part(`## ${section.key}`, section, kind);
    const outside = { start: section.end, end: sections[at + 1]?.start ?? plan.text.length };
    return outside.end > outside.start ? [own, part("#", outside, "other")] : [own];
  });
  return [first, ...rest];
}

/** Sections of ours that neither the source has nor had, each after the one that it follows here. */
function additions(current: ParsedPlan, incoming: ParsedPlan, base: ParsedPlan): Edit[] {
  const theirs = byKey(partsOf(incoming));
  const before = byKey(partsOf(base));
  const heading = todoHeading(current, incoming, base);
  const edits: Edit[] = [];
  let behind = 0;
  for (const part of partsOf(current)) {
    const same = theirs.get(part.key);
    // Logs move when they are merged, so nothing can be put behind them.
    if (same && part.kind !== "log") behind = same.end;
    const isOurs = part.kind === "other" && !same && !before.has(part.key) && part.source !== "";
    const source = isOurs ? part.source : part.start === heading?.start ? sectionText(current, heading) : undefined;
    if (source === undefined) continue;
    edits.push({ at: behind, to: behind, lines: linesOf(source), gaps: { before: true, after: true } });
  }
  return edits;
}

/** The heading for TODOs that stay though the source dropped its whole TODO section. */
function todoHeading(
  current: ParsedPlan,
  incoming: ParsedPlan,
  base: ParsedPlan,
): { start: number; end: number } | undefined {
  if (hasTodoSection(incoming.doc) || !hasTodoSection(base.doc)) return undefined;
  const section = current.doc.sections.findLast(isTodoSection);
  if (!section || carryOver(current, incoming, base).kept.length === 0) return undefined;
  return { start: section.start, end: section.bodyStart };
}

function replacements(current: ParsedPlan, theirs: readonly SectionPart[], base: ParsedPlan): Edit[] {
  const ours = byKey(partsOf(current));
  const before = byKey(partsOf(base));
  return theirs.flatMap((part): Edit[] => {
    if (!isLeftAlone(part, before)) return [];
    const text = ours.get(part.key)?.source ?? "";
    if (text === part.source) return [];
    if (text === "") return [{ at: part.start, to: part.end, text }];
    const gap = part.source === "" ? "\n\n" : "";
    return [{ at: part.start, to: part.start + part.source.length, text: text + gap }];
  });
}

function isLeftAlone(part: SectionPart, before: ReadonlyMap<string, SectionPart>): boolean {
  return part.kind === "other" && before.get(part.key)?.source === part.source;
}

function expectedParts(
  current: ParsedPlan,
  theirs: readonly SectionPart[],
  base: ParsedPlan,
): Pick<SectionPart, "key" | "source">[] {
  const known = byKey(theirs);
  const ours = byKey(partsOf(current));
  const before = byKey(partsOf(base));
  const added = partsOf(current).filter(({ key, kind }) => kind === "other" && !known.has(key) && !before.has(key));
  const stay = theirs
    .filter(({ kind }) => kind === "other")
    .map((part) => (isLeftAlone(part, before) ? { key: part.key, source: ours.get(part.key)?.source ?? "" } : part));
  return [...stay, ...added];
}

function sameParts(expected: readonly Pick<SectionPart, "key" | "source">[], found: readonly SectionPart[]): boolean {
  const words = (parts: readonly Pick<SectionPart, "key" | "source">[]): string =>
    JSON.stringify(
      parts.flatMap(({ key, source }) => (source.trim() === "" ? [] : [`${key} ${source.trim()}`])).sort(),
    );
  return words(expected) === words(found.filter(({ kind }) => kind === "other"));
}

function byKey(parts: readonly SectionPart[]): Map<string, SectionPart> {
  return new Map(parts.map((part) => [part.key, part]));
}
