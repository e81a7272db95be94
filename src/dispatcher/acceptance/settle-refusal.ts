import { programOf } from "../../agents/adapters.ts";
import type { RunError, RunLogSummary } from "../../agents/run-log/run-summary.ts";
import type { PlanConfig, StageAgent } from "../../config/presets.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { PlanRecord } from "../../plan/record.ts";
import type { Reporting } from "../capabilities.ts";
import { homeOf, type Located } from "../paths.ts";
import { nextRun } from "../perform/begin.ts";
import { blockPlan, type Records, updateRecord } from "../records.ts";
import type { Pooled } from "../runs/agent-pool.ts";
import { isRefusal } from "../runs/availability.ts";
import { wordsAbout } from "../runs/program-words.ts";
import { awaitedRun, readRunRecord, stageOf } from "../runs/run-record.ts";
import type { Configured } from "../settings/pinned.ts";

/**
 * A run that has nothing to show because its provider, or the program's memory, failed it. Such a run is not an
 * attempt: it is made again, later, in a new conversation, or by another agent. False when it was not like that.
 */
export async function settleRefusal(
  loom: Located & Configured & Records & Pooled & Reporting,
  record: PlanRecord,
  config: PlanConfig,
  summary: RunLogSummary,
): Promise<boolean> {
  const { trouble } = summary;
  const run = awaitedRun(record);
  const started = run === undefined ? undefined : readRunRecord(homeOf(loom.paths, record.id).run(run));
  if (!trouble || !started) return false;
  if (trouble.kind === "session-lost") {
    // Only a run that went on with a conversation can miss it, and the record has forgotten that by now: no loop.
    if (started.sessionId === undefined) return false;
    updateRecord(loom, record.id, (now) => nextRun(now, {}));
    const text = `${started.agent} does not know the conversation any more; starting a new one`;
    loom.report({ planId: record.id, level: "warn", text });
    return true;
  }
  const agents = config.agents[stageOf(record)];
  const agent = agents.find(({ name }) => name === started.agent);
  if (!isRefusal(trouble) || !agent) return false;
  const said = { ...trouble, message: inOneLine(trouble.message), ...stillToWait(trouble, loom.clock.now()) };
  await waitOrBlock(loom, record, { trouble: said, agent, agents });
  return true;
}

/** The end that a provider named is the same, however long after the run this is settled. */
function stillToWait({ retryAt }: RunError, now: number): { retryAfterMs?: number } {
  return retryAt === undefined ? {} : { retryAfterMs: Math.max(0, Date.parse(retryAt) - now) };
}

/** A program that cannot be started stops nothing while another agent of the stage may do the work. */
export function settleMissing(
  loom: Located & Records & Pooled & Reporting,
  record: PlanRecord,
  config: PlanConfig,
  error: string,
): boolean {
  const agents = config.agents[stageOf(record)];
  const run = awaitedRun(record);
  const started = run === undefined ? undefined : readRunRecord(homeOf(loom.paths, record.id).run(run));
  if (agents.length < 2 || !started) return false;
  loom.pool.refused(started.agent, { kind: "auth", message: `it could not be started: ${error}` });
  if (loom.pool.needsPerson(agents)) return false;
  updateRecord(loom, record.id, (now) => nextRun(now, {}));
  const text = `${started.agent} could not be started (${error}); going on with another agent`;
  loom.report({ planId: record.id, level: "warn", text });
  return true;
}

interface RefusedRun {
  readonly trouble: RunError;
  readonly agent: StageAgent;
  readonly agents: readonly StageAgent[];
}

const MAX_SAID = 300;

/** What providers say may be a page of JSON; people read one line. */
function inOneLine(message: string): string {
  const line = message.replaceAll(/\s+/g, " ").trim();
  return line.length <= MAX_SAID ? line : `${line.slice(0, MAX_SAID)}…`;
}

async function waitOrBlock(
  loom: Located & Configured & Records & Pooled & Reporting,
  record: PlanRecord,
  { trouble, agent, agents }: RefusedRun,
): Promise<void> {
  const refusal = loom.pool.refused(agent.name, { ...trouble, planId: record.id });
  const next = loom.pool.choose(agents, record.id);
  if (loom.pool.needsPerson(agents)) {
    const program = programOf(agent);
    const title = (await wordsAbout(loom, agent))?.name ?? agent.command;
    const isLogin = trouble.kind === "auth";
    const what = isLogin ? "is not logged in, or its key was refused" : "was refused for more than a day";
    const reason = `${title} (agent ${agent.name}) ${what}: ${trouble.message}`;
    const login = program === undefined ? `Log in to ${title}` : `Log in: \`${program.login}\``;
    const how = isLogin ? `${login} (\`prloom doctor\` checks it)` : "Look into it with its provider";
    const hint = `${how}, then run \`prloom unblock ${record.id}\`.`;
    blockPlan(loom, record.id, { reason, hint, cause: "step" }, (now) => nextRun(now, {}));
    return;
  }
  updateRecord(loom, record.id, (now) => nextRun(now, {}));
  const then =
    next.kind === "free" && next.agent.name !== agent.name
      ? `going on with ${next.agent.name}`
      : `trying again at ${isoTime(refusal?.until ?? loom.clock.now())}`;
  const text = `${agent.name} was refused (${trouble.kind}): ${trouble.message}; ${then}`;
  loom.report({ planId: record.id, level: "warn", text });
}
