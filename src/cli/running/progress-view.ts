import type { Progress } from "../../dispatcher/capabilities.ts";
import type { Output } from "../output.ts";
import { jsonText, visible, visibleLines } from "../render/safe-text.ts";

/** Shows progress while a dispatcher works. */
export interface ProgressView {
  show(progress: Progress): void;
  close(): void;
}

/** One JSON object per line, for programs. */
export function jsonProgress(): ProgressView {
  return {
    show: (progress) => void process.stdout.write(`${jsonText({ type: "progress", ...progress })}\n`),
    close: () => undefined,
  };
}

/** One line per progress, and below it what else its text has, for files and pipes. */
export function plainProgress(output: Output): ProgressView {
  return {
    show({ at, planId, text }) {
      const [first = "", ...more] = visibleLines(text.trim());
      output.line(`${at}  ${planId === undefined ? "" : `${visible(planId)}  `}${first}`);
      for (const line of more) output.line(indented(line));
    },
    close: () => undefined,
  };
}

export function indented(line: string): string {
  return `    ${line}`.trimEnd();
}
