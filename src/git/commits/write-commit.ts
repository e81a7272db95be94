import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { crashPoint } from "../../kernel/crash-point.ts";
import { existsNoFollow } from "../../kernel/files.ts";
import { passedVariables } from "../environment.ts";
import { isForGit, moveBranch } from "../refs.ts";
import { type GitSetting, readSettings, settingOf } from "../shadow/git-settings.ts";
import type { Worktree } from "../worktree/worktrees.ts";

export interface PlainCommit {
  readonly branch: string;
  readonly tree: string;
  readonly parent: string;
  readonly message: string;
  /** Stronger than the user's own. */
  readonly identity: Readonly<Record<string, string>>;
  /** Of the entry in the branch's log. */
  readonly why: string;
}

/** With them git writes other files or syncs them, or another name may hold in the worktree than in the repository. */
const GITS_OWN = /^(?:extensions\..*|includeif\..*|core\.(?:compression|fsync.*|loosecompression|sharedrepository))$/;

const SHA1 = /^[0-9a-f]{40}$/;

/** What git takes as it is; from all else it cuts characters away. */
const PLAIN_WORDS = /^[^\s.,:;<>"\\'](?:[^\p{Cc}<>]*[^\s.,:;<>"\\'])?$/u;

/**
 * Makes a commit and moves the branch to it, as `git commit-tree` and `git update-ref` do, without a process. Undefined, and nothing was
 * changed: only git can do it. A kill before the branch moves leaves an object that nothing names, as it does with git.
 */
export async function writePlainCommit(worktree: Worktree, commit: PlainCommit): Promise<string | undefined> {
  const { commonDir, gitDir } = worktree;
  const { branch, tree, parent, message } = commit;
  const settings = await readSettings(commonDir);
  const env = { ...passedVariables(), ...commit.identity };
  const [author, committer] = (["author", "committer"] as const).map((who) => personOf(who, settings, env));
  const isPlain = SHA1.test(tree) && SHA1.test(parent) && !settings.some(({ key }) => GITS_OWN.test(key));
  const words = Buffer.from(message);
  // Git refuses a commit with a zero byte in it, and says so.
  if (!isPlain || words.includes(0) || author === undefined || committer === undefined) return undefined;
  const at = timeNow();
  const lines = [`tree ${tree}`, `parent ${parent}`, `author ${author} ${at}`, `committer ${committer} ${at}`];
  const sha = writeObject(commonDir, "commit", Buffer.concat([Buffer.from(`${lines.join("\n")}\n\n`), words]));
  if (sha === undefined) return undefined;
  crashPoint("commit:written");
  const moved = moveBranch(
    { commonDir, gitDir, branch },
    { from: parent, to: sha, log: `${committer} ${at}\t${commit.why}` },
  );
  return moved ? sha : undefined;
}

function personOf(
  who: "author" | "committer",
  settings: readonly GitSetting[],
  env: Readonly<Record<string, string>>,
): string | undefined {
  const of = (part: "name" | "email") =>
    env[`GIT_${who}_${part}`.toUpperCase()] ??
    settingOf(settings, `${who}.${part}`) ??
    settingOf(settings, `user.${part}`);
  const [name, email] = [of("name"), of("email")];
  const isPlain = [name, email].every((words) => words !== undefined && PLAIN_WORDS.test(words));
  return isPlain ? `${name} <${email}>` : undefined;
}

/** Seconds since 1970, and how far the local time is from that of Greenwich. */
function timeNow(now = new Date()): string {
  const minutes = -now.getTimezoneOffset();
  const hhmm = Math.floor(Math.abs(minutes) / 60) * 100 + (Math.abs(minutes) % 60);
  return `${Math.floor(now.getTime() / 1000)} ${minutes < 0 ? "-" : "+"}${String(hhmm).padStart(4, "0")}`;
}

/**
 * An object as a file of its own; it gets its name when it is whole, and what a kill leaves before has a name that git clears away.
 * Undefined, and there is none: only git can do it.
 */
function writeObject(commonDir: string, type: string, body: Buffer): string | undefined {
  const data = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
  const sha = createHash("sha1").update(data).digest("hex");
  const folder = join(commonDir, "objects", sha.slice(0, 2));
  const file = join(folder, sha.slice(2));
  if (existsNoFollow(file)) return sha;
  const temporary = join(folder, `tmp_obj_${randomUUID()}`);
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(temporary, deflateSync(data), { flag: "wx", mode: 0o444 });
  } catch (error) {
    if (!isForGit(error)) throw error;
    return undefined;
  }
  renameSync(temporary, file);
  return sha;
}
