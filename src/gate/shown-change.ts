import { counted } from "../kernel/text/words.ts";
import { difference, fenced, howToAnswer, revealed, type ShownGate, shownAgain, signersNote } from "./shown.ts";

/** A diff that was asked for; `text` is absent where it is too long to be posted. */
export interface ShownDiff {
  readonly text?: string | undefined;
  readonly totalBytes: number;
  /** How to see all of it. */
  readonly command: string;
}

export interface ShowingChange extends ShownGate {
  readonly head: string;
  /** One line each, oldest first. */
  readonly commits: readonly string[];
  /** One line for each file. */
  readonly files: readonly string[];
  readonly diff: ShownDiff;
  /** What was shown before it. */
  readonly since?:
    | { readonly gateId: string; readonly text: string; readonly diff?: ShownDiff | undefined }
    | undefined;
}

const ADVISORY = "It is advisory: nothing keeps the agent that made it from answering for you.";
const MAX_LISTED = 300;

/** What is posted for the gate of a change: the plan, the commits, the diff, what changed, and how to answer. */
export function changePost(showing: ShowingChange): string {
  const { gateId, digest, head, text, isAdvisory, again, commits, files, diff, since } = showing;
  const closed = "It is neither marked ready nor merged before.";
  return [
    `**The change waits for your answer** (gate ${gateId}, ${digest.slice(0, 12)}, commit ${head.slice(0, 12)}). ${isAdvisory ? `${closed} ${ADVISORY}` : closed}`,
    ...shownAgain(again),
    ...signersNote(showing),
    "The plan:",
    fenced(revealed(text), "markdown"),
    `${counted(commits.length, "commit")}:`,
    fenced(revealed(listed(commits)), ""),
    ...shownDiff(`${counted(files.length, "file")} changed`, diff, files),
    ...(since ? changedSince(since, text) : []),
    howToAnswer(showing),
  ].join("\n\n");
}

function listed(lines: readonly string[]): string {
  const more = lines.length - MAX_LISTED;
  return [...lines.slice(0, MAX_LISTED), ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}

/** Whole, or not at all: the beginning of a diff looks like all of it. */
function shownDiff(what: string, { text, totalBytes, command }: ShownDiff, files: readonly string[] = []): string[] {
  if (text !== undefined) return [`${what}:`, text.trim() === "" ? "(nothing)" : fenced(revealed(text), "diff")];
  const size = `${Math.ceil(totalBytes / 1024)} KB`;
  const list = files.length === 0 ? [] : [fenced(revealed(listed(files)), "")];
  return [`${what}. The diff has ${size}, which is too long to be posted; \`${command}\` shows it.`, ...list];
}

function changedSince(since: NonNullable<ShowingChange["since"]>, text: string): string[] {
  const isSamePlan = revealed(since.text) === revealed(text);
  const plan = isSamePlan ? [] : ["In the plan:", fenced(difference(since.text, text), "diff")];
  const gone = [`The commit that was shown at gate ${since.gateId} is gone.`];
  const files = since.diff ? shownDiff(`What changed since gate ${since.gateId}`, since.diff) : gone;
  return [...files, ...plan];
}
