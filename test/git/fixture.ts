import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { openRepository, type Repository } from "../../src/git/repository.ts";
import { addWorktree, type Worktree } from "../../src/git/worktree/worktrees.ts";

const empty = mkdtempSync(join(tmpdir(), "prloom-home-"));
process.on("exit", () => rmSync(empty, { recursive: true, force: true }));
for (const name of Object.keys(process.env)) if (name.startsWith("GIT_")) delete process.env[name];
process.env.HOME = empty;
process.env.XDG_CONFIG_HOME = empty;
process.env.GIT_CONFIG_GLOBAL = "/dev/null";
process.env.GIT_CONFIG_NOSYSTEM = "1";

/** Git as a person or an agent runs it: by discovery from a folder. Their identity is their own. */
export function plainGit(cwd: string, ...args: string[]): string {
  const who = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com", "-c", "core.fsmonitor=false"];
  return execFileSync("git", [...who, ...args], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

export function write(root: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

export interface Sandbox {
  readonly dir: string;
  readonly repo: Repository;
  readonly baseSha: string;
  close(): void;
}

export const BASE_FILES = {
  "a.txt": "one\n",
  "b.txt": "two\n",
  "src/deep/c.ts": "export const c = 3;\n",
  ".gitignore": "ignored/\n",
  "prloom/config.json": "{}\n",
};

/** A repository with one commit on main, in a folder of its own. */
export async function sandbox(files: Record<string, string> = BASE_FILES): Promise<Sandbox> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "prloom-git-")));
  const root = join(dir, "repo");
  mkdirSync(root);
  plainGit(root, "init", "-q", "-b", "main");
  write(root, files);
  plainGit(root, "add", "-A");
  plainGit(root, "commit", "-q", "-m", "base");
  const baseSha = plainGit(root, "rev-parse", "HEAD").trim();
  const close = () => rmSync(dir, { recursive: true, force: true });
  return { dir, repo: await openRepository(root), baseSha, close };
}

export const BRANCH = "prloom/plan";
export const IDENTITY = {
  GIT_AUTHOR_NAME: "prloom",
  GIT_AUTHOR_EMAIL: "prloom@localhost",
  GIT_COMMITTER_NAME: "prloom",
  GIT_COMMITTER_EMAIL: "prloom@localhost",
};

/** Sandboxes that go when the tests of the file are over. Not by Node: trees of hostile agents are too deep for it. */
export function removedAfter(): Sandbox[] {
  const boxes: Sandbox[] = [];
  after(() => {
    for (const box of boxes) execFileSync("rm", ["-rf", box.dir]);
  });
  return boxes;
}

/** A sandbox with a plan's worktree on its branch. */
export async function planSandbox(files?: Record<string, string>): Promise<Sandbox & { worktree: Worktree }> {
  const box = await sandbox(files);
  const path = join(box.repo.root, "prloom/.local/worktrees/plan");
  const added = await addWorktree(box.repo, { path, branch: BRANCH, baseSha: box.baseSha });
  if (added.kind !== "added") throw new Error(added.kind);
  return { ...box, worktree: added.worktree };
}
