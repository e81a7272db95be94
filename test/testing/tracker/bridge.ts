import { defineBridge, trackerBridge } from "prloom/plugin";
import { openScripted, type ScriptedConfig } from "./scripted.ts";

// biome-ignore lint/style/noDefaultExport: prloom loads bridges by their default export
export default defineBridge<ScriptedConfig, string>((config) =>
  trackerBridge({ tracker: openScripted(config), target: "scripted", name: "the scripted tracker" }),
);
