import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { claudeInvocation } from "../src/agents/claude/invocation.ts";
import { userLine } from "../src/agents/claude/messages.ts";
import { codexInvocation } from "../src/agents/codex/invocation.ts";
import type { Invocation } from "../src/agents/port.ts";
import { RUN_FILES } from "../src/agents/runner/run-files.ts";
import { homeOf } from "../src/dispatcher/paths.ts";
import { type Counts, startedCount } from "./harness/counts.ts";
import { type Daemon, withDaemon } from "./harness/daemon.ts";
import { measurePairs, percentile } from "./harness/measure.ts";
import { type Note, sharedNow } from "./harness/note-process.ts";
import { prepareCli } from "./harness/programs.ts";
import { addInboxPlans, inFolder, makeProject, type Project, planId } from "./harness/project.ts";
import { type Bench, type Gate, type Result, result, type Sizes } from "./harness/result.ts";
import { sandboxMissing } from "./harness/sandbox-missing.ts";

const PROGRAM = fileURLToPath(new URL("./harness/timed-agent.mjs", import.meta.url));
const FILES = 50;
/** About as long as what a worker is told. */
const PROMPT = "Do what the plan says, and nothing else.\n".repeat(60);
/** After a plan is in review the dispatcher tells it to its bus; the floor must not pay for that. */
const REST_MS = 100;

export const ADAPTERS = ["command", "codex", "claude"] as const;
type Adapter = (typeof ADAPTERS)[number];

interface Way {
  readonly adapter: Adapter;
  readonly sandbox: "auto" | "none";
}

const WAYS: readonly Way[] = ADAPTERS.flatMap((adapter) => [
  { adapter, sandbox: "auto" } as const,
  { adapter, sandbox: "none" } as const,
]);

const agentName = ({ adapter, sandbox }: Way): string => `${adapter}-${sandbox}`;

/** Start and end of one run around what the program itself does, in milliseconds. */
interface Around {
  /** From the decision to the prompt that the program has read. */
  readonly start: number;
  /** From its last word to the record that says what came of it; for the bare program to its end. */
  readonly end: number;
}

/** When the program had read its prompt, and when it said its last word. */
function toldTimes(output: string): { readAt: number; lastAt: number } {
  const [, readAt, lastAt] = /timed ([\d.]+) ([\d.]+)/.exec(output) ?? [];
  if (lastAt === undefined) throw new Error(`the program told no times: ${output}`);
  return { readAt: Number(readAt), lastAt: Number(lastAt) };
}

function invocationOf({ adapter, sandbox }: Way, cwd: string): Extract<Invocation, { program: string }> {
  const spec = { name: adapter, command: PROGRAM, projectSettings: false };
  const sandboxed = sandbox !== "none";
  const invocation: Record<Adapter, () => Invocation> = {
    command: () => ({ program: PROGRAM, args: [] }),
    codex: () => codexInvocation(spec, { folders: [cwd], sandboxed }),
    claude: () => claudeInvocation(spec, { sandboxed }),
  };
  const chosen = invocation[adapter]();
  if ("shell" in chosen) throw new Error("a program is started, not a line of the shell");
  return chosen;
}

/** The program alone, as a shell would start it: its prompt on stdin, its output read, its end awaited. */
async function runBare(project: Project, way: Way): Promise<Around> {
  const cwd = join(project.root, "..", "bare");
  const planFile = join(cwd, "plan.md");
  mkdirSync(cwd, { recursive: true });
  writeFileSync(planFile, "- [ ] Do it\n");
  const env = { ...project.env, PRLOOM_PLAN_FILE: planFile, PRLOOM_WORKTREE: cwd };
  const { program, args } = invocationOf(way, cwd);
  const startedAt = sharedNow();
  const child = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (data: string) => {
    output += data;
    // Claude Code waits for more after each result.
    if (output.includes('"type":"result"')) child.stdin.end();
  });
  if (way.adapter === "claude") child.stdin.write(`${userLine(PROMPT)}\n`);
  else child.stdin.end(PROMPT);
  await once(child, "close");
  const endedAt = sharedNow();
  const { readAt, lastAt } = toldTimes(output);
  return { start: readAt - startedAt, end: endedAt - lastAt };
}

interface OurRun extends Around {
  /** From the last word to the record that says that the commit is made. */
  readonly committed: number;
  /** What the dispatcher asked of the system from the decision to the verdict. */
  readonly counts: Counts;
}

function difference(after: Counts, before: Counts): Counts {
  const started = Object.entries(after.started).map(([name, count]) => [name, count - (before.started[name] ?? 0)]);
  return {
    opened: after.opened - before.opened,
    listed: after.listed - before.listed,
    looked: after.looked - before.looked,
    written: after.written - before.written,
    bytesWritten: after.bytesWritten - before.bytesWritten,
    synced: after.synced - before.synced,
    syncedAside: after.syncedAside - before.syncedAside,
    started: Object.fromEntries(started),
  };
}

