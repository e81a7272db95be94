import { knownKeys } from "../schema/json-schema.ts";
import { didYouMean } from "./nearest.ts";

type KeyPath = readonly PropertyKey[];

/** What is planned and not in this version. Refused by name: "unknown key" would send people looking for a typo. */
const LATER_KEYS = new Set(["webhooks", "server"]);
const LATER_PRESET_KEYS = new Set(["models"]);

const SECRETS: Readonly<Record<string, string>> = {
  url: "this file is committed: put the address into an environment variable and name that with urlEnv",
  headers: "this file is committed: put the values into environment variables and name those with headersEnv",
};

/** Keys that a user might well expect here, and why they are not. */
function explained(path: KeyPath, key: string): string | undefined {
  const isPreset = path[0] === "presets" && path.length === 2;
  if ((path.length === 0 && LATER_KEYS.has(key)) || (isPreset && LATER_PRESET_KEYS.has(key)))
    return "not available in this version";
  if (isPreset && knownKeys([]).includes(key)) {
    return "presets cannot change this: it is for the whole repository";
  }
  return path[0] === "notify" && path[1] === "channels" && path.length === 3 ? SECRETS[key] : undefined;
}

/** What to say about a key that the schema does not know. */
export function unknownKey(path: KeyPath, key: string): string {
  const known = knownKeys(path);
  // At the top there are too many to read.
  const all = path.length > 0 && known.length > 0 ? `, there are ${known.join(", ")}` : "";
  return explained(path, key) ?? `unknown key${didYouMean(key, known) || all}`;
}
