import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { listDir } from "../../src/kernel/files.ts";
import { isAlive, type ProcessIdentity, signalProcess } from "../../src/kernel/system/process-tree.ts";
import { type CliResult, finished, type Project } from "../testing/project.ts";
import { type Random, seededRandom } from "../testing/random.ts";
import type { ChaosWorld } from "./chaos-project.ts";
import { processesOf } from "./invariants/facts.ts";
import type { Expected, ExpectedPlan, Said } from "./invariants/invariants.ts";
import { type CrashPoint, crashPoints } from "./scenarios/crash-points.ts";
import { type OutsideEvents, outsideEvents } from "./scenarios/outside-events.ts";

export interface ChaosOptions {
  readonly seed: number;
  /** How often the dispatcher is killed before it may finish. */
  readonly kills: number;
  readonly plans: number;
}

export interface ChaosReport {
  readonly kills: number;
  /** One line per start: how it was to end, and how it did. */
  readonly history: readonly string[];
  /** Starts and commands that failed without being killed. */
  readonly failures: readonly string[];
  readonly expected: Expected;
}

/** How one start of the dispatcher is to end; whatever it is, it ends after `afterMs`. */
type Manner = { readonly afterMs: number } & (
  | { readonly kind: "kill" | "term" | "shims" | "shims-first" | "everything" }
  | { readonly kind: "point"; readonly point: CrashPoint; readonly passage: number }
);

const MAX_END_MS = 60_000;

interface Chaos extends ChaosWorld {
  readonly random: Random;
  readonly events: OutsideEvents;
  readonly plans: readonly (ExpectedPlan & { readonly said: Said[] })[];
  readonly history: string[];
  readonly failures: string[];
  comments: number;
  kills: number;
}

/**
 * Makes plans and lets things happen outside, kills the dispatcher as often as asked for while it works, then lets it
 * finish.
 */
export async function runChaos(world: ChaosWorld, options: ChaosOptions): Promise<ChaosReport> {
  const { project, outside } = world;
  const random = seededRandom(options.seed);
  const plans = makePlans(project, random, options.plans);
  const ids = plans.map(({ id }) => id);
  const events = outsideEvents(outside, random, ids);
  const chaos: Chaos = { ...world, random, events, plans, history: [], failures: [], comments: 0, kills: 0 };
  events.begin();
  for (const plan of plans.slice(0, 2)) await say(chaos, plan);
  const points = crashPoints();
  // A start may end by itself before its moment comes, so there are more starts than kills; not endlessly more.
  for (let round = 0; chaos.kills < options.kills && round < options.kills * 5; round += 1) {
    await oneStart(chaos, chooseManner(random, points));
  }
  const last = await project.work({ OUTSIDE_CALM: "1" });
  note(chaos, "undisturbed", last);
  const { kills, history, failures } = chaos;
  return { kills, history, failures, expected: { plans: [...plans, ...events.expectedPlans(project)] } };
}

/** Two or three TODOs each; the last plan has none and goes through the designer. */
function makePlans(project: Project, random: Random, count: number): Chaos["plans"] {
  return Array.from({ length: count }, (_, index) => {
    const id = `plan-${index + 1}`;
    const designed = index === count - 1;
    const todos = ["make one", "make two", "make three"].slice(0, random.between(2, 3));
    project.plan(id, designed ? [] : todos);
    return { id, todos: designed ? ["designed one", "designed two"] : todos, said: [] };
  });
}

function chooseManner(random: Random, points: readonly CrashPoint[]): Manner {
  const afterMs = random.between(250, 1800);
  if (random.chance(0.5)) {
    return { kind: "point", point: random.pick(points), passage: random.between(1, 3), afterMs: afterMs + 1500 };
  }
  return { kind: random.pick(["kill", "kill", "everything", "shims", "shims-first", "term"]), afterMs };
}

async function oneStart(chaos: Chaos, manner: Manner): Promise<void> {
  const { project, random } = chaos;
  const child = project.spawnCli(["start", "--until-idle"], environmentFor(manner));
  const ended = finished(child);
  killAtStranded(child, manner);
  const talking = Promise.all([
    random.chance(0.25) ? sayAfter(chaos, random.between(200, 1500)) : undefined,
    happenAfter(chaos, random.between(100, 1500)),
  ]);
  const over = new AbortController();
  await Promise.race([ended, sleep(manner.afterMs, undefined, { signal: over.signal }).catch(() => undefined)]);
  over.abort();
  if (isRunning(child)) await end(chaos, child, manner);
  const stuck = setTimeout(() => endStuck(chaos, child, manner), MAX_END_MS);
  const result = await ended;
  clearTimeout(stuck);
  await talking;
  note(chaos, describeManner(manner), result);
  if (result.signal === "SIGKILL") chaos.kills += 1;
  else if (result.code === 0 && manner.kind !== "term") await giveMoreWork(chaos);
}

