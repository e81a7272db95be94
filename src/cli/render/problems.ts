import type { StatusReport } from "../../dispatcher/report/read.ts";
import type { Output } from "../output.ts";
import { hintLines } from "./hint.ts";
import { firstLine, visible } from "./safe-text.ts";

/** What a person has to fix, each with a hint. */
export function problemLines(output: Output, { problems }: Pick<StatusReport, "problems">): void {
  for (const { file, reason, hint } of problems) {
    output.line(`${output.paint("yellow", "problem:")} ${visible(file)}: ${firstLine(reason)}`);
    for (const line of hintLines(hint)) output.line(line);
  }
}
