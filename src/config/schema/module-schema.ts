import * as z from "zod";
import { anObject, durationLike, moduleName, text, yesOrNo } from "./fields.ts";
import { withUnits } from "./units.ts";

const settings = {
  enabled: yesOrNo.exactOptional().describe("false is off. true"),
  config: z.record(z.string(), z.json(), anObject).exactOptional().describe("What the module gets as its config."),
};
const modulePath = text.describe("`./…` from the top of the repository, else the name of a package.");

const plugin = z.strictObject({ module: modulePath, ...settings }, anObject);
const presetPlugin = z.strictObject({ module: modulePath.exactOptional(), ...settings }, anObject);
const bridge = z
  .strictObject(
    {
      module: modulePath.exactOptional(),
      ...settings,
      pollEvery: durationLike("30s", { least: "100ms" })
        .exactOptional()
        .describe("How often it is asked for events; else bus.pollEvery."),
    },
    anObject,
  )
  .transform(withUnits);

const order = z
  .array(z.string({ error: "must be a string" }), { error: "must be a list of names of plugins" })
  .describe("Plugins that are called first, in this order; the others follow as they are declared.");

export const planModuleKeys = {
  plugins: z.record(moduleName, plugin, anObject).prefault({}).describe("Plugins for plans."),
  pluginOrder: order.exactOptional(),
  bridges: z.record(moduleName, bridge, anObject).prefault({}).describe("Bridges for plans."),
};
export const globalModuleKeys = {
  globalPlugins: z.record(moduleName, plugin, anObject).prefault({}).describe("Plugins for the repository."),
  globalPluginOrder: order.exactOptional(),
  globalBridges: z.record(moduleName, bridge, anObject).prefault({}).describe("Bridges for the repository."),
};
export const presetModuleKeys = {
  plugins: z.record(moduleName, presetPlugin, anObject).prefault({}),
  pluginOrder: order.exactOptional(),
  bridges: z.record(moduleName, bridge, anObject).prefault({}),
};

/** A plugin or a bridge as the file or a preset declares it. */
export type ModuleFile = z.output<typeof bridge>;
