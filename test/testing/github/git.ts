import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const IDENTITY = {
  GIT_AUTHOR_NAME: "GitHub",
  GIT_AUTHOR_EMAIL: "noreply@github.test",
  GIT_COMMITTER_NAME: "GitHub",
  GIT_COMMITTER_EMAIL: "noreply@github.test",
};

/** Nothing of the person's git counts in a server's repositories. */
export const gitEnvironment: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? "/usr/bin:/bin",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  ...IDENTITY,
};

/** What git printed, without the last line end; throws with git's words when it fails. */
export function git(folder: string, args: readonly string[], input?: string): string {
  const done = tryGit(folder, args, input);
  if (done.status !== 0) throw new Error(`git ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

export function tryGit(
  folder: string,
  args: readonly string[],
  input = "",
): { status: number; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync("git", ["-C", folder, ...args], {
    env: gitEnvironment,
    encoding: "utf8",
    input,
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status: status ?? 1, stdout: stdout.replace(/\n$/, ""), stderr };
}

/** The commit of a branch; undefined where there is none. */
export function branchHead(folder: string, branch: string): string | undefined {
  // A process for each of a hundred pull requests would keep the server from answering others.
  const loose = looseRef(folder, branch);
  if (loose !== undefined) return loose;
  const { status, stdout } = tryGit(folder, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}^{commit}`]);
  return status === 0 ? stdout : undefined;
}

function looseRef(folder: string, branch: string): string | undefined {
  try {
    return /^[0-9a-f]{40}$/m.exec(readFileSync(join(folder, "refs", "heads", branch), "utf8"))?.[0];
  } catch {
    return undefined;
  }
}

export function branchHeads(folder: string): Map<string, string> {
  return looseHeads(folder) ?? listedHeads(folder);
}

/** Of a repository that never packed its branches: those are asked for at each push, and a process takes longer than a test's own work. */
function looseHeads(folder: string): Map<string, string> | undefined {
  if (existsSync(join(folder, "packed-refs"))) return undefined;
  const heads = join(folder, "refs", "heads");
  const branches = readdirSync(heads, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".lock"))
    .map((entry) => join(entry.parentPath, entry.name).slice(heads.length + 1))
    .sort();
  const commits = branches.map((branch) => [branch, looseRef(folder, branch)] as const);
  // One that is just being written or deleted.
  if (commits.some(([, commit]) => commit === undefined)) return undefined;
  return new Map(commits as [string, string][]);
}

function listedHeads(folder: string): Map<string, string> {
  const lines = git(folder, ["for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", "refs/heads"]).split("\n");
  return new Map(
    lines.filter(Boolean).map((line) => [line.slice(line.indexOf(" ") + 1), line.slice(0, line.indexOf(" "))]),
  );
}

export type MergeMethod = "merge" | "squash" | "rebase";

/** The commit that a base would become; undefined where the two conflict. */
export function mergedCommit(
  folder: string,
  { base, head, method, message }: { base: string; head: string; method: MergeMethod; message: string },
): string | undefined {
  if (method === "rebase") return rebased(folder, base, head);
  const tree = mergedTree(folder, base, head);
  if (tree === undefined) return undefined;
  const parents = method === "squash" ? ["-p", base] : ["-p", base, "-p", head];
  return git(folder, ["commit-tree", tree, ...parents, "-F", "-"], message);
}

const mergeable = new Map<string, boolean>();

export function isMergeable(folder: string, base: string, head: string): boolean {
  const key = `${folder} ${base} ${head}`;
  const known = mergeable.get(key) ?? mergedTree(folder, base, head) !== undefined;
  mergeable.set(key, known);
  return known;
}

function mergedTree(folder: string, base: string, head: string): string | undefined {
  const { status, stdout } = tryGit(folder, ["merge-tree", "--write-tree", "--no-messages", base, head]);
  return status === 0 ? stdout.split("\n")[0] : undefined;
}

function rebased(folder: string, base: string, head: string): string | undefined {
  const tree = mkdtempSync(join(tmpdir(), "fake-github-rebase-"));
  try {
    git(folder, ["worktree", "add", "--quiet", "--detach", tree, base]);
    const { status } = tryGit(tree, ["cherry-pick", "--allow-empty", `${base}..${head}`]);
    return status === 0 ? git(tree, ["rev-parse", "HEAD"]) : undefined;
  } finally {
    git(folder, ["worktree", "remove", "--force", tree]);
  }
}
