import { appendToSection, LOG_HEADINGS, type LogHeading, sectionBody } from "../edit-plan.ts";
import { escaped, quoted } from "../markdown/encoding.ts";
import { findSection, type ParsedPlan, type PlanDoc, parsePlan, type Todo } from "../markdown/markdown.ts";
import { sizeProblem } from "../markdown/size-limits.ts";
import { applyEdits, type Replacement } from "../markdown/text-edits.ts";
import { visibleText } from "../markdown/visible.ts";
import { describeChange } from "./describe-change.ts";
import { reasonInLines, reasonInText, withoutTrailingComments } from "./todo.ts";

/** Lines that a run added at the end of one of the logs. */
export interface AppendedLines {
  readonly heading: LogHeading;
  readonly lines: readonly string[];
}

/** What a run says by what it left in its copy of the plan. Nothing of it is true before the dispatcher says so. */
export interface Claims {
  readonly tick: "done" | "blocked" | "none";
  /** Why it is blocked, or done as it is, if the run said so. */
  readonly reason?: string;
  readonly appended: readonly AppendedLines[];
  /** Why the TODO is done though nothing changed. */
  readonly nothingToChange?: string;
  /** Why nothing that the run wrote into its copy counts. */
  readonly unread?: string;
  /** Everything else that changed, told and shown; it is recorded, not applied. */
  readonly proposal?: string;
}

export interface CopyOfPlan {
  /** The text that the run was given. */
  readonly given: string;
  /** What lies there after it; undefined when it is gone. */
  readonly left: string | undefined;
  readonly todoId: string;
}

/** A copy that grew by more than this is not read. */
const MAX_GROWTH = 128 * 1024;
const MAX_APPENDED_BYTES = 64 * 1024;
const MAX_REASON = 2000;

/** Reads what a run claims from the difference between its copy as given and as left. */
export function readClaims({ given, left, todoId }: CopyOfPlan): Claims {
  if (left === undefined) return { tick: "none", appended: [], proposal: "The run deleted its copy of the plan." };
  if (left.length > given.length + MAX_GROWTH) {
    return notRead(`The run's copy of the plan grew to ${left.length} characters; it was not read.`);
  }
  const before = readCopy(given);
  const after = readCopy(left);
  if (after.doc.tooLarge !== undefined && before.doc.tooLarge === undefined) {
    return notRead(`The run's copy of the plan was not read. ${after.doc.tooLarge}`);
  }
  const todo = before.doc.todos[indexOf(todoId, given, before)];
  const found = todo && findAgain(before.doc, after.doc, todo);
  const tick = todo && found ? readTick({ before, after, todo, found }) : { tick: "none" as const, edits: [] };
  const appends = LOG_HEADINGS.map((heading) => readAppend(before, after, heading)).filter(
    (append) => append !== undefined,
  );
  const rest = applyEdits(after.text, [...tick.edits, ...appends.map(({ edit }) => edit)]);
  const proposal = describeChange(before, readCopy(rest));
  return {
    tick: tick.tick,
    ...(tick.reason !== undefined && { reason: tick.reason }),
    appended: capped(appends.map(({ heading, lines }) => ({ heading, lines }))),
    ...(proposal !== undefined && { proposal }),
  };
}

function notRead(why: string): Claims {
  return { tick: "none", appended: [], unread: why, proposal: why };
}

/**
 * Adds the claimed log lines to the plan's text, which may have changed since. They cannot become sections or TODOs, and
 * what is already at the end of a log is not added again, so a repeated step changes nothing.
 */
export function applyClaims(text: string, claims: Pick<Claims, "appended">): string {
  let result = text;
  for (const { heading, lines } of claims.appended) {
    const body = (sectionBody(result, heading) ?? "").replace(/\r\n?/g, "\n");
    const said = hasRoom(result, lines) ? lines : [FULL];
    const there = [escaped, quoted].some((encode) => endsWithLines(body, encode(said)));
    if (!there) result = appendToSection(result, heading, said, [escaped, quoted]);
  }
  return result;
}

