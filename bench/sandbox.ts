import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawnEnclosed } from "../src/agents/runner/enclosed.ts";
import { RUN_FILES, RUN_ID_VARIABLE, SHIM_VARIABLE } from "../src/agents/runner/run-files.ts";
import { startRun } from "../src/agents/runner/runner.ts";
import { START_LINE } from "../src/agents/shim/shim-protocol.ts";
import { configForPlan, type StageAgent } from "../src/config/presets.ts";
import { clearEnclosure, type Enclosure, enclose, SHADOW } from "../src/dispatcher/enclosure/enclose.ts";
import { takeInbox } from "../src/dispatcher/intake/intake.ts";
import { ensureLayout } from "../src/dispatcher/layout.ts";
import type { Loom } from "../src/dispatcher/loom.ts";
import { homeOf, worktreeOf } from "../src/dispatcher/paths.ts";
import { activate } from "../src/dispatcher/perform/activate.ts";
import { requireRecord } from "../src/dispatcher/records.ts";
import { systemClock } from "../src/kernel/clock.ts";
import type { PlanRecord } from "../src/plan/record.ts";
import type { ProcessCounts } from "./harness/count-process.ts";
import { countCalls, startedCount } from "./harness/counts.ts";
import { openHooked } from "./harness/hooked.ts";
import { measurePairs, percentile, timed } from "./harness/measure.ts";
import { run } from "./harness/programs.ts";
import { addInboxPlans, inFolder, makeProject, type Project, type ProjectOptions, planId } from "./harness/project.ts";
import { type Bench, type Gate, type Result, result, type Sizes } from "./harness/result.ts";
import { sandboxMissing } from "./harness/sandbox-missing.ts";

const SHIM = fileURLToPath(new URL("../src/agents/shim/shim.ts", import.meta.url));
const COUNTING = fileURLToPath(new URL("./harness/count-process.ts", import.meta.url));

interface Place {
  readonly what: string;
  readonly project: ProjectOptions;
}

const places = ({ files }: Sizes): Place[] => [
  { what: "10 files", project: { files: 10 } },
  { what: `${inThousands(files)} files and ${inThousands(files / 5)} refs`, project: { files, refs: files / 5 } },
];

const inThousands = (count: number): string => count.toLocaleString("en-GB");

/** One plan with a worktree, and an agent that is to work in it. */
interface Ready {
  readonly project: Project;
  readonly loom: Loom;
  readonly record: PlanRecord;
  readonly agent: StageAgent;
}

async function makeReady(dir: string, options: ProjectOptions): Promise<Ready> {
  const project = makeProject(dir, options);
  const loom = await openHooked(project, { clock: systemClock, environment: project.env });
  await ensureLayout(loom.repo, loom.paths);
  const id = planId(1);
  addInboxPlans(project, [id], { status: "queued" });
  const scan = loom.inbox.scan();
  takeInbox(loom, scan, scan.changed);
  const config = configForPlan(loom.config, {});
  if (!config.ok) throw new Error(config.reason);
  await activate(loom, requireRecord(loom, id), config.config);
  return { project, loom, record: requireRecord(loom, id), agent: config.config.stages.worker };
}

/** Makes the folders of one run after the other. */
function runFolders({ project, record }: Ready): () => string {
  let number = 0;
  return () => {
    number += 1;
    return homeOf(project.paths, record.id).run(number);
  };
}

function enclosureIn({ loom, record, agent }: Ready, runDir: string): Promise<Enclosure> {
  return enclose(loom, record, { agent, runDir, use: "worker" });
}

function filesBelow(dir: string): number {
  return readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
}

/** The shim by itself, counted, on what a run has left in its folder: the same request, the same sandbox. */
async function countShim(ready: Ready, runDir: string, wrapper: readonly string[]): Promise<ProcessCounts> {
  const { project, record, loom } = ready;
  const runId = `${record.uid}/bench`;
  const live = startRun({
    runDir,
    runId,
    wrapper,
    cwd: worktreeOf(loom, record).path,
    invocation: { program: "true", args: [] },
    stdin: "Do it.\n",
    env: project.env,
    limits: { deadlineMs: 60_000, silenceMs: 60_000, maxOutputBytes: 1000, graceMs: 1000 },
  });
  await live.ended;
  const file = join(project.root, "..", "shim-counts.json");
  const child = spawn(process.execPath, ["--import", COUNTING, SHIM], {
    cwd: runDir,
    env: { PATH: project.env.PATH, [RUN_ID_VARIABLE]: runId, [SHIM_VARIABLE]: runId, PRLOOM_BENCH_COUNTS: file },
    stdio: ["pipe", "ignore", "inherit"],
  });
  child.stdin.write(`${START_LINE}${JSON.stringify({ runDir, env: project.env, kept: false })}\n`);
  await once(child, "exit");
  const exit = readFileSync(join(runDir, RUN_FILES.exit), "utf8");
  if (JSON.parse(exit).code !== 0) throw new Error(`the program of a counted shim did not end well: ${exit}`);
  return JSON.parse(readFileSync(file, "utf8")) as ProcessCounts;
}

