import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { configWithoutAgents } from "../src/config/load.ts";
import { Brain } from "../src/governance/graph/brain.ts";
import { makeGraph, makeNode, makeWorkPlan } from "../src/governance/graph/make-graph.ts";
import type { TaskGraph } from "../src/governance/graph/schema.ts";
import { Journal } from "../src/governance/journal.ts";
import { makePolicy } from "../src/governance/policy/make-policy.ts";
import { type Role, roleNamed } from "../src/governance/policy/roles.ts";
import { server } from "../src/hosts/opencode/server.ts";
import type { OpenCodeClient, OpenCodeHooks } from "../src/hosts/opencode/types.ts";
import { GOVERNANCE_FILES, GOVERNANCE_VARIABLES } from "../src/hosts/run-governance.ts";
import { countCalls } from "./harness/counts.ts";
import { measurePairs, percentile, timed, timedSync } from "./harness/measure.ts";
import { inFolder } from "./harness/project.ts";
import { type Bench, type Result, result, type Sizes } from "./harness/result.ts";

const COMMON = { at: 1, session: "ses_1", role: "executor" };
/** Facts for which the second of the budget is meant. */
const PROMISED = 100_000;

function graphOf(tasks: number): TaskGraph {
  const nodes = Array.from({ length: tasks }, (_, at) =>
    makeNode({ id: `t${at}`, workPlanId: "p", name: `Task ${at}`, status: at === 0 ? "active" : "planned" }, 0),
  );
  return makeGraph([makeWorkPlan({ id: "p", name: "A plan", status: "active", tasks: nodes }, 0)]);
}

/** What agents mostly leave: seven of ten are work, two denials, one an anchor. */
function factOf(at: number, tasks: number): object {
  const key = `s:${at}`;
  if (at % 10 === 9)
    return {
      ...{ type: "anchored", key, ...COMMON },
      anchor: {
        ...{ id: `a${at % 500}`, content: "Keep it", priority: "high", entityType: "decision" },
        ...{ createdAt: 1, modifiedAt: 1 },
      },
    };
  if (at % 10 > 6) return { type: "denied", key, ...COMMON, tool: "bash", rule: "shell safety", call: `d${at % 300}` };
  return {
    ...{ type: "checkpoint", key, ...COMMON },
    checkpoint: {
      ...{ id: `c${at}`, taskNodeId: `t${at % tasks}`, tool: "write", timestamp: at, summary: `src/file${at}.ts` },
      ...{ filesModified: [`src/file${at % 50}.ts`], kind: "change", ok: true },
    },
  };
}

async function replay(dir: string, sizes: Sizes): Promise<Result> {
  const lines = Array.from({ length: sizes.events }, (_, at) => JSON.stringify(factOf(at, sizes.todos)));
  const file = join(dir, "facts.jsonl");
  writeFileSync(file, `${lines.join("\n")}\n`);
  const read = async (): Promise<Journal> => {
    const journal = new Journal(file, new Brain(graphOf(sizes.todos)));
    await journal.refresh();
    return journal;
  };
  const { problems, brain } = await read();
  const kept = brain.graph.workPlans[0]?.tasks.filter(({ checkpoints }) => checkpoints.length > 0).length ?? 0;
  return result({
    name: "brain",
    what: `replay of ${sizes.events} facts, ${sizes.todos} tasks`,
    floorIs: "parsing each line as JSON",
    gates: [
      { what: "facts that were not understood", counted: problems.length, most: 0 },
      { what: "tasks without evidence", counted: sizes.todos - kept, most: Math.ceil(sizes.todos * 0.3) },
    ],
    budget: sizes.events === PROMISED ? { ms: 1000 } : {},
    per: sizes.events,
    times: await measurePairs({
      floor: () => timedSync(() => lines.forEach((line) => void JSON.parse(line))),
      ours: () => timed(read),
      pairs: sizes.pairs,
    }),
  });
}

const CLIENT: OpenCodeClient = {
  session: {
    get: async ({ path: { id } }) => ({ data: { id } }),
    abort: async () => undefined,
    update: async () => undefined,
  },
};

