import * as z from "zod";
import { belowHome, count, duration, insideRepository, name, size, text, texts, variableName } from "./fields.ts";
import { globalModuleKeys, planModuleKeys, presetModuleKeys } from "./module-schema.ts";
import { notifySchema } from "./notify-schema.ts";
import { triggerSchema } from "./trigger-schema.ts";

/** Adapters; the programs of all but `command` and `acp` are known. */
export const ADAPTERS = ["command", "opencode", "claude", "codex", "acp"] as const;

const agent = z
  .strictObject({
    adapter: z
      .enum(ADAPTERS)
      .optional()
      .describe("How the agent is started and understood. `command` runs any program, `acp` any that speaks ACP."),
    command: text
      .optional()
      .describe("The program. With `command` it gets the prompt on its standard input; the others know their own."),
    args: z
      .array(z.string({ error: "must be a string" }), { error: "must be a list of strings" })
      .optional()
      .describe("Arguments; for `opencode`, `claude` and `codex` in addition to prloom's own."),
    env: z.record(variableName, z.string()).optional().describe("Added to the agent's environment."),
    passEnv: z
      .array(variableName, { error: "must be a list of names of environment variables" })
      .optional()
      .describe("Variables of your environment that this agent gets, such as its API key; all others it does not."),
    model: text.optional(),
    sandbox: z
      .enum(["auto", "bwrap", "none"])
      .optional()
      .describe("`auto`: where bubblewrap works; `bwrap`: never without it; `none`: with all your rights. auto"),
    readable: texts
      .optional()
      .describe("Folders and files below your home that this agent may read in the sandbox, such as its program."),
    keeps: z
      .array(belowHome, { error: "must be a list of strings" })
      .optional()
      .describe("Paths below its home in the sandbox that stay from one run to the next, such as its conversations."),
    projectSettings: z
      .boolean({ error: "must be true or false" })
      .optional()
      .describe("Whether the program reads the repository's own settings and hooks for it. false"),
    session: z
      .enum(["todo", "plan"])
      .optional()
      .describe("How far one conversation of the worker goes: one TODO with its attempts, or the whole plan. todo"),
    maxRunning: count("Runs of this agent at the same time; no limit of its own unless given").optional(),
    price: z
      .strictObject({
        input: z.number({ error: "must be a number" }).min(0),
        output: z.number({ error: "must be a number" }).min(0),
      })
      .optional()
      .describe("US dollars for a million tokens, for programs that do not tell what they cost."),
  })
  .describe("A coding agent.");

const agentNames = z
  .union([text, z.array(text, { error: "must be a list of strings" }).min(1, { error: "must name an agent" })], {
    error: "must be the name of an agent, or a list of names in the order in which they are tried",
  })
  .describe("An agent; of several the first that is available.");

const stages = {
  designer: agentNames.optional(),
  worker: agentNames.optional(),
  triage: agentNames.optional(),
  reviewer: agentNames.optional(),
};

const amount = z.number({ error: "must be a number" }).positive({ error: "must be more than 0" });

const budget = z.strictObject(
  {
    tokens: count("Tokens, read and written together").optional(),
    usd: amount.describe("US dollars, as programs tell them or as `agents.<name>.price` says").optional(),
    minutes: amount.describe("Minutes that agents work").optional(),
  },
  { error: (issue) => (issue.code === "invalid_type" ? 'must be an object such as {"tokens": 1000000}' : undefined) },
);