/** Without those for toolchains: how many of them lie in a home is a matter of the machine. */
function optionsBesideHome(wrapper: readonly string[]): string[] {
  const home = `${homedir()}/`;
  return wrapper.filter((arg, at) => arg.startsWith("--") && !wrapper[at + 1]?.startsWith(home));
}

async function gatesOf(ready: Ready, runDir: string): Promise<Gate[]> {
  // What is asked once for each process, and not for each run, is asked here.
  await enclosureIn(ready, runDir);
  let enclosure: Enclosure | undefined;
  const counts = await countCalls(async () => {
    enclosure = await enclosureIn(ready, runDir);
  });
  if (enclosure?.level !== "sandbox") throw new Error("there is no sandbox");
  const files = filesBelow(join(runDir, SHADOW));
  const shim = await countShim(ready, runDir, enclosure.wrapper);
  return [
    { what: "started", counted: startedCount(counts), most: 0 },
    { what: "writes", counted: counts.written, most: 9 },
    { what: "synced", counted: counts.synced, most: 0 },
    // Not more for more files and refs: objects are borrowed, and many refs are packed into one file.
    { what: "files of the shadow", counted: files, most: 16 },
    // One of them is for a checkout of prloom that lies below a hidden folder.
    { what: "options of bwrap", counted: optionsBesideHome(enclosure.wrapper).length, most: 57 },
    // The pipe for its output, and bwrap.
    { what: "started by the shim", counted: startedCount(shim), most: 2 },
    { what: "writes of the shim", counted: shim.written, most: 4 },
    { what: "synced by the shim", counted: shim.synced, most: 0 },
  ];
}

/** Without a gate: what the shim adds to this is measured with runs. */
async function startEnclosed(wrapper: readonly string[], inside: { cwd: string; env: Project["env"] }): Promise<void> {
  const stdio = ["inherit", "inherit", "inherit"] as const;
  const start = { bwrap: "bwrap", wrapper, command: ["true"], ...inside, stdio, detached: false, latch: undefined };
  const [code] = await once(spawnEnclosed(start).child, "exit");
  if (code !== 0) throw new Error(`bwrap ended with ${code}`);
}

async function compare(ready: Ready, what: string, sizes: Sizes): Promise<Result> {
  const { project, loom, record } = ready;
  const next = runFolders(ready);
  const inside = { cwd: worktreeOf(loom, record).path, env: project.env };
  const gates = await gatesOf(ready, next());
  const making: number[] = [];
  const times = await measurePairs({
    floor: () => timed(() => run("true", [], inside)),
    ours: async () => {
      const runDir = next();
      const start = performance.now();
      const { wrapper } = await enclosureIn(ready, runDir);
      making.push(performance.now() - start);
      await startEnclosed(wrapper, inside);
      const ms = performance.now() - start;
      await clearEnclosure(runDir);
      return ms;
    },
    pairs: sizes.pairs,
  });
  return result({
    name: "sandbox",
    what: `shadow, private home and a start of \`true\` in them; ${what}`,
    floorIs: "a start of `true`",
    gates,
    budget: { above: 60 },
    times,
    also: [{ what: "made in", value: percentile(making.slice(-sizes.pairs), 0.5), unit: "ms" }],
  });
}

export const sandbox: Bench = {
  name: "sandbox",
  missing: sandboxMissing,
  run: (sizes) =>
    inFolder(async (dir) => {
      const results: Result[] = [];
      for (const [at, place] of places(sizes).entries()) {
        const ready = await makeReady(join(dir, String(at)), place.project);
        try {
          results.push(await compare(ready, place.what, sizes));
        } finally {
          ready.loom.close();
        }
      }
      return results;
    }),
};
