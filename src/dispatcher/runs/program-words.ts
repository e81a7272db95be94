import { statSync } from "node:fs";
import { join } from "node:path";
import { programOf } from "../../agents/adapters.ts";
import { agentFiles } from "../../agents/agent-files.ts";
import { inspectProgram } from "../../agents/inspect-program.ts";
import type { StageAgent } from "../../config/presets.ts";
import { findProgram } from "../../kernel/system/find-program.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { homeOf, type Located, worktreeOf } from "../paths.ts";
import type { Configured } from "../settings/pinned.ts";
import { planConfig } from "../settings/plan-config.ts";
import { mayAsk } from "../settings/require-pinned.ts";
import { awaitedRun, readRunRecord, stageOf } from "./run-record.ts";

/** What people must know about the program of an agent that came to nothing. */
export interface ProgramWords {
  /** With its version where that can be asked: "Codex 0.166.0". */
  readonly name: string;
  /** A sentence with what to type about the program itself, ready to precede others; "" when it looks right. */
  readonly advice: string;
}

/** A program that does not answer must not hold up its plan; on a busy machine some take a quarter of a minute. */
const VERSION_MS = 30_000;

/** Asks the program of an agent who it is; undefined for one that only the user knows. */
export async function wordsAbout(loom: Located & Configured, agent: StageAgent): Promise<ProgramWords | undefined> {
  const program = programOf(agent);
  if (!program) return undefined;
  // It is asked with our rights: never what another branch put in its place, nor what lies in the plan's worktree.
  if (!mayAsk(loom, agent)) return { name: program.title, advice: "" };
  const file = findProgram(agent.command, agent.env.PATH ?? loom.environment.PATH, loom.repo.root);
  if (!file) return { name: program.title, advice: `Install it: \`${program.install}\`. ` };
  const facts = await inspectProgram({ env: loom.environment }, program, { file, answerMs: VERSION_MS });
  const name = facts.version === undefined ? program.title : `${program.title} ${facts.version}`;
  if (facts.broken !== undefined)
    return { name, advice: `It does not work (${facts.broken}); reinstall it: \`${program.install}\`. ` };
  if (!facts.tooOld) return { name, advice: "" };
  return { name, advice: `prloom needs ${program.least} or newer: \`${program.install}\`. ` };
}

/** The same for the agent of the plan's run. */
export async function wordsAboutRun(loom: Located & Configured, record: PlanRecord): Promise<ProgramWords | undefined> {
  const run = awaitedRun(record) ?? record.current?.run;
  const started = run === undefined ? undefined : readRunRecord(homeOf(loom.paths, record.id).run(run));
  const config = planConfig(loom, record);
  if (!config.ok || !started) return undefined;
  const agent = config.config.agents[stageOf(record)].find(({ name }) => name === started.agent);
  if (!agent) return undefined;
  const advice = notInWorktree(loom, record, agent);
  return advice === undefined ? wordsAbout(loom, agent) : { name: agent.name, advice };
}

/** A file of the checkout that the agent is started from and that the plan's branch began without: a later commit does not bring it there. */
function notInWorktree(
  loom: Located & Configured,
  { id, ...record }: PlanRecord,
  agent: StageAgent,
): string | undefined {
  const { path } = worktreeOf(loom, { id, ...record });
  const missing = agentFiles(loom.repo.root, agent).find(
    (file) => !statSync(join(path, file), { throwIfNoEntry: false }),
  );
  if (missing === undefined) return undefined;
  return `${missing} is not in the worktree of the plan, which has what its branch has. Commit it (\`git add ${missing} && git commit\`), then bring it there: \`prloom rebase ${id}\` and \`prloom unblock ${id}\`. If that is not it: `;
}
