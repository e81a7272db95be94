/** What is planned and not in this version. Refused by name: "unknown key" would send people looking for a typo. */
const KEYS = new Set(["webhooks", "server"]);
const PRESET_KEYS = new Set(["models"]);

export const NOT_YET = "not available in this version";

/** Whether a key that the schema does not know is one that a later version will. */
export function isKeyOfLaterVersion(path: readonly PropertyKey[], key: string): boolean {
  if (path.length === 0) return KEYS.has(key);
  return path[0] === "presets" && path.length === 2 && PRESET_KEYS.has(key);
}
