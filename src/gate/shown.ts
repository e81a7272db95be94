import { createTwoFilesPatch } from "diff";
import { UNSEEN } from "./unseen-characters.ts";

/** The same text with everything in it to be seen. */
export function revealed(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(LIKE_WRITTEN_OUT, writtenOut)
    .replace(UNSEEN, (char) => (char === "\n" ? char : writtenOut(char)))
    .replace(BLANKS, (row, at: number, all: string) => {
      const isAtEnd = /^(?:\n|$)/.test(all.charAt(at + row.length));
      return isAtEnd || widthOf(row) < MAX_BLANK ? row : [...row].map(writtenOut).join("");
    });
}

const writtenOut = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;

/** The backslash of words that look like a character written out: else both would be shown alike. */
const LIKE_WRITTEN_OUT = /\\(?=u\{[0-9a-f]{1,6}\})/g;

/** Code blocks do not wrap: words behind so much of nothing are out of sight, and nothing says that they are there. */
const MAX_BLANK = 80;
const BLANKS = /[ \t]{10,}/g;
const TAB = 8;
const widthOf = (row: string): number => row.length + (TAB - 1) * (row.split("\t").length - 1);

/** Longer rows of backticks than people write, and short enough for a fence around them to fit into every post. */
const LONG_ROW = /`{20,}/g;

/** As source, and not rendered: comments, addresses of links and the like show as they are. */
export function fenced(source: string, language: string): string {
  const text = source.replace(LONG_ROW, (row) => "\\u{60}".repeat(row.length));
  let longest = 2;
  for (const [ticks] of text.matchAll(/`+/g)) longest = Math.max(longest, ticks.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/(?<!\n)\n+$/, "")}\n${fence}`;
}

/** What every post of a gate is made from. */
export interface ShownGate {
  readonly planId: string;
  readonly gateId: string;
  readonly digest: string;
  readonly text: string;
  /** The first that is shown of this plan. */
  readonly isFirst: boolean;
  /** Nothing keeps its agent from writing. */
  readonly isAdvisory: boolean;
  /** Why it is shown again though it has not changed. */
  readonly again?: string | undefined;
  /** Signed answers count as well. */
  readonly isSignable?: boolean | undefined;
  /** The login that it is posted with, if people may have it as well: what stands under it decides nothing. */
  readonly ownLogin?: string | undefined;
  /** The file that says whose signatures count, if it is to be changed. */
  readonly signers?: string | undefined;
}

/** For people who decide about it: who may decide would be another question from then on. */
export function signersNote({ signers }: Pick<ShownGate, "signers">): string[] {
  return signers === undefined
    ? []
    : [`**It changes \`${signers}\`, the file that says whose signatures count at gates (gates.signers).**`];
}

export interface Showing extends ShownGate {
  /** What the plan asks for besides its text, as its agent: approved with it. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  /** What it is compared with, and how that is called. */
  readonly since?: { readonly text: string; readonly what: string } | undefined;
}

const ADVISORY = "It is advisory: the agent is asked to wait, and nothing keeps it from writing.";

/** What is posted for a gate: the whole plan, what changed, and how to answer. */
export function gatePost(showing: Showing): string {
  const { gateId, digest, text, isAdvisory, settings = {}, since, again } = showing;
  const changed = since && revealed(since.text) !== revealed(text) ? since : undefined;
  return [
    `**The plan waits for your answer** (gate ${gateId}, ${digest.slice(0, 12)}). ${isAdvisory ? ADVISORY : "Nothing is implemented before."}`,
    ...shownAgain(again),
    ...signersNote(showing),
    fenced(revealed(text), "markdown"),
    ...(Object.keys(settings).length === 0
      ? []
      : ["Its own settings:", fenced(revealed(JSON.stringify(settings, null, 2)), "json")]),
    ...(changed ? [`What changed since ${changed.what}:`, fenced(difference(changed.text, text), "diff")] : []),
    howToAnswer(showing),
  ].join("\n\n");
}

export function shownAgain(why: string | undefined): string[] {
  return why === undefined ? [] : [`It is shown again: ${why}.`];
}

/** The words that count at this gate. */
export function howToAnswer({ planId, gateId, digest, isFirst, isSignable, ownLogin }: ShownGate): string {
  const word = isFirst ? "approved" : `/approve ${gateId}`;
  const sign = `Signed, from any login:\n\n    prloom approve ${planId} --sign --gate ${gateId} --digest ${digest}`;
  const own = `A comment by ${ownLogin} does not count${isSignable ? " without a signature" : ""}: prloom posts with that login.`;
  return [
    `Answer with a comment whose first line is \`${word}\`, \`/reject <why>\` or \`/revise <what>\`, or at a command line:`,
    commandsFor(planId),
    ...(isSignable ? [sign] : []),
    ...(ownLogin === undefined ? [] : [own]),
  ].join("\n\n");
}

const CONTEXT_LINES = 3;

/** Lines that went or came; looking for more takes longer than the square of this, and holds everything. */
const MAX_EDITS = 1000;

/** Line by line, without the names of files. */
export function difference(before: string, after: string): string {
  const [was, is] = [revealed(before), revealed(after)];
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_EDITS };
  const patch = createTwoFilesPatch("", "", was, is, "", "", options);
  if (patch === undefined) return replaced(was.split("\n"), is.split("\n"));
  return patch.split("\n").slice(4).join("\n").trimEnd();
}

/** Of texts that have little in common: all that stands between the lines with which both begin and end. */
function replaced(was: readonly string[], is: readonly string[]): string {
  const shorter = Math.min(was.length, is.length);
  let start = 0;
  while (start < shorter && was[start] === is[start]) start += 1;
  let end = 0;
  while (end < shorter - start && was.at(-1 - end) === is.at(-1 - end)) end += 1;
  const marked = (mark: string, lines: readonly string[]) =>
    lines.slice(start, lines.length - end).map((line) => `${mark}${line}`);
  const head = `@@ -${start + 1},${was.length - end - start} +${start + 1},${is.length - end - start} @@`;
  return [head, ...marked("-", was), ...marked("+", is)].join("\n");
}

/** The commands that answer, one per line. */
export function commandsFor(planId: string): string {
  return [
    `prloom approve ${planId}`,
    `prloom reject ${planId} --reason "why"`,
    `prloom revise ${planId} "what to change"`,
  ]
    .map((command) => `    ${command}`)
    .join("\n");
}
