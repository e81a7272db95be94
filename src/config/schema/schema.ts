import * as z from "zod";
import { enabledModules, overlayModules } from "../modules.ts";
import { agentNames, agentSchema, stageKeys } from "./agent-schema.ts";
import { anObject, count, duration, insideRepository, name, text, texts, usually, yesOrNo } from "./fields.ts";
import { gatesSchema, switchedOnSchema } from "./gates-schema.ts";
import { githubSchema } from "./github-schema.ts";
import { governanceSchema } from "./governance-schema.ts";
import { limitsOverlaySchema, limitsSchema } from "./limits-schema.ts";
import { globalModuleKeys, planModuleKeys, presetModuleKeys } from "./module-schema.ts";
import { notifySchema } from "./notify-schema.ts";
import { authorsSchema, writebackSchema } from "./people-schema.ts";
import { triggerSchema } from "./trigger-schema.ts";
import { withUnits } from "./units.ts";

const reviewChoice = z.enum(["off", "todo", "end"], { error: "must be off, todo or end" });
const review = usually(
  reviewChoice.describe(
    "When the reviewer reads what was done: after each TODO, before the plan is finished, or never",
  ),
  "off",
);

const presetFileSchema = z.strictObject({
  agents: z.record(name, agentSchema).prefault({}),
  stages: z.strictObject({ default: agentNames.exactOptional(), ...stageKeys }).prefault({}),
  checks: texts.exactOptional(),
  review: review.unwrap().exactOptional(),
  limits: limitsOverlaySchema.prefault({}),
  gates: switchedOnSchema.exactOptional(),
  ...presetModuleKeys,
});

const bus = z
  .strictObject({
    maxAttempts: usually(count("Calls of a handler that may throw before a record is a dead letter"), 10),
    retryMin: duration("1s", "First wait between attempts; doubles"),
    retryMax: duration("5m", "Longest wait between attempts"),
    maxAge: duration(
      "72h",
      "What cannot be delivered for this long, because its target cannot be reached, becomes a dead letter",
      {
        long: true,
      },
    ),
    hookTimeout: duration("5m", "A hook that takes longer has failed"),
    bridgeTimeout: duration("60s", "A bridge that takes longer has failed"),
    pollEvery: duration("30s", "How often bridges are asked for events", { least: "100ms" }),
    gatherReviews: duration("30s", "What comes of a review within this time is triaged together", { zero: true }),
  })
  .transform(withUnits);

const NO_PORT = "must be a whole number from 1024 to 65000";
const firstPort = z.int({ error: NO_PORT }).min(1024, { error: NO_PORT }).max(65_000, { error: NO_PORT });

/** `prloom/config.json` as people write it. */
const configFileSchema = z.strictObject({
  $schema: z.string().exactOptional(),
  forge: z
    .enum(["local", "github"])
    .prefault("local")
    .describe(
      "Where change requests live: on this machine, or as pull requests of the repository that `github` names.",
    ),
  baseBranch: text.exactOptional().describe("The branch that plans start from and are merged into."),
  worktreesDir: usually(text.describe("Where worktrees are made"), "prloom/.local/worktrees"),
  copyFiles: z
    .array(insideRepository, { error: "must be a list of strings" })
    .prefault([])
    .describe("Files that are copied into each new worktree, such as .env."),
  trustedFilters: texts
    .prefault([])
    .describe("Filters and merge drivers of your git config that may run, with your rights, on what agents wrote."),
  initCommands: texts.prefault([]).describe("Shell commands that prepare a new worktree."),
  ports: z
    .strictObject({ from: usually(firstPort.describe("The first of them"), 41_000) }, anObject)
    .prefault({})
    .describe("Each open plan has ten ports for its servers."),
  commit: z
    .strictObject(
      {
        signoff: usually(
          yesOrNo.describe("Whether commits say that you sign them off (DCO), with git's name of you"),
          false,
        ),
      },
      anObject,
    )
    .prefault({})
    .describe("What commits say."),
  checks: texts.prefault([]).describe("Shell commands that must succeed before a TODO is committed."),
  agents: z.record(name, agentSchema, { error: "must name at least one agent" }),
  stages: z.strictObject(
    { default: agentNames, ...stageKeys },
    { error: 'must name the agent to use: {"default": "…"}' },
  ),
  review,
  limits: limitsSchema.prefault({}),
  bus: bus.prefault({}),
  ...planModuleKeys,
  ...globalModuleKeys,
  triggers: z
    .array(triggerSchema, { error: "must be a list of triggers" })
    .prefault([])
    .describe("Events that make plans; the first that fits decides."),
  github: githubSchema.exactOptional().describe("The repository on GitHub whose issues become plans."),
  notify: notifySchema.prefault({ channels: {} }).describe("Where notifications go."),
  governance: governanceSchema.prefault({}).describe("What agents may do: roles, tools of MCP servers, secrets."),
  gates: gatesSchema.prefault({}).describe("When a person is asked before work goes on."),
  authors: authorsSchema
    .prefault({})
    .describe("What people may do who comment at a command line, by name; others may write."),
  writeback: writebackSchema.prefault({}).describe("What the source of a plan is told."),
  presets: z.record(name, presetFileSchema).prefault({}).describe("Named variations that a plan can ask for."),
  cleanAfter: duration("7d", "Worktrees of finished plans are removed after this", { zero: true, long: true }),
});

/** What the file says, with its plugins and bridges as they are on: for the file itself, and for plans with a preset. */
export const configSchema = configFileSchema.transform((written) => {
  const { $schema: _forEditors, pluginOrder, globalPluginOrder, presets, ...file } = written;
  const resolved = Object.entries(presets).map(([name, { pluginOrder: order = pluginOrder, ...preset }]) => {
    const plugins = enabledModules(overlayModules(file.plugins, preset.plugins), order);
    const bridges = enabledModules(overlayModules(file.bridges, preset.bridges));
    return [name, { ...preset, plugins, bridges }] as const;
  });
  const { gates, governance } = file;
  return {
    ...withUnits(file),
    // Whose signatures count is for people to say.
    governance: {
      ...governance,
      protected: [...governance.protected, ...(gates.signers === undefined ? [] : [gates.signers])],
    },
    plugins: enabledModules(file.plugins, pluginOrder),
    globalPlugins: enabledModules(file.globalPlugins, globalPluginOrder),
    bridges: enabledModules(file.bridges),
    globalBridges: enabledModules(file.globalBridges),
    presets: Object.fromEntries(resolved),
  };
});