/** One plan of one TODO, through a dispatcher that has nothing else to do. */
async function runOurs(project: Project, daemon: Daemon, way: Way, id: string): Promise<OurRun> {
  addInboxPlans(project, [id], { status: "queued", metadata: { agent: agentName(way) } }, 1);
  const notes = await daemon.until(() => {
    const so = daemon.notes(id);
    return so.some(({ status }) => status === "review") ? so : undefined;
  });
  await sleep(REST_MS);
  const first = (stage: string): Note => {
    const note = notes.find((one) => one.stage === stage);
    if (!note) throw new Error(`${id} was never ${stage}`);
    return note;
  };
  // Written down right before the run is begun.
  const decided = first("running");
  const verified = first("verified");
  const output = readFileSync(join(homeOf(project.paths, id).run(1), RUN_FILES.output), "utf8");
  const { readAt, lastAt } = toldTimes(output);
  return {
    start: readAt - decided.at,
    end: verified.at - lastAt,
    committed: first("committed").at - lastAt,
    counts: difference(verified.counts, decided.counts),
  };
}

/**
 * What one run may ask of the system, from the decision to the verdict, without what its shim does. The bus writes beside
 * it when it comes to it, and the first run asks git for the settings of the repository: so the least of all runs.
 */
function gatesOf(runs: readonly OurRun[]): Gate[] {
  const least = (read: (counts: Counts) => number): number => Math.min(...runs.map(({ counts }) => read(counts)));
  return [
    { what: "git started", counted: least(({ started }) => started.git ?? 0), most: 6 },
    // The run before has left its own.
    { what: "shims", counted: least(({ started }) => started.node ?? 0), most: 0 },
    { what: "others started", counted: least((counts) => startedCount(counts) - gitAndShims(counts)), most: 0 },
    // Eight of them are refs of the shadow, which are packed into one file when there are more; two note the records.
    { what: "writes", counted: least((counts) => counts.written), most: 30 },
    // The start waits for one on another thread; what was spent and the verdict are synced with what comes after them.
    { what: "synced", counted: least((counts) => counts.synced), most: 0 },
  ];
}

function gitAndShims({ started }: Counts): number {
  return (started.git ?? 0) + (started.node ?? 0);
}

async function measure(project: Project, daemon: Daemon, way: Way, sizes: Sizes): Promise<Result> {
  const bare: Around[] = [];
  const ours: OurRun[] = [];
  let plans = 0;
  const next = (): string => {
    plans += 1;
    return `${agentName(way)}-${planId(plans)}`;
  };
  // Its time does not count: it finds nothing of what later ones find.
  const warm = await runOurs(project, daemon, way, next());
  const times = await measurePairs({
    floor: async () => {
      const around = await runBare(project, way);
      bare.push(around);
      return around.start + around.end;
    },
    ours: async () => {
      const run = await runOurs(project, daemon, way, next());
      ours.push(run);
      return run.start + run.end;
    },
    pairs: sizes.pairs,
  });
  // Without the first pair, which warms up.
  const ofOurs = (read: (run: OurRun) => number): number => percentile(ours.slice(-sizes.pairs).map(read), 0.5);
  const ofFloor = (read: (run: Around) => number): number => percentile(bare.slice(-sizes.pairs).map(read), 0.5);
  return result({
    name: "run",
    what: `decided → prompt read, last word → verified; ${way.adapter}, ${way.sandbox === "none" ? "no sandbox" : "sandbox"}`,
    floorIs: "start → prompt read, last word → end, of the program alone",
    gates: gatesOf([warm, ...ours]),
    budget: { above: 150 },
    times,
    also: [
      { what: "start", value: ofOurs((run) => run.start), unit: "ms" },
      { what: "of the floor", value: ofFloor((run) => run.start), unit: "ms" },
      { what: "end", value: ofOurs((run) => run.end), unit: "ms" },
      { what: "of the floor", value: ofFloor((run) => run.end), unit: "ms" },
      { what: "to the commit", value: ofOurs((run) => run.committed), unit: "ms" },
    ],
  });
}

function projectOf(dir: string): Project {
  const agent = ({ adapter, sandbox }: Way) => ({ adapter, command: PROGRAM, sandbox });
  const agents = Object.fromEntries(WAYS.map((way) => [agentName(way), agent(way)]));
  return makeProject(dir, {
    files: FILES,
    limits: { maxRunningAgents: 1, maxOpenPlans: 1000 },
    config: { agents, stages: { default: "command-none" } },
  });
}

export const oneRun: Bench = {
  name: "run",
  run: (sizes) =>
    inFolder(async (dir) => {
      const cli = prepareCli(dir, sizes);
      const project = projectOf(dir);
      const missing = await sandboxMissing();
      const { adapters = ADAPTERS } = sizes;
      const ways = WAYS.filter(
        ({ adapter, sandbox }) => adapters.includes(adapter) && (sandbox === "none" || missing === undefined),
      );
      return withDaemon(project, { cli, notes: true }, async (daemon) => {
        const results: Result[] = [];
        for (const way of ways) results.push(await measure(project, daemon, way, sizes));
        return results;
      });
    }),
};