/** One that was asked to end and does not would keep the test waiting forever. */
function endStuck(chaos: Chaos, child: ChildProcess, manner: Manner): void {
  chaos.failures.push(`start (${describeManner(manner)}): it did not end for ${MAX_END_MS / 1000} s`);
  child.kill("SIGKILL");
}

/** A shim passes its points once; a dispatcher may pass one several times before it dies there. */
function environmentFor(manner: Manner): Record<string, string> {
  if (manner.kind !== "point") return {};
  const { name, variable } = manner.point;
  return { [variable]: variable === "PRLOOM_CRASH_AT" ? `${name}:${manner.passage}` : name };
}

/** Every shim dies at its point, and three times in a row rightly blocks a plan: the dispatcher dies at the first. */
function killAtStranded(child: ChildProcess, manner: Manner): void {
  if (manner.kind !== "point" || manner.point.variable !== "PRLOOM_SHIM_CRASH_AT") return;
  child.stdout?.on("data", (data) => String(data).includes("was interrupted") && child.kill("SIGKILL"));
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

async function end(chaos: Chaos, child: ChildProcess, manner: Manner): Promise<void> {
  if (manner.kind === "term") {
    child.kill("SIGTERM");
    return;
  }
  if (manner.kind === "everything") return killEverything(chaos.project);
  if (manner.kind === "shims" || manner.kind === "shims-first") killShims(chaos.project);
  // Alone for a while without the shims: it has to notice, end what they left and start the work again.
  if (manner.kind === "shims-first") await sleep(chaos.random.between(100, 600));
  child.kill("SIGKILL");
}

/** As when the machine loses its power: the dispatcher, agents and git, in the middle of whatever they do. */
function killEverything(project: Project): void {
  for (const { pid } of processesOf(project.root)) signalProcess(pid, "SIGKILL");
}

/** Kills the process groups that `process.json` of unfinished runs names, if they still are who they were. */
function killShims(project: Project): void {
  const plans = join(project.authority, "plans");
  for (const id of listDir(plans)) {
    for (const run of listDir(join(plans, id, "runs"))) {
      const dir = join(plans, id, "runs", run);
      const files = listDir(dir);
      if (!files.includes("process.json") || files.includes("exit.json")) continue;
      const shim = JSON.parse(readFileSync(join(dir, "process.json"), "utf8")) as ProcessIdentity & { pgid: number };
      if (isAlive(shim)) process.kill(-shim.pgid, "SIGKILL");
    }
  }
}

async function giveMoreWork(chaos: Chaos): Promise<void> {
  for (let count = 0; count < 3; count += 1) await say(chaos, chaos.random.pick(chaos.plans));
}

async function sayAfter(chaos: Chaos, ms: number): Promise<void> {
  const plan = chaos.random.pick(chaos.plans);
  await sleep(ms);
  await say(chaos, plan);
}

async function happenAfter(chaos: Chaos, ms: number): Promise<void> {
  chaos.events.happen();
  await sleep(ms);
  chaos.events.happen();
}

const WORDS = [
  (count: number) => `thanks for ${count}`,
  (count: number) => `please make extra ${count}`,
  (count: number) => `/note ${count}`,
];

/** Comments through the CLI: some ask for work, some only want an answer, some are for a plugin. */
async function say(chaos: Chaos, plan: Chaos["plans"][number]): Promise<void> {
  chaos.comments += 1;
  const body = WORDS[chaos.comments % WORDS.length]!(chaos.comments);
  const result = await chaos.project.cli(["comment", plan.id, body]);
  plan.said.push({ body, confirmed: result.code === 0 });
  // The dispatcher that it spoke to was killed, or had not opened its socket: then it is right to say so.
  const told = result.stderr.includes("[control-failed]");
  if (result.code === 0 || result.signal === "SIGKILL" || told) return;
  chaos.failures.push(`comment ${plan.id}: ${result.code ?? result.signal} ${result.stderr}`);
}

function note(chaos: Chaos, what: string, result: CliResult): void {
  // That the outside fails at times is as it should be.
  const isNews = (line: string): boolean => /failed|blocked|gave up/.test(line) && !line.includes("the poll of bridge");
  const warnings = result.stdout.split("\n").filter(isNews);
  chaos.history.push([`${what} -> ${result.signal ?? result.code}`, ...warnings].join("\n    "));
  // SIGTERM before the program listens to it ends it as it ends any program.
  if (result.code !== 0 && result.signal !== "SIGKILL" && result.signal !== "SIGTERM") {
    chaos.failures.push(`start (${what}): ${result.code ?? result.signal}\n${result.stderr}${result.stdout}`);
  }
}

function describeManner(manner: Manner): string {
  if (manner.kind !== "point") return `${manner.kind} after ${manner.afterMs} ms`;
  return `at ${manner.point.name}, passage ${manner.passage}, or after ${manner.afterMs} ms`;
}
