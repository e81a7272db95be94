/**
 * What strangers or agents wrote, before it goes out: GitHub, workflows and bots obey some of it. People still read the same.
 */

/** Titles end up in shell lines of workflows, in commits and in the subjects of mails. */
const IN_TITLES: readonly (readonly [RegExp, string])[] = [
  [/[\p{Cc}\s]+/gu, " "],
  [/(?<!\$)\$+(?=[({\w])/g, ""],
  [/[`'\u00b4]/g, "’"],
  [/"/g, "”"],
  [/;/g, ","],
  [/[|\\]/g, "/"],
  [/&/g, "+"],
  [/</g, "‹"],
  [/>/g, "›"],
  [/\{(?=\{)/g, "{ "],
  [/(?<=@)@+/g, ""],
  [/(?<![a-z\d])@(?=\w)/gi, ""],
  [/^[/!:\s-]+/, ""],
];

const MAX_TITLE = 200;

/** A title that no shell, workflow or bot takes for something else. */
export function safeTitle(title: string): string {
  let tame = "";
  // What one rule takes away may bring together what another one is for.
  for (let next = title.slice(0, 2 * MAX_TITLE); next !== tame; ) {
    tame = next;
    next = IN_TITLES.reduce((text, [what, by]) => text.replace(what, by), everywhere(tame));
  }
  const short = tame.trim();
  return short.length <= MAX_TITLE
    ? short
    : `${short
        .slice(0, MAX_TITLE - 1)
        .toWellFormed()
        .trimEnd()}…`;
}

/** A body that closes no issue, notifies no one, skips no check and gives no order. */
export function safeBody(body: string): string {
  const tame = everywhere(body.replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, "\n"))
    .split("\n")
    .map(safeLine)
    .join("\n");
  // Before they look for an order, many bots trim what a comment begins with; this they leave.
  return tame.replace(/^(?=\s*[/!]\w)/, "\u200b");
}

function safeLine(line: string): string {
  const called = line.replace(MENTION, "$1@\u200b").replace(BORS, "\u200b");
  // Bots read orders at the beginning of a line, also between fences.
  return /^[/!]\w/.test(called) ? ` ${called}` : called;
}

/**
 * A person or team, where GitHub would notify them: not in an address. A space without width parts the name from its sign; quoting it
 * as code would not: a backtick or a backslash before it undoes that.
 */
const MENTION = /(^|[^a-z\d])@(?=[a-z\d])/gi;

/** A bot that is not called by a sign. */
const BORS = /^(?=\s*bors\b)/i;

/** Letters, digits and signs that were written in another way: GitHub reads them before it looks for mentions and references. */
const WRITTEN_OUT =
  /&(?=(?:#0*(?:35|4[7-9]|5[0-7]|6[4-9]|[78]\d|90|9[7-9]|1[01]\d|12[0-2])|#x0*(?:23|2f|3\d|[46][\da-f]|[57][\da])|commat|num|sol);)/gi;

const SKIPS = /\[(no\s+ci|skip\s+[\w-]+|[\w-]+\s+skip)\]/gi;
const CLOSING = /(?<![a-z\d])(?:close|fixe?|resolve)[sd]?/gi;
/** Between a closing word and its reference: what GitHub does not show, or shows as a blank, is none to it. Pieces of that. */
const GAPS = [/<!--[\s\S]{0,2000}?-->/y, /[\s:*_~[(\\]|<(?:"[^"]*"|'[^']*'|[^<>"']){0,500}>|&(?!amp;)#?\w{1,20};/y];
const REFERENCE =
  /(?:(?:https?:\/\/[^\s/]{1,300}\/)?([\w.\\-]{1,300}\/[\w.\\-]{1,300}?)(?:\\?#|\/(?:issues|pull)\/)|#|GH\\?-)(\d+)/iy;

/** Piece by piece, and each place of the text once: as one expression, a row of comments took time exponential in their number. */
function withoutClosing(text: string): string {
  const inVain = new Set<number>();
  let result = "";
  let done = 0;
  for (const { 0: word, index } of text.matchAll(CLOSING)) {
    const found = index < done ? undefined : referenceBehind(text, index + word.length, inVain);
    if (!found) continue;
    const [all, repository, number] = found;
    result += `${text.slice(done, found.index)}${repository ? `${repository} ` : ""}issue ${number}`;
    done = found.index + all.length;
  }
  return result + text.slice(done);
}

function referenceBehind(text: string, from: number, inVain: Set<number>): RegExpExecArray | undefined {
  const places = [from];
  for (const at of places) {
    if (inVain.has(at)) continue;
    inVain.add(at);
    const found = at === from ? null : matchAt(REFERENCE, text, at);
    if (found) return found;
    for (const gap of GAPS) places.push(...(matchAt(gap, text, at) ?? []).map(({ length }) => at + length));
  }
  return undefined;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function everywhere(text: string): string {
  const tame = text
    .replace(WRITTEN_OUT, "&amp;")
    .replace(/\*\*\*NO_CI\*\*\*/gi, "NO CI")
    .replace(SKIPS, "($1)")
    .replace(/^(skip-checks|NO_CI)\s*:/gim, "$1 -");
  return withoutClosing(tame).replaceAll("${{", "$ {{");
}
