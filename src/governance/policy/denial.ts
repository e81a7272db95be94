import type { ToolRequest } from "./request.ts";

/** A call that is recommended: it is allowed exactly as it stands here. */
export interface Recommended {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface Denial {
  /** The rule that denies. */
  readonly rule: string;
  readonly what: string;
  readonly why: string;
  readonly useInstead: string;
  readonly evidence: string;
  readonly calls?: readonly Recommended[];
  /** For task order: the chain as a tree, with what blocks it. */
  readonly chain?: string;
}

export type Verdict =
  | { readonly allow: true; readonly note?: string }
  | { readonly allow: false; readonly denial: Denial };

const ONE_LINE = /[\r\n\t]+/g;
const MAX_PART = 600;

/** An agent chose some of these words: they stay on their line, and short. */
function part(text: string): string {
  const line = text.replace(ONE_LINE, " ").trim();
  return line.length > MAX_PART ? `${line.slice(0, MAX_PART)}…` : line;
}

/** What the agent reads instead of the result of its call. */
export function renderDenial(denial: Denial, request: Pick<ToolRequest, "tool">, times = 1): string {
  const calls = (denial.calls ?? []).map(({ tool, input }) => `  ${tool} ${JSON.stringify(input)}`);
  const lines = [
    `GOVERNANCE BLOCK: ${part(request.tool)} denied${times > 1 ? ` (denied ${times} times)` : ""}`,
    "",
    `WHAT: ${part(denial.what)}`,
    `WHY: ${part(denial.why)}`,
    `USE INSTEAD: ${part(denial.useInstead)}`,
    ...calls,
    `EVIDENCE: ${part(denial.evidence)}`,
    ...(denial.chain === undefined ? [] : ["", "CHAIN STATUS:", denial.chain]),
  ];
  // Commands are cut where they are looked into as well, perhaps in the middle of a character, and providers refuse half of one.
  return lines.join("\n").toWellFormed();
}

/** What to do about a call that was denied before, exactly like this. */
export function escalation(times: number, maxRepeated: number): "told" | "ends-the-run" {
  return times > maxRepeated ? "ends-the-run" : "told";
}