/** Work must not fail because the logs of a long plan are full: the run's copy, which has the words, is kept with the run. */
const FULL = "(The plan is as long as a plan may be. What later runs add to its logs is kept with the runs only.)";
const SPARE = "\n".repeat(500);

function hasRoom(text: string, lines: readonly string[]): boolean {
  return sizeProblem(`${text}${SPARE}${quoted(lines).join("\n")}`) === undefined;
}

function endsWithLines(body: string, lines: readonly string[]): boolean {
  const end = lines.join("\n").replace(/^\n+/, "").trimEnd();
  return end !== "" && `\n${body}`.endsWith(`\n${end}`);
}

/** Line breaks and the byte order mark are the editor's, not the agent's word. */
function plain(source: string): string {
  return source.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
}

/** Nothing of it drives a terminal. */
function readCopy(source: string): ParsedPlan {
  const text = visibleText(plain(source));
  return { text, doc: parsePlan(text) };
}

/** Ids come from the words as the person wrote them, and what a person pasted may hold what is written out here. */
function indexOf(todoId: string, given: string, { text, doc }: ParsedPlan): number {
  const { todos } = text === plain(given) ? doc : parsePlan(plain(given));
  return todos.length === doc.todos.length ? todos.findIndex(({ id }) => id === todoId) : -1;
}

/** The same TODO in the other text: by id, else by position when the number of items is unchanged. */
function findAgain(before: PlanDoc, after: PlanDoc, todo: Todo): Todo | undefined {
  const hash = hashOf(todo);
  const equals = (doc: PlanDoc) => doc.todos.filter((other) => hashOf(other) === hash).length;
  const byId = after.todos.find(({ id }) => id === todo.id);
  if (byId && equals(before) === equals(after)) return byId;
  if (before.todos.length !== after.todos.length) return undefined;
  const there = after.todos[todo.index];
  const isAnother = before.todos.some(({ id }) => id === there?.id && id !== todo.id);
  return isAnother ? undefined : there;
}

function hashOf(todo: Todo): string {
  return todo.id.split("-")[0] ?? todo.id;
}

interface Pair {
  readonly before: ParsedPlan;
  readonly after: ParsedPlan;
  readonly todo: Todo;
  readonly found: Todo;
}

function readTick(pair: Pair): { tick: Claims["tick"]; reason?: string; edits: Replacement[] } {
  const { before, todo, found } = pair;
  if (found.state === todo.state || found.state === "open") return { tick: "none", edits: [] };
  const mark = before.text[todo.markerOffset] ?? " ";
  const unticked: Replacement = { at: found.markerOffset, to: found.markerOffset + 1, text: mark };
  if (found.state === "done") return { tick: "done", edits: [unticked] };
  const { reason, edit } = readReason(pair);
  const edits = edit && edit.at <= unticked.at && unticked.to <= edit.to ? [edit] : [unticked, ...(edit ? [edit] : [])];
  const short = reason?.replace(/\s+/g, " ").trim().slice(0, MAX_REASON);
  return { tick: "blocked", ...(short && { reason: short }), edits };
}

/** Why the run blocked the TODO, and the edit that takes the words of that reason out of what is left to compare. */
function readReason({ before, after, todo, found }: Pair): { reason?: string | undefined; edit?: Replacement } {
  const added = newLines(todo.context, found.context);
  const kept = newLines(found.context, todo.context).length === 0;
  const inText = todo.text === found.text ? undefined : reasonAddedTo(todo.text, found.text);
  const reason = reasonInLines(added) ?? inText?.reason ?? (joined(added) || undefined);
  const grown = kept && (todo.text === found.text || inText?.appended === true);
  if (reason !== undefined) {
    const item = { at: found.start, to: found.end, text: before.text.slice(todo.start, todo.end) };
    return grown ? { reason, edit: item } : { reason };
  }
  const beforeGap = gapAfter(before, todo);
  const afterGap = gapAfter(after, found);
  const below = newLines(beforeGap.text, afterGap.text);
  if (below.length === 0) return {};
  const stated = reasonInLines(below) ?? joined(below);
  return newLines(afterGap.text, beforeGap.text).length === 0
    ? { reason: stated, edit: { ...afterGap, text: beforeGap.text } }
    : { reason: stated };
}

