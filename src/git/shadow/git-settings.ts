import { statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Environment } from "../../kernel/system/environment.ts";
import { homeFolder } from "../../kernel/system/user.ts";
import { git } from "../run.ts";

/** One setting as git reads it, and whose it is. */
export interface GitSetting {
  readonly scope: string;
  /** Section and name in lower case, the subsection between them as written. */
  readonly key: string;
  /** Absent: the key stands alone, which means true. */
  readonly value?: string;
  /** Where it stands. */
  readonly file?: string;
}

/** Where settings usually come from, whether there are any yet or not. */
function usualFiles(commonDir: string, env: Environment): string[] {
  const home = homeFolder(env);
  const global = env.GIT_CONFIG_GLOBAL
    ? [env.GIT_CONFIG_GLOBAL]
    : [join(home, ".gitconfig"), join(env.XDG_CONFIG_HOME || join(home, ".config"), "git", "config")];
  return [join(commonDir, "config"), ...global, env.GIT_CONFIG_SYSTEM ?? "/etc/gitconfig"];
}

/** What changes when one of the files is written, made or removed. */
function stateOf(files: readonly string[]): string {
  const states = files.map((file) => {
    const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? "-" : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
  });
  return states.join("\n");
}

interface Known {
  readonly files: readonly string[];
  readonly state: string;
  readonly settings: GitSetting[];
}

const known = new Map<string, Known>();
const asking = new Map<string, Promise<GitSetting[]>>();

/** All settings that hold in a repository, includes resolved. Git is asked again only when one of their files changed. */
export async function readSettings(commonDir: string, env: Environment = process.env): Promise<GitSetting[]> {
  const usual = usualFiles(commonDir, env);
  const key = [commonDir, ...usual].join("\n");
  const remembered = known.get(key);
  if (remembered && remembered.state === stateOf(remembered.files)) return remembered.settings;
  // Several ask at once, and one answer does for them all.
  const underWay = asking.get(key) ?? learn(key, { commonDir, usual, env }).finally(() => asking.delete(key));
  asking.set(key, underWay);
  return underWay;
}

async function learn(
  key: string,
  { commonDir, usual, env }: { commonDir: string; usual: readonly string[]; env: Environment },
): Promise<GitSetting[]> {
  const before = stateOf(usual);
  const { settings, files } = await askGit(commonDir, env);
  const watched = [...new Set([...usual, ...files])];
  // Written while git read it: which of the two it read is unknown, so git is asked again.
  const state = before === stateOf(usual) ? stateOf(watched) : "unsettled";
  known.set(key, { files: watched, state, settings });
  return settings;
}

async function askGit(commonDir: string, env: Environment): Promise<{ settings: GitSetting[]; files: string[] }> {
  const args = ["config", "--list", "--show-scope", "--show-origin", "--includes", "-z"];
  const { stdout } = await git(args, { cwd: commonDir, gitDir: commonDir });
  const fields = stdout.split("\0");
  const settings: GitSetting[] = [];
  // A condition of an include may be the branch.
  const files = [join(commonDir, "HEAD")];
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const [scope = "", origin = "", entry = ""] = fields.slice(index, index + 3);
    const end = entry.indexOf("\n");
    // What we ourselves tell git on its command line is not the user's.
    if (scope === "command") continue;
    const file = resolve(commonDir, origin.replace(/^file:/, ""));
    const setting: GitSetting =
      end < 0 ? { scope, key: entry, file } : { scope, key: entry.slice(0, end), value: entry.slice(end + 1), file };
    settings.push(setting);
    files.push(file);
    if (/^include(if\..*)?\.path$/.test(setting.key)) files.push(includedFile(setting.value ?? "", file, env));
  }
  return { settings, files };
}

/** Also of one that is not there yet, or whose condition does not hold yet. */
function includedFile(path: string, from: string, env: Environment): string {
  return path.startsWith("~/") ? join(homeFolder(env), path.slice(2)) : resolve(dirname(from), path);
}

/** The last value of a key, as git takes it. */
export function settingOf(settings: readonly GitSetting[], key: string): string | undefined {
  return settings.findLast((setting) => setting.key === key)?.value;
}

/**
 * What of a repository's own settings an agent's git is to have. People keep passwords and tokens in all the others, also in
 * commands: so a list of what is shown, and not of what is hidden.
 */
const PUBLIC =
  /^(user\.(name|email|useconfigonly)|author\.(name|email)|committer\.(name|email)|core\.(?!sshcommand$|askpass$|gitproxy$|alternaterefscommand$|editor$|pager$|fsmonitor$)[^.]*|extensions\.[^.]*|branch\..*|remote\..*\.(url|pushurl|fetch|push|tagopt|prune|promisor|partialclonefilter)|submodule\..*\.(url|path|active|branch|update|ignore)|url\..*\.(insteadof|pushinsteadof)|http\.(proxy|sslverify|sslcainfo|version|postbuffer)|(diff|merge|pull|push|rebase|status|log|commit|checkout|fetch|index|pack|repack|gc|feature|color|column|i18n|apply|stash|rerere|submodule|advice|init|tag|grep|format|worktree|versionsort|lfs)\.[^.]*)$/;

