import { counted } from "../../kernel/text/words.ts";
import type { Call } from "../output.ts";
import { hintLines } from "../render/hint.ts";
import { visible } from "../render/safe-text.ts";
import { checkEverything } from "./checks.ts";
import type { Finding } from "./finding.ts";

const MARKS = { ok: ["✓", "green"], warn: ["!", "yellow"], bad: ["✗", "red"] } as const;

/** Checks what prloom needs; 1 when something is missing that it cannot do without. */
export async function doctor(call: Call): Promise<number> {
  const { output } = call;
  const findings = await checkEverything(call);
  output.data(findings);
  for (const finding of findings) {
    const [mark, style] = MARKS[finding.state];
    const [first = "", ...more] = finding.text.split("\n").map(visible);
    output.line(`${output.paint(style, mark)} ${finding.name}: ${first}`);
    for (const line of more) output.line(`  ${line}`);
    for (const line of finding.hint === undefined ? [] : hintLines(finding.hint)) output.line(line);
  }
  const count = (state: Finding["state"]) => findings.filter((finding) => finding.state === state).length;
  output.line();
  output.line(
    count("bad") > 0
      ? `${counted(count("bad"), "problem")} to fix.`
      : count("warn") > 0
        ? "prloom can work; see the notes above."
        : "All is well.",
  );
  return count("bad") > 0 ? 1 : 0;
}
