import * as z from "zod";
import { DURATION_PATTERN, parseDuration, parseSize, SIZE_PATTERN } from "./units.ts";

/** Node's timers fire at once when asked to wait longer than this. */
const LONGEST_TIMER_MS = 24 * 86_400_000;

interface DurationRule {
  readonly example: string;
  readonly description: string;
  /** Zero makes sense, and no timer is started with it. */
  readonly zero?: boolean;
  readonly long?: boolean;
}

function duration({ example, description, zero = false, long = false }: DurationRule) {
  return z
    .string({ error: `must be a text with a unit, like "${example}"` })
    .regex(DURATION_PATTERN, { error: `must be a number with a unit (ms, s, m, h, d), like "${example}"` })
    .refine((text) => zero || parseDuration(text) !== 0, { error: `must be more than 0, like "${example}"` })
    .refine((text) => long || (parseDuration(text) ?? 0) <= LONGEST_TIMER_MS, { error: "must not be more than 24d" })
    .describe(description);
}

function size(example: string, description: string) {
  return z
    .string({ error: `must be a text with a unit, like "${example}"` })
    .regex(SIZE_PATTERN, { error: `must be a number with a unit (B, KB, MB, GB), like "${example}"` })
    .refine((text) => parseSize(text) !== 0, { error: `must be more than 0, like "${example}"` })
    .describe(description);
}

function count(description: string) {
  const error = "must be a whole number of 1 or more";
  return z.int({ error }).min(1, { error }).describe(description);
}

const text = z
  .string({ error: "must be a text" })
  .refine((value) => value.trim() !== "", { error: "must not be empty" });
const texts = z.array(text, { error: "must be a list of texts" });
const name = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, { error: "names have letters, digits, . _ and - only" });
const insideRepository = text.refine(
  (path) => !/^([/\\]|[A-Za-z]:)/.test(path) && !path.split(/[/\\]/).includes(".."),
  {
    error: "must be a path below the repository, without ..",
  },
);

const agent = z
  .strictObject({
    adapter: z.enum(["command"]).optional().describe("How the agent is started. `command` runs any program."),
    command: text.describe("The program; it gets the prompt on its standard input."),
    args: z.array(z.string({ error: "must be a text" }), { error: "must be a list of texts" }).optional(),
    env: z
      .record(
        z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: "is no name for an environment variable" }),
        z.string(),
      )
      .optional()
      .describe("Added to the agent's environment."),
    passEnv: z
      .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: "is no name for an environment variable" }), {
        error: "must be a list of names of environment variables",
      })
      .optional()
      .describe("Variables of your environment that this agent gets, such as its API key; all others it does not."),
    model: text.optional(),
    sandbox: z.enum(["none", "auto"]).optional(),
  })
  .describe("A coding agent.");

const stages = { designer: text.optional(), worker: text.optional(), triage: text.optional() };

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
  maxDeletions: z
    .strictObject({
      files: z.int({ error: "must be a whole number" }).min(0).optional(),
      percent: z.number({ error: "must be a number" }).min(0).max(100).optional(),
    })
    .optional()
    .describe("A TODO that deletes more files than this blocks its plan. 200 files, 20 percent"),
});

export const limitsSchema = limits;

const preset = z.strictObject({
  agents: z.record(name, agent).optional(),
  stages: z.strictObject({ default: text.optional(), ...stages }).optional(),
  checks: texts.optional(),
  limits: limits.optional(),
});

/** `prloom/config.json` as people write it. */
export const configFileSchema = z.strictObject({
  $schema: z.string().optional(),
  forge: z.enum(["local"]).optional().describe("Where change requests live."),
  baseBranch: text.optional().describe("The branch that plans start from and are merged into."),
  worktreesDir: text.optional().describe("Where worktrees are made. prloom/.local/worktrees"),
  copyFiles: z
    .array(insideRepository, { error: "must be a list of texts" })
    .optional()
    .describe("Files that are copied into each new worktree, such as .env."),
  initCommands: texts.optional().describe("Shell commands that prepare a new worktree."),
  checks: texts.optional().describe("Shell commands that must succeed before a TODO is committed."),
  agents: z.record(name, agent, { error: "must name at least one agent" }),
  stages: z.strictObject({ default: text, ...stages }, { error: 'must name the agent to use: {"default": "…"}' }),
  limits: limits.optional(),
  bus: z
    .strictObject({
      maxAttempts: count("Calls of a handler that may throw before a record is a dead letter. 10").optional(),
      retryMin: duration({ example: "1s", description: "First wait between attempts; doubles. 1s" }).optional(),
      retryMax: duration({ example: "5m", description: "Longest wait between attempts. 5m" }).optional(),
    })
    .optional(),
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
