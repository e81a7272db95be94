import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { makeProject } from "../../testing/project.ts";

const project = makeProject();
after(() => project.remove());

/** Puts something into a plan's worktree that is in no commit. */
function leave(id: string): string {
  const { worktree = "" } = project.record(id);
  writeFileSync(join(worktree, "precious.txt"), `of ${id}\n`);
  return worktree;
}

test("what a worktree holds beyond its commits outlives its removal, as a patch", async () => {
  project.plan("merged", ["one"]);
  project.plan("deleted", ["one"]);
  await project.work();
  assert.equal((await project.cli(["merge", "merged"])).code, 0);
  const [merged, deleted] = [leave("merged"), leave("deleted")];
  const cleaned = await project.cli(["clean", "merged"]);
  assert.equal(cleaned.code, 0, cleaned.stderr);
  const removed = await project.cli(["delete", "deleted", "--yes"]);
  assert.equal(removed.code, 0, removed.stderr);
  for (const [id, worktree] of [
    ["merged", merged],
    ["deleted", deleted],
  ] as const) {
    assert.equal(existsSync(worktree), false);
    assert.match(readFileSync(join(project.authority, "plans", id, "left.patch"), "utf8"), new RegExp(`\\+of ${id}`));
  }
});

test("a worktree with nothing of the kind leaves no patch", async () => {
  project.plan("tidy", ["one"]);
  await project.work();
  await project.cli(["merge", "tidy"]);
  assert.equal((await project.cli(["clean", "tidy"])).code, 0);
  assert.equal(existsSync(join(project.authority, "plans", "tidy", "left.patch")), false);
});
