import { hasPolicy, hasSandbox } from "../../agents/enclosure-level.ts";
import type { AgentReport, AgentsReport, BackOff } from "../../dispatcher/report/read-agents.ts";
import type { Output } from "../output.ts";
import { hintLines } from "./hint.ts";
import { firstLine, visible } from "./safe-text.ts";
import { spendingInWords } from "./spending.ts";
import { dayAndTime, timeUntil } from "./time.ts";

/** How agents are enclosed, which of them are left alone for a while, and what today cost. */
export function agentsState(output: Output, report: AgentsReport, now: number): void {
  output.line(`sandbox: ${sandboxInWords(report)}`);
  for (const { name, level, backsOff } of report.agents) {
    if (level === "refused") {
      const why = 'its config says "sandbox": "bwrap"; `prloom doctor` tells what to do';
      output.line(output.paint("red", `agent ${visible(name)}: does not run without a sandbox (${why})`));
    }
    if (backsOff) backOffLines(output, name, { backsOff, now });
  }
  const { today, dailyBudget } = report;
  const hasBudget = Object.values(dailyBudget).some((limit) => limit !== undefined);
  if (today.ms > 0 || today.tokens > 0 || hasBudget) output.line(`today: ${spendingInWords(today, dailyBudget)}`);
}

/** One agent that is left alone, and how to end that. */
export function backOffLines(
  output: Output,
  name: string,
  { backsOff, now }: { readonly backsOff: BackOff; readonly now: number },
): void {
  output.line(output.paint("yellow", `agent ${visible(name)}: ${backOffInWords(backsOff, now)}`));
  const hint = hintToTry(backsOff);
  for (const line of hint === undefined ? [] : hintLines(hint)) output.line(line);
}

/** Until when an agent is left alone, and why. */
export function backOffInWords({ until, resetsAt, kind, reason }: BackOff, now: number): string {
  const why = `(${kind}: ${firstLine(reason)})`;
  if (resetsAt === undefined) return `backs off, next try ${timeUntil(until, now)} ${why}`;
  return `paused until ${dayAndTime(resetsAt)}, ${timeUntil(resetsAt, now)}, when its limit ends ${why}`;
}

/** Only where it was a plan's run that was refused is there a plan to name. */
export function hintToTry({ unblock, resetsAt }: BackOff): string | undefined {
  if (unblock === undefined) return undefined;
  const tries = `\`prloom unblock ${visible(unblock)}\` tries it now.`;
  return resetsAt === undefined
    ? tries
    : `${tries} prloom does not ask before, even if you have bought more meanwhile.`;
}

const NO_SANDBOX = "none: agents run with your rights";

function sandboxInWords({ sandbox, sandboxWhy, agents }: AgentsReport): string {
  const own = agents.filter(({ level }) => level !== "refused" && !hasSandbox(level) && hasSandbox(sandbox));
  if (own.length > 0 && own.length === agents.length && own.every(({ level }) => level === "none")) return NO_SANDBOX;
  const except = own.length === 0 ? "" : `; none for ${names(own)}: with your rights`;
  const why = sandboxWhy === undefined ? "" : ` (${firstLine(sandboxWhy)})`;
  const judged = agents.filter(({ level }) => level !== "refused" && hasPolicy(level));
  const rules = judged.length === 0 ? "" : `; each call of ${names(judged)} is judged by the policy`;
  return `${hasSandbox(sandbox) ? "bubblewrap" : NO_SANDBOX}${why}${except}${rules}`;
}

function names(agents: readonly AgentReport[]): string {
  return agents.map(({ name }) => visible(name)).join(", ");
}