const limits = z.strictObject({
  maxRunningAgents: count("Agents that run at the same time. 3").optional(),
  maxOpenPlans: count("Plans that are activated at the same time. 20").optional(),
  attemptsPerTodo: count("Runs that a TODO gets before its plan is blocked. 3").optional(),
  runTimeout: duration({ example: "2h", description: "A run that takes longer is ended. 2h" }).optional(),
  silenceTimeout: duration({
    example: "30m",
    description: "A run that prints nothing this long is ended. 30m",
  }).optional(),
  checkTimeout: duration({ example: "15m", description: "A check that takes longer has failed. 15m" }).optional(),
  stopGrace: duration({
    example: "5s",
    description: "Between asking a program to end and killing it. 5s",
    zero: true,
  }).optional(),
  maxOutput: size("16MB", "Output of a run that is kept. 16MB").optional(),
  maxProcesses: count("Processes and threads that a run may have at the same time. 2048").optional(),
  maxDeletions: z
    .strictObject({
      files: z.int({ error: "must be a whole number" }).min(0).optional(),
      percent: z.number({ error: "must be a number" }).min(0).max(100).optional(),
    })
    .optional()
    .describe("A TODO that deletes more files than this blocks its plan. 200 files, 20 percent"),
  budget: budget.optional().describe("What the agents of one plan may spend; then it is blocked. No limit"),
  dailyBudget: budget.optional().describe("What all agents may spend in one day; then none is started. No limit"),
  reviewRounds: count("How often the reviewer may send one TODO back. 2").optional(),
});

export const limitsSchema = limits;

const review = z
  .enum(["off", "todo", "end"], { error: "must be off, todo or end" })
  .describe("When the reviewer reads what was done: after each TODO, before the plan is finished, or never. off");

const preset = z.strictObject({
  agents: z.record(name, agent).optional(),
  stages: z.strictObject({ default: agentNames.optional(), ...stages }).optional(),
  checks: texts.optional(),
  review: review.optional(),
  limits: limits.optional(),
  ...presetModuleKeys,
});

const bus = z.strictObject({
  maxAttempts: count("Calls of a handler that may throw before a record is a dead letter. 10").optional(),
  retryMin: duration({ example: "1s", description: "First wait between attempts; doubles. 1s" }).optional(),
  retryMax: duration({ example: "5m", description: "Longest wait between attempts. 5m" }).optional(),
  maxAge: duration({
    example: "72h",
    description: "What cannot be delivered for so long, because the way there is broken, is a dead letter. 72h",
    long: true,
  }).optional(),
  hookTimeout: duration({ example: "5m", description: "A hook that takes longer has failed. 5m" }).optional(),
  bridgeTimeout: duration({ example: "60s", description: "A bridge that takes longer has failed. 60s" }).optional(),
  pollEvery: duration({
    example: "30s",
    description: "How often bridges are asked for events. 30s",
    least: "100ms",
  }).optional(),
});

/** `prloom/config.json` as people write it. */
export const configFileSchema = z.strictObject({
  $schema: z.string().optional(),
  forge: z.enum(["local"]).optional().describe("Where change requests live."),
  baseBranch: text.optional().describe("The branch that plans start from and are merged into."),
  worktreesDir: text.optional().describe("Where worktrees are made. prloom/.local/worktrees"),
  copyFiles: z
    .array(insideRepository, { error: "must be a list of strings" })
    .optional()
    .describe("Files that are copied into each new worktree, such as .env."),
  trustedFilters: texts
    .optional()
    .describe("Filters and merge drivers of your git config that may run, with your rights, on what agents wrote."),
  initCommands: texts.optional().describe("Shell commands that prepare a new worktree."),
  checks: texts.optional().describe("Shell commands that must succeed before a TODO is committed."),
  agents: z.record(name, agent, { error: "must name at least one agent" }),
  stages: z.strictObject({ default: agentNames, ...stages }, { error: 'must name the agent to use: {"default": "…"}' }),
  review: review.optional(),
  limits: limits.optional(),
  bus: bus.optional(),
  ...planModuleKeys,
  ...globalModuleKeys,
  triggers: z
    .array(triggerSchema, { error: "must be a list of triggers" })
    .optional()
    .describe("Events that make plans; the first that fits decides."),
  notify: notifySchema.optional().describe("Where notifications go."),
  presets: z.record(name, preset).optional().describe("Named variations that a plan can ask for."),
  cleanAfter: duration({
    example: "7d",
    description: "Worktrees of finished plans are removed after this. 7d",
    zero: true,
    long: true,
  }).optional(),
});
export type ConfigFile = z.infer<typeof configFileSchema>;
export type LimitsFile = z.infer<typeof limits>;
export type AgentFile = z.infer<typeof agent>;
export type BusFile = z.infer<typeof bus>;
export type PresetFile = z.infer<typeof preset>;