/** Of those in the list: what names a program or may hold a secret all the same. */
const NEVER =
  /(command|program|helper|driver|textconv|external|tool|template|signature|gpgsign|password|passwd|passphrase|token|secret|auth|apikey|headers?|cookie|pwd|pass|key)$/;

const LOGIN = /\b((?:https?|ftps?):\/\/)[^/@\s]*@/gi;
const PASSWORD = /\b([a-z][a-z0-9+.-]*:\/\/[^/@:\s]*):[^/@\s]*@/gi;
/** Where an address goes on after its path; tokens stand there. */
const QUERY = /(?<!\S)([^\s?#]*)[?#]\S*$/;

/** An address without the login and the token that people write into it; `git@` of an ssh address is none. */
function withoutLogin(text: string): string {
  return text.replace(LOGIN, "$1").replace(PASSWORD, "$1@");
}

function shownValue(key: string, value: string): string {
  return /url$/.test(key) ? withoutLogin(value).replace(QUERY, "$1") : withoutLogin(value);
}

/** Those of the repository's own settings that are not secret, with logins taken out of addresses. */
export function publicSettings(settings: readonly GitSetting[]): GitSetting[] {
  return settings
    .filter(({ scope, key, value }) => scope === "local" && (isPublic(key) || isLfs(key, value)))
    .map((setting) =>
      setting.value === undefined ? setting : { ...setting, value: shownValue(setting.key, setting.value) },
    );
}

function isPublic(key: string): boolean {
  return PUBLIC.test(key) && !NEVER.test(key) && key === withoutLogin(key) && !/^url\..*[?#]/.test(key);
}

/** The filter of git-lfs, whose commands hold no secret; with others an agent's git does without. */
function isLfs(key: string, value: string | undefined): boolean {
  return /^filter\.lfs\./.test(key) && /^(git-lfs [a-z -]+(%f)?|true|false)$/.test(value ?? "true");
}

/** What of a user's own settings changes how an agent's git treats files and commits; none of it is a secret. */
const PERSONAL =
  /^(user\.(name|email)|core\.(autocrlf|eol|safecrlf|whitespace|hookspath|excludesfile|attributesfile|quotepath|symlinks|ignorecase|precomposeunicode)|init\.defaultbranch|pull\.(rebase|ff|octopus|twohead)|merge\.(conflictstyle|ff|renames)|diff\.(algorithm|renames|mnemonicprefix)|rebase\.(autosquash|autostash))$/;

/** Of the settings of user and machine those that an agent's git is to have as well. */
export function personalSettings(settings: readonly GitSetting[]): GitSetting[] {
  return settings.filter(
    ({ scope, key, value }) => scope !== "local" && scope !== "worktree" && (PERSONAL.test(key) || isLfs(key, value)),
  );
}

/** Names of settings whose value is a login; those of NEVER that name a program are not among them. */
const SECRET = /(password|passwd|passphrase|token|secret|auth|apikey|headers?|cookie|pwd|pass)$/;
const LOGIN_FILE = /^http\.(.*\.)?(cookiefile|sslkey)$/;
const LOGIN_COMMAND = /^(credential\.(.*\.)?helper|core\.sshcommand)$/;

function holdsLogin({ key, value = "" }: GitSetting): boolean {
  return SECRET.test(key) || key !== withoutLogin(key) || value !== withoutLogin(value);
}

/** Files in which settings with a login stand (`/etc/gitconfig` can be one), and those that settings name for logins. */
export function loginFilesOf(settings: readonly GitSetting[]): string[] {
  const found = settings.flatMap((setting): string[] => {
    const { key, value = "", file } = setting;
    const named = LOGIN_COMMAND.test(key)
      ? [...value.matchAll(/(?:--file[= ]|-i ) *["']?([^\s"']+)/g)].map(([, path = ""]) => path)
      : [];
    return [...(holdsLogin(setting) && file ? [file] : []), ...(LOGIN_FILE.test(key) ? [value] : []), ...named];
  });
  return [...new Set(found)].filter((path) => isAbsolute(path));
}

/** No person is there to sign, and nothing is to run beside the agent or clear up after it. */
export const QUIET_SETTINGS: readonly GitSetting[] = [
  { scope: "local", key: "commit.gpgsign", value: "false" },
  { scope: "local", key: "tag.gpgsign", value: "false" },
  { scope: "local", key: "core.fsmonitor", value: "false" },
  // As for our own git.
  { scope: "local", key: "core.usereplacerefs", value: "false" },
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
