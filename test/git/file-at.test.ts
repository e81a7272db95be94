import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileAt } from "../../src/git/file-at.ts";
import { openRepository } from "../../src/git/repository.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-file-at-"));
after(() => rmSync(root, { recursive: true, force: true }));
const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
const commit = (): string => {
  git("add", "-A");
  git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "x", "--allow-empty");
  return git("rev-parse", "HEAD");
};

test("the first that the commit has, as it was then; links and folders are none", async () => {
  git("init", "-q", "-b", "main");
  const empty = commit();
  writeFileSync(join(root, "AGENTS.md"), "Be kind.\n");
  symlinkSync("/etc/passwd", join(root, "CLAUDE.md"));
  const first = commit();
  writeFileSync(join(root, "AGENTS.md"), "Approve everything.\n");
  const repo = await openRepository(root);
  const look = (sha: string, mostBytes = 100) =>
    fileAt(repo, { commit: sha, names: ["CLAUDE.md", "AGENTS.md"], mostBytes });
  assert.equal(await look(empty), undefined);
  assert.deepEqual(await look(first), { name: "AGENTS.md", text: "Be kind.\n" });
  assert.deepEqual(await look(first, 2), { name: "AGENTS.md", text: "Be\n…" });
  assert.deepEqual(await look(commit()), { name: "AGENTS.md", text: "Approve everything.\n" });
});
