import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { EVENTS_FILE } from "../src/agents/run-log/run-log.ts";
import { RUN_FILES } from "../src/agents/runner/run-files.ts";
import { homeOf } from "../src/dispatcher/paths.ts";
import { readTextIfExists } from "../src/kernel/files.ts";
import { childrenOf } from "../src/kernel/system/process-tree.ts";
import type { PlanRecord } from "../src/plan/record.ts";
import { type Daemon, withDaemon } from "./harness/daemon.ts";
import { pairsOf, percentile } from "./harness/measure.ts";
import { type ProcessUse, useOf } from "./harness/process-use.ts";
import { prepareCli } from "./harness/programs.ts";
import { addInboxPlans, inFolder, makeProject, type Project, planId } from "./harness/project.ts";
import { type Bench, type Result, result, type Sizes } from "./harness/result.ts";

const PROGRAM = fileURLToPath(new URL("./harness/streaming-agent.mjs", import.meta.url));
const FILES = 50;
const MAX_MEMORY = 200_000_000;
/** One takes as long as the agents print. */
const MAX_PAIRS = 3;

const plansOf = ({ agents }: Sizes): string[] => Array.from({ length: agents }, (_, at) => planId(at));

function toldCpu(output: string): number {
  const [, ms] = /took ([\d.]+) ms/.exec(output) ?? [];
  if (ms === undefined) throw new Error(`an agent did not come to its end: ${output.slice(-200)}`);
  return Number(ms);
}

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);

const hasOutput = (file: string): boolean => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** The programs alone, as many at once, their output kept in files: the CPU time that all of them took. */
async function runBare(project: Project, dir: string, sizes: Sizes): Promise<number> {
  const begun = plansOf(sizes).map((id) => {
    const home = join(dir, id);
    const planFile = join(home, "plan.md");
    mkdirSync(home, { recursive: true });
    writeFileSync(planFile, "- [ ] Do it\n");
    const file = join(home, "output.log");
    const output = openSync(file, "w");
    const own = { PRLOOM_PLAN_FILE: planFile, PRLOOM_WORKTREE: home, PRLOOM_RUN_DIR: home };
    const child = spawn(PROGRAM, ["exec"], {
      cwd: home,
      env: { ...project.env, ...own, STREAMED: String(sizes.streamed) },
      stdio: ["ignore", output, "inherit"],
    });
    closeSync(output);
    return { home, file, ended: once(child, "exit") };
  });
  while (!begun.every(({ file }) => hasOutput(file))) await sleep(10);
  for (const { home } of begun) writeFileSync(join(home, "begin"), "");
  for (const { ended } of begun) await ended;
  return sum(begun.map(({ file }) => toldCpu(readFileSync(file, "utf8"))));
}

interface Load {
  /** CPU milliseconds of the dispatcher: from its start to the last plan in review, and while all agents printed. */
  readonly dispatcher: number;
  readonly meanwhile: number;
  readonly agents: number;
  /** Of the shims, bwrap and git. */
  readonly others: number;
  readonly peakMemory: number;
  /** Results of tools that agents printed, and of which there is no event. */
  readonly lost: number;
}

function projectOf(dir: string, sizes: Sizes): Project {
  const agent = { adapter: "codex", command: PROGRAM, env: { STREAMED: String(sizes.streamed) } };
  return makeProject(dir, {
    files: FILES,
    limits: { maxRunningAgents: sizes.agents, maxOpenPlans: sizes.agents },
    config: { agents: { streaming: agent }, stages: { default: "streaming" } },
  });
}

/** All agents are there before the first begins to print; what is measured is what a dispatcher has to bear at most. */
async function stream(project: Project, daemon: Daemon, sizes: Sizes): Promise<Load> {
  const homes = plansOf(sizes).map((id) => homeOf(project.paths, id));
  const outputs = homes.map((home) => join(home.run(1), RUN_FILES.output));
  await daemon.until(() => outputs.every(hasOutput) || undefined);
  const before = useOf(daemon.pid);
  for (const home of homes) writeFileSync(join(home.run(1), RUN_FILES.agentDir, "begin"), "");
  const exits = homes.map((home) => join(home.run(1), RUN_FILES.exit));
  const meanwhile = await daemon.until(() => (exits.some(hasOutput) ? useOf(daemon.pid) : undefined));
  await daemon.until(() => homes.every((home) => statusIn(home.record) === "review") || undefined);
  const after: ProcessUse = useOf(daemon.pid);
  // Shims that wait for another run have not told their parent what they and their runs took.
  const living = childrenOf(daemon.pid).map(({ pid }) => useOf(pid));
  const others = after.endedChildrenMs + sum(living.map((use) => use.ownMs + use.endedChildrenMs));
  const agents = sum(outputs.map((file) => toldCpu(readFileSync(file, "utf8"))));
  const results = sum(homes.map((home) => resultsIn(join(home.run(1), EVENTS_FILE))));
  return {
    dispatcher: after.ownMs,
    meanwhile: meanwhile.ownMs - before.ownMs,
    agents,
    others: others - agents,
    peakMemory: after.peakMemory,
    lost: sizes.agents * Math.floor(sizes.streamed / 2) - results,
  };
}

function resultsIn(file: string): number {
  return readFileSync(file, "utf8").split('"type":"tool_result"').length - 1;
}

function statusIn(file: string): string | undefined {
  const text = readTextIfExists(file);
  return text === undefined ? undefined : (JSON.parse(text) as PlanRecord).status;
}

async function measure(dir: string, cli: string, sizes: Sizes): Promise<Result> {
  const bare: number[] = [];
  const ours: Load[] = [];
  const bareProject = makeProject(join(dir, "bare"));
  const floor = async (): Promise<void> => {
    bare.push(await runBare(bareProject, join(dir, "bare", String(bare.length)), sizes));
  };
  for (let pair = 0; pair < Math.min(MAX_PAIRS, sizes.pairs); pair += 1) {
    await floor();
    const project = projectOf(join(dir, `ours-${pair}`), sizes);
    addInboxPlans(project, plansOf(sizes), { status: "queued" }, 1);
    ours.push(await withDaemon(project, { cli, notes: false }, (daemon) => stream(project, daemon, sizes)));
  }
  await floor();
  const median = (read: (load: Load) => number): number => percentile(ours.map(read), 0.5);
  const most = (read: (load: Load) => number): number => Math.max(...ours.map(read));
  return result({
    name: "agents",
    what: `CPU time of the dispatcher, ${sizes.agents} agents at once, ${sizes.streamed} lines each`,
    floorIs: "CPU time of as many agents alone",
    gates: [
      { what: "peak MB", counted: Math.round(most((load) => load.peakMemory) / 1e6), most: MAX_MEMORY / 1e6 },
      { what: "results lost", counted: most((load) => load.lost), most: 0 },
    ],
    budget: {},
    times: pairsOf(
      bare,
      ours.map(({ dispatcher }) => dispatcher),
    ),
    also: [
      { what: "while they print", value: median((load) => load.meanwhile), unit: "ms" },
      { what: "agents", value: median((load) => load.agents), unit: "ms" },
      { what: "shims, bwrap and git", value: median((load) => load.others), unit: "ms" },
    ],
  });
}

export const agents: Bench = {
  name: "agents",
  run: (sizes) => inFolder(async (dir) => [await measure(dir, prepareCli(dir, sizes), sizes)]),
};
