import { join } from "node:path";
import type { GitHubAppSettings } from "../config/schema/github-schema.ts";
import { errnoOf } from "../kernel/errors.ts";
import { readCheckedOut } from "../kernel/files.ts";
import type { Environment } from "../kernel/system/environment.ts";
import { homeFolder } from "../kernel/system/user.ts";
import type { MissingToken } from "./client/tokens.ts";

/** Keys have two or three thousand characters. */
const MAX_KEY_BYTES = 64 * 1024;

/** Where the config says the key of its app lies; undefined where a variable holds it. */
export function keyFileOf({ privateKeyFile: file }: GitHubAppSettings, environment: Environment): string | undefined {
  return file?.startsWith("~/") ? join(homeFolder(environment), file.slice(2)) : file;
}

/** Reads it anew each time, so that it is in memory only while something is signed. */
export function readKey(app: GitHubAppSettings, environment: Environment): string | MissingToken {
  const { privateKeyEnv: variable } = app;
  // Where lines cannot be set, they are written with backslashes.
  if (variable !== undefined)
    return environment[variable]?.replaceAll("\\n", "\n").trim() || { missing: `${variable} is not set` };
  const file = keyFileOf(app, environment) ?? "";
  try {
    return readCheckedOut(file, MAX_KEY_BYTES) ?? { missing: `${file} (github.app.privateKeyFile) does not exist` };
  } catch (error) {
    const code = errnoOf(error);
    return { missing: `${file} (github.app.privateKeyFile) cannot be read${code === undefined ? "" : `: ${code}`}` };
  }
}
