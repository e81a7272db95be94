import * as z from "zod";
import { anObject, duration, moduleName, text, yesOrNo } from "./fields.ts";

const settings = {
  enabled: yesOrNo.optional().describe("false is off. true"),
  config: z.record(z.string(), z.json(), anObject).optional().describe("What the module gets as its config."),
};
const modulePath = text.describe("`./…` from the top of the repository, else the name of a package.");

const plugin = z.strictObject({ module: modulePath, ...settings }, anObject);
const presetPlugin = z.strictObject({ module: modulePath.optional(), ...settings }, anObject);
const bridge = z.strictObject(
  {
    module: modulePath.optional(),
    ...settings,
    pollEvery: duration({
      example: "30s",
      description: "How often it is asked for events; else bus.pollEvery.",
      least: "100ms",
    }).optional(),
  },
  anObject,
);

const order = z
  .array(z.string({ error: "must be a string" }), { error: "must be a list of names of plugins" })
  .describe("Plugins that are called first, in this order; the others follow as they are declared.");

export const planModuleKeys = {
  plugins: z.record(moduleName, plugin, anObject).optional().describe("Plugins for plans."),
  pluginOrder: order.optional(),
  bridges: z.record(moduleName, bridge, anObject).optional().describe("Bridges for plans."),
};
export const globalModuleKeys = {
  globalPlugins: z.record(moduleName, plugin, anObject).optional().describe("Plugins for the repository."),
  globalPluginOrder: order.optional(),
  globalBridges: z.record(moduleName, bridge, anObject).optional().describe("Bridges for the repository."),
};
export const presetModuleKeys = {
  plugins: z.record(moduleName, presetPlugin, anObject).optional(),
  pluginOrder: order.optional(),
  bridges: z.record(moduleName, bridge, anObject).optional(),
};

export type ModuleFile = z.infer<typeof bridge>;
