import { knownKeys } from "../schema/json-schema.ts";
import { isKeyOfLaterVersion, NOT_YET } from "../schema/not-yet.ts";
import { didYouMean, nearest } from "./nearest.ts";

type KeyPath = readonly PropertyKey[];

const SECRETS: Readonly<Record<string, string>> = {
  url: "this file is committed: put the address into an environment variable and name that with urlEnv",
  headers: "this file is committed: put the values into environment variables and name those with headersEnv",
};

/** Keys that a user might well expect here, and why they are not. */
function explained(path: KeyPath, key: string): string | undefined {
  if (isKeyOfLaterVersion(path, key)) return NOT_YET;
  if (path[0] === "presets" && path.length === 2 && knownKeys([]).includes(key)) {
    return "presets cannot change this: it is for the whole repository";
  }
  return path[0] === "notify" && path[1] === "channels" && path.length === 3 ? SECRETS[key] : undefined;
}

/** What to say about a key that the schema does not know. */
export function unknownKey(path: KeyPath, key: string): { message: string; nearest?: string } {
  const message = explained(path, key);
  if (message !== undefined) return { message };
  const guess = nearest(key, knownKeys(path));
  return { message: `unknown key${didYouMean(guess)}`, ...(guess === undefined ? {} : { nearest: guess }) };
}