function reasonAddedTo(given: string, left: string): { reason: string; appended: boolean } | undefined {
  const was = withoutTrailingComments(given);
  const is = withoutTrailingComments(left);
  const stated = reasonInText(is) ?? reasonInLines([is]);
  const rest = is.startsWith(was) ? is.slice(was.length).replace(/^[\s—–:,.-]+/, "") : undefined;
  const afterDash = is.includes(" — ") ? is.slice(is.lastIndexOf(" — ") + 3) : undefined;
  const reason = stated ?? (rest || afterDash?.trim());
  return reason ? { reason, appended: rest !== undefined } : undefined;
}

/** What is between a TODO and the next one, or the end of its section. */
function gapAfter({ text, doc }: ParsedPlan, todo: Todo): Replacement {
  const next = doc.todos[todo.index + 1]?.start ?? text.length;
  const section = doc.sections.find(({ start, end }) => start <= todo.start && todo.start < end)?.end ?? text.length;
  const end = Math.max(todo.end, Math.min(next, section));
  return { at: todo.end, to: end, text: text.slice(todo.end, end) };
}

function newLines(given: string, left: string): string[] {
  const known = new Set(given.split("\n").map((line) => line.trim()));
  return left.split("\n").filter((line) => line.trim() !== "" && !known.has(line.trim()));
}

function joined(lines: readonly string[]): string {
  return lines.map((line) => line.replace(/^\s*(?:[-*+>]\s+)?/, "").trim()).join(" ");
}

function readAppend(
  before: ParsedPlan,
  after: ParsedPlan,
  heading: LogHeading,
): (AppendedLines & { edit: Replacement }) | undefined {
  const was = findSection(before.doc, heading);
  const is = findSection(after.doc, heading);
  if (!is || (was && swallowsNext(before.doc, after.doc, before.doc.sections.indexOf(was)))) return undefined;
  const given = was ? before.text.slice(was.bodyStart, was.end).trimEnd() : "";
  const left = after.text.slice(is.bodyStart, is.end).trimEnd();
  const added = left.slice(given.length);
  if (!left.startsWith(given) || (given !== "" && !/^[^\S\n]*\n/.test(added))) return undefined;
  const lines = added.replace(/^(?:[^\S\n]*\n)+/, "").split("\n");
  if (lines.every((line) => line.trim() === "")) return undefined;
  const edit = was
    ? { at: is.bodyStart + given.length, to: is.bodyStart + left.length, text: "" }
    : { at: is.start, to: is.end, text: "" };
  return { heading, lines, edit };
}

/** An opened code fence makes the sections after it part of the log: that is damage, not an addition. */
function swallowsNext(before: PlanDoc, after: PlanDoc, at: number): boolean {
  const next = before.sections[at + 1];
  return next !== undefined && !after.sections.some(({ key }) => key === next.key);
}

function capped(appended: readonly AppendedLines[]): AppendedLines[] {
  let room = MAX_APPENDED_BYTES;
  return appended.map(({ heading, lines }) => {
    const kept: string[] = [];
    let cut = 0;
    for (const line of lines) {
      const bytes = Buffer.from(`${line}\n`);
      const fits = Math.min(bytes.length, room);
      if (fits === bytes.length) kept.push(line);
      else if (fits > 0)
        kept.push(
          bytes
            .subarray(0, fits)
            .toString("utf8")
            .replace(/\uFFFD{1,3}$/, ""),
        );
      room = fits === bytes.length ? room - fits : 0;
      cut += bytes.length - fits;
    }
    if (cut > 0) kept.push("", `(${cut} more bytes were cut: a run may add 64 KB to the plan's logs.)`);
    return { heading, lines: kept };
  });
}
