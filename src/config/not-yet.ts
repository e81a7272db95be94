/** What the design has and this version does not. Refused by name: "unknown key" would send people looking for a typo. */
const KEYS = new Set([
  "bridges",
  "globalBridges",
  "plugins",
  "pluginOrder",
  "globalPlugins",
  "globalPluginOrder",
  "gates",
  "writeback",
  "triggers",
  "webhooks",
  "notify",
  "governance",
  "server",
]);
const PRESET_KEYS = new Set(["models", "plugins", "bridges", "gates"]);
const VALUES: Readonly<Record<string, readonly string[]>> = {
  forge: ["github"],
  adapter: ["opencode", "claude", "codex"],
  sandbox: ["bwrap"],
};

/** Whether a key that the schema does not know is one that a later version will. */
export function isKeyOfLaterVersion(path: readonly PropertyKey[], key: string): boolean {
  if (path.length === 0) return KEYS.has(key);
  if (path[0] === "presets" && path.length === 2) return PRESET_KEYS.has(key);
  if (path.at(-2) === "agents") return key === "readable";
  return path.at(-1) === "stages" && key === "reviewer";
}

/** Whether a value that the schema refuses is one that a later version will accept. */
export function isValueOfLaterVersion(path: readonly PropertyKey[], value: unknown): boolean {
  return typeof value === "string" && (VALUES[String(path.at(-1))]?.includes(value) ?? false);
}