/** The plugin of a run, in a repository of its own. */
async function pluginIn(dir: string, tasks: number): Promise<{ root: string; hooks: OpenCodeHooks }> {
  const root = join(dir, "worktree");
  const folder = join(dir, "governance");
  for (const each of [join(root, "src"), folder]) mkdirSync(each, { recursive: true });
  execFileSync("git", ["init", "-q", root]);
  const place = { root, home: dir, temporary: dir };
  const { governance } = configWithoutAgents();
  const policy = makePolicy(governance, { role: roleNamed("executor") as Role, node: "t0", place });
  writeFileSync(join(folder, GOVERNANCE_FILES.policy), JSON.stringify(policy));
  writeFileSync(join(folder, GOVERNANCE_FILES.graph), JSON.stringify(graphOf(tasks)));
  process.env[GOVERNANCE_VARIABLES.folder] = folder;
  process.env[GOVERNANCE_VARIABLES.facts] = join(dir, "agent-facts.jsonl");
  return { root, hooks: await server({ client: CLIENT }) };
}

const CALLS = [
  ["read", { filePath: "src/a.ts" }],
  ["edit", { filePath: "src/a.ts", oldString: "a", newString: "b" }],
  ["bash", { command: "npm test" }],
  ["bash", { command: "git status --short && grep -rn TODO src | head" }],
  ["write", { filePath: "src/b.ts", content: "x" }],
] as const;
const PER_PAIR = 20;
/** Code that is called all day is compiled before anything counts; the first call is told apart. */
const WARM_UP = 40;
/** What is found out after a call, in its own time, is over by then on a machine that is not busy; a model takes longer to answer. */
const PAUSE_MS = 40;

const BARE: OpenCodeHooks = {
  "tool.execute.before": async () => undefined,
  "tool.execute.after": async () => undefined,
};

type Call = (hooks: OpenCodeHooks) => Promise<number>;

/** Calls in turn, each with what it does to the worktree; gives how long the hooks around it took. */
function callsIn(root: string): { call: Call; denied(): number } {
  let [made, denied] = [0, 0];
  const call: Call = async (hooks) => {
    const [tool, args] = CALLS[made % CALLS.length] ?? CALLS[0];
    made += 1;
    const named = { tool, sessionID: "own", callID: `call-${made}` };
    if (tool === "write") writeFileSync(join(root, "src", "b.ts"), `${made}`);
    return timed(async () => {
      await hooks["tool.execute.before"]?.(named, { args }).catch(() => (denied += 1));
      await hooks["tool.execute.after"]?.(named, { output: "", metadata: { exit: 0 } });
    });
  };
  return { call, denied: () => denied };
}

interface Measured {
  readonly what: string;
  readonly pause: number;
  readonly hooks: OpenCodeHooks;
  readonly also: Result["also"];
}

async function hostCall({ call, denied }: ReturnType<typeof callsIn>, sizes: Sizes, row: Measured): Promise<Result> {
  const cpu: number[] = [];
  const { looked, opened } = await countCalls(async () => {
    for (const _ of CALLS) await call(row.hooks);
  });
  const times = await measurePairs({
    floor: () => call(BARE),
    ours: async () => {
      await setTimeout(row.pause);
      const before = process.cpuUsage();
      const ms = await call(row.hooks);
      const { user, system } = process.cpuUsage(before);
      cpu.push((user + system) / 1000);
      return ms;
    },
    pairs: sizes.pairs * PER_PAIR,
  });
  return result({
    name: "brain",
    what: `our hooks around a call of a tool in OpenCode, ${row.what}, ${sizes.todos} tasks`,
    floorIs: "hooks that do nothing",
    gates: [
      { what: "calls denied", counted: denied(), most: 0 },
      // One is written by the calls themselves.
      { what: "files opened by hooks", counted: opened - 1, most: 0 },
      { what: "files looked at per call", counted: Math.ceil(looked / CALLS.length), most: 20 },
    ],
    budget: { p99: 2 },
    times,
    // On a busy machine the slowest ones are those during which another program had its turn.
    also: [{ what: "p99 of CPU time", value: percentile(cpu, 0.99), unit: "ms" }, ...(row.also ?? [])],
  });
}

async function hostCalls(dir: string, sizes: Sizes): Promise<Result[]> {
  const { root, hooks } = await pluginIn(dir, sizes.todos);
  const calls = callsIn(root);
  const first = await calls.call(hooks);
  const warmUp = sizes.pairs === 0 ? 0 : WARM_UP;
  for (let round = 0; round < warmUp; round += 1) await calls.call(hooks);
  await setTimeout(warmUp * PAUSE_MS);
  const also = [{ what: "the first call", value: first, unit: "ms" }] as const;
  return [
    await hostCall(calls, sizes, { what: "one after the other", pause: PAUSE_MS, hooks, also }),
    await hostCall(calls, sizes, { what: "without a pause", pause: 0, hooks, also: [] }),
  ];
}

export const brain: Bench = {
  name: "brain",
  run: (sizes) => inFolder(async (dir) => [await replay(dir, sizes), ...(await hostCalls(dir, sizes))]),
};
