import type { StatusReport } from "../../dispatcher/report/read.ts";
import { counted } from "../../kernel/text/words.ts";
import type { Output } from "../output.ts";
import { firstLine, visible } from "./safe-text.ts";
import { ageOf, shortDuration, timeUntil } from "./time.ts";

const SHOWN = 5;

type ShownBuses = Pick<StatusReport, "bridges" | "deferred" | "dead" | "ignored">;

/** Bridges that bring nothing, what waits to be tried again, and what was given up with the id that `prloom retry` takes. */
export function busState(output: Output, { bridges, deferred, dead, ignored }: ShownBuses, now: number): void {
  for (const { bridge, planId, since, error } of bridges.failing) {
    const name = planId === undefined ? visible(bridge) : `${visible(bridge)} for ${visible(planId)}`;
    output.line(output.paint("red", `bridge ${name}: failing for ${ageOf(since, now)}: ${firstLine(error)}`));
  }
  if (deferred.count > 0) {
    const oldest = shortDuration(deferred.oldestMs);
    output.line(`deferred: ${counted(deferred.count, "record")} to be tried again, the oldest waiting for ${oldest}`);
    for (const wait of deferred.records.slice(0, SHOWN)) {
      output.line(`${whoseLine(wait)}; next try ${timeUntil(wait.until, now)}`);
    }
    tellMore(output, Math.max(deferred.count, deferred.records.length));
  }
  ignoredLines(output, ignored.comments, now);
  if (dead.count === 0) return;
  const how = "`prloom retry <id>` tries again, `prloom retry --drop <id>` forgets";
  output.line(output.paint("red", `dead: ${counted(dead.count, "record")} given up (${how})`));
  for (const letter of dead.letters.slice(0, SHOWN)) output.line(whoseLine(letter));
  tellMore(output, dead.letters.length);
}

/** What is older was seen, or is of no interest; a plan may be open for months. */
const IGNORED_FOR_MS = 7 * 24 * 60 * 60_000;

/** Other people's only: prloom's own words come back from every place that it writes to. */
function ignoredLines(output: Output, comments: StatusReport["ignored"]["comments"], now: number): void {
  const recent = comments.filter(({ kind, at }) => kind !== "self" && now - Date.parse(at) < IGNORED_FOR_MS);
  const tried = recent.filter(({ kind }) => kind === "agent");
  if (tried.length > 0) output.line(`refused: ${counted(tried.length, "command")} with which agents answer for you`);
  for (const { planId, reason, at } of tried.slice(0, SHOWN))
    output.line(`  ${visible(planId)}  ${firstLine(reason)}, ${ageOf(at, now)} ago`);
  tellMore(output, tried.length);
  const others = recent.filter(({ kind }) => kind !== "agent");
  if (others.length === 0) return;
  output.line(
    `ignored: ${counted(others.length, "comment")} by authors who may not write to the repository (\`prloom show <plan>\` lists them)`,
  );
  for (const { planId, reason, at } of others.slice(0, SHOWN)) {
    output.line(`  ${visible(planId)}  ${firstLine(reason)}, ${ageOf(at, now)} ago`);
  }
  tellMore(output, others.length);
}

function whoseLine(one: { record: string; planId?: string; handler: string; reason: string }): string {
  const where = one.planId === undefined ? "" : ` of ${visible(one.planId)}`;
  return `  ${visible(one.record)}${where}  ${visible(one.handler)}: ${firstLine(one.reason)}`;
}

function tellMore(output: Output, count: number): void {
  if (count > SHOWN) output.line(`  … and ${count - SHOWN} more: \`prloom status --json\``);
}
