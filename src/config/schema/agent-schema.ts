import * as z from "zod";
import { ADAPTERS, type Stage } from "../agent-words.ts";
import { belowHome, count, text, texts, usually, variableName, yesOrNo } from "./fields.ts";

/** US dollars for a million tokens. */
const price = z.strictObject({
  input: z.number({ error: "must be a number" }).min(0),
  output: z.number({ error: "must be a number" }).min(0),
});

const agentFileSchema = z.strictObject({
  adapter: z
    .enum(ADAPTERS)
    .prefault("command")
    .describe("How the agent is started and understood. `command` runs any program, `acp` any that speaks ACP."),
  command: text
    .exactOptional()
    .describe("The program. With `command` it gets the prompt on its standard input; the others know their own."),
  args: z
    .array(z.string({ error: "must be a string" }), { error: "must be a list of strings" })
    .exactOptional()
    .describe("Arguments; for `opencode`, `claude` and `codex` in addition to prloom's own."),
  env: z.record(variableName, z.string()).prefault({}).describe("Added to the agent's environment."),
  /** Secrets are named, never written down. */
  passEnv: z
    .array(variableName, { error: "must be a list of names of environment variables" })
    .prefault([])
    .describe("Variables of your environment that this agent gets, such as its API key; all others it does not."),
  model: text.exactOptional(),
  sandbox: usually(
    z
      .enum(["auto", "bwrap", "none"])
      .describe("`auto`: where bubblewrap works; `bwrap`: never without it; `none`: with all your rights"),
    "auto",
  ),
  readable: texts
    .prefault([])
    .describe("Folders and files below your home that this agent may read in the sandbox, such as its program."),
  keeps: z
    .array(belowHome, { error: "must be a list of strings" })
    .prefault([])
    .describe("Paths below its home in the sandbox that stay from one run to the next, such as its conversations."),
  projectSettings: usually(
    yesOrNo.describe("Whether the program reads the repository's own settings and hooks for it"),
    false,
  ),
  session: usually(
    z
      .enum(["todo", "plan"])
      .describe("How far one conversation of the worker goes: one TODO with its attempts, or the whole plan"),
    "todo",
  ),
  maxRunning: count("Runs of this agent at the same time; no limit of its own unless given").exactOptional(),
  price: price
    .exactOptional()
    .describe("US dollars for a million tokens, for programs that do not tell what they cost."),
});
export type AgentFile = z.input<typeof agentFileSchema>;

/** An agent; an adapter that knows its program is called like it. */
export const agentSchema = agentFileSchema
  .transform(({ adapter, command = adapter, ...rest }) => ({ adapter, command, ...rest }))
  .describe("A coding agent.");

/** Names of agents in the order in which they are tried; never empty. */
export const agentNames = z
  .union([text, z.array(text, { error: "must be a list of strings" }).min(1, { error: "must name an agent" })], {
    error: "must be the name of an agent, or a list of names in the order in which they are tried",
  })
  .transform((names) => [names].flat())
  .describe("An agent; of several the first that is available.");

export const stageKeys = {
  designer: agentNames.exactOptional(),
  worker: agentNames.exactOptional(),
  triage: agentNames.exactOptional(),
  reviewer: agentNames.exactOptional(),
} satisfies Record<Stage, unknown>;
