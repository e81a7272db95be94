import { delimiter, isAbsolute, join } from "node:path";
import type { Environment } from "../kernel/system/environment.ts";
import { isExecutable, trustedPath } from "../kernel/system/find-program.ts";

/**
 * What git needs of our environment to find the user's configuration, speak their language and reach a server; the last
 * one tells whose a git is that outlived a killed dispatcher. Filters and whatever else git starts inherit it, so a token
 * has no business there. Of the variables called GIT_* all others change what git acts on.
 */
const PASSED =
  /^(HOME|USER|LOGNAME|EMAIL|SUDO_UID|TZ|TMPDIR|LANG|LANGUAGE|LC_[A-Z]+|XDG_CONFIG_HOME|XDG_CACHE_HOME|SSL_CERT_(FILE|DIR)|CURL_CA_BUNDLE|(HTTPS?|ALL|NO)_PROXY|GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL)|PRLOOM_OWNER)$/i;

/** The variables that every git of ours gets. */
export function passedVariables(env: Environment = process.env): Record<string, string> {
  const passed: Record<string, string> = {};
  // Not by entries: of the process's own environment each value is asked of the system.
  for (const name of Object.keys(env)) {
    const value = PASSED.test(name) ? env[name] : undefined;
    if (value !== undefined) passed[name] = value;
  }
  return { ...passed, PATH: trustedPath(env.PATH) };
}

let found: { readonly path: string; readonly file: string } | undefined;

/** The git that is meant, as an absolute file; undefined when no entry of PATH that counts has one. */
export function gitProgram(folders = trustedPath(process.env.PATH)): string | undefined {
  if (found?.path === folders) return found.file;
  const file = folders
    .split(delimiter)
    .map((folder) => join(folder, "git"))
    .find((candidate) => isAbsolute(candidate) && isExecutable(candidate));
  if (file !== undefined) found = { path: folders, file };
  return file;
}
