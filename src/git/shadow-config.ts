import { homedir } from "node:os";
import { join } from "node:path";
import { readTextIfExists } from "../kernel/files.ts";
import { git } from "./run.ts";

/** One setting as git reads it, and whose it is. */
export interface GitSetting {
  readonly scope: string;
  /** Section and name in lower case, the subsection between them as written. */
  readonly key: string;
  /** Absent: the key stands alone, which means true. */
  readonly value?: string;
}

/** Where settings usually come from; git's own list of them is not asked for each run. */
function usualFiles(commonDir: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const home = env.HOME ?? homedir();
  const global = env.GIT_CONFIG_GLOBAL
    ? [env.GIT_CONFIG_GLOBAL]
    : [join(home, ".gitconfig"), join(env.XDG_CONFIG_HOME || join(home, ".config"), "git", "config")];
  return [join(commonDir, "config"), ...global, env.GIT_CONFIG_SYSTEM ?? "/etc/gitconfig"];
}

const INCLUDES = /^\s*\[\s*include/im;
const known = new Map<string, { readonly texts: string; readonly settings: Promise<GitSetting[]> }>();

/**
 * All settings that hold in a repository, includes resolved. Git is asked again when one of its usual files changed, and
 * every time when one of them includes others: who knows which.
 */
export async function readSettings(
  commonDir: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<GitSetting[]> {
  const texts = usualFiles(commonDir, env).map((file) => readTextIfExists(file) ?? "");
  if (texts.some((text) => INCLUDES.test(text))) return askGit(commonDir);
  const key = texts.join("\0");
  const remembered = known.get(commonDir);
  if (remembered?.texts === key) return remembered.settings;
  const settings = askGit(commonDir);
  known.set(commonDir, { texts: key, settings });
  settings.catch(() => known.delete(commonDir));
  return settings;
}

async function askGit(commonDir: string): Promise<GitSetting[]> {
  const args = ["config", "--list", "--show-scope", "--includes", "-z"];
  const { stdout } = await git(args, { cwd: commonDir, gitDir: commonDir });
  const fields = stdout.split("\0");
  const settings: GitSetting[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const scope = fields[index] ?? "";
    const entry = fields[index + 1] ?? "";
    const end = entry.indexOf("\n");
    // What we ourselves tell git on its command line is not the user's.
    if (scope === "command") continue;
    settings.push(end < 0 ? { scope, key: entry } : { scope, key: entry.slice(0, end), value: entry.slice(end + 1) });
  }
  return settings;
}

/** The last value of a key, as git takes it. */
export function settingOf(settings: readonly GitSetting[], key: string): string | undefined {
  return settings.findLast((setting) => setting.key === key)?.value;
}

const SECRET =
  /^(credential|include|includeif|sendemail)\.|(password|passwd|passphrase|token|secret|extraheader|cookiefile|sslkey)$/i;
const WEB_LOGIN = /\b((?:https?|ftps?):\/\/)[^/@\s]*@/gi;
const PASSWORD = /\b([a-z][a-z0-9+.-]*:\/\/[^/@:\s]*):[^/@\s]*@/gi;

/** The text without the logins that people write into addresses; `git@` of an ssh address is none. */
function withoutLogin(text: string): string {
  return text.replace(WEB_LOGIN, "$1").replace(PASSWORD, "$1@");
}

/** Of the settings of the repository itself those that are no secret, with logins taken out of addresses. */
export function publicSettings(settings: readonly GitSetting[]): GitSetting[] {
  return settings
    .filter(({ scope, key }) => scope === "local" && !SECRET.test(key) && key === withoutLogin(key))
    .map((setting) => (setting.value === undefined ? setting : { ...setting, value: withoutLogin(setting.value) }));
}

/** What of a user's own settings changes how an agent's git treats files and commits; none of it is a secret. */
const PERSONAL =
  /^(user\.(name|email)|core\.(autocrlf|eol|safecrlf|whitespace|hookspath|excludesfile|attributesfile|quotepath|symlinks|ignorecase|precomposeunicode)|init\.defaultbranch|pull\.|merge\.(conflictstyle|ff|renames)|diff\.(algorithm|renames|mnemonicprefix)|rebase\.(autosquash|autostash)|filter\.)/;

/** Of the settings of user and machine those that an agent's git is to have as well. */
export function personalSettings(settings: readonly GitSetting[]): GitSetting[] {
  return settings.filter(({ scope, key }) => scope !== "local" && scope !== "worktree" && PERSONAL.test(key));
}

/** Nobody is there to sign, and nothing is to run beside the agent or clear up after it. */
export const QUIET_SETTINGS: readonly GitSetting[] = [
  { scope: "local", key: "commit.gpgsign", value: "false" },
  { scope: "local", key: "tag.gpgsign", value: "false" },
  { scope: "local", key: "core.fsmonitor", value: "false" },
  { scope: "local", key: "gc.auto", value: "0" },
  { scope: "local", key: "maintenance.auto", value: "false" },
];

function quoted(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return `"${escaped}"`;
}

/** The settings as a file that git reads. */
export function renderSettings(settings: readonly GitSetting[]): string {
  const lines = settings.map(({ key, value }) => {
    const first = key.indexOf(".");
    const last = key.lastIndexOf(".");
    const section = key.slice(0, first);
    // In a subsection only these two are escaped; it cannot hold a line break.
    const sub = key
      .slice(first + 1, last)
      .replaceAll("\\", "\\\\")
      .replaceAll('"', '\\"');
    const header = first === last ? `[${section}]` : `[${section} "${sub}"]`;
    return `${header}\n\t${key.slice(last + 1)}${value === undefined ? "" : ` = ${quoted(value)}`}\n`;
  });
  return lines.join("");
}
