import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { subscribe } from "node:diagnostics_channel";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openRepository } from "../../src/git/repository.ts";
import { trackedIn } from "../../src/git/tracked.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "prloom-tracked-")));
after(() => rmSync(root, { recursive: true, force: true }));
const git = (...args: string[]): unknown => execFileSync("git", args, { cwd: root });

test("git is asked what it tracks when its index has changed, and only then", async () => {
  let asked = 0;
  subscribe("child_process", () => (asked += 1));
  git("init", "-q");
  const inbox = join(root, "inbox");
  mkdirSync(inbox);
  for (const name of ["one.md", "ö two.md", "three.md"]) writeFileSync(join(inbox, name), name);
  const repo = await openRepository(root);
  const ask = async (): Promise<string[]> => [...(await trackedIn(repo, inbox))].sort();
  const began = asked;
  assert.deepEqual(await Promise.all([ask(), ask()]), [[], []]);
  const before = asked;
  assert.equal(before, began + 1);
  assert.deepEqual(await ask(), []);
  assert.equal(asked, before);
  git("add", "inbox/one.md", "inbox/ö two.md");
  assert.deepEqual(await ask(), [join(inbox, "one.md"), join(inbox, "ö two.md")]);
  git("rm", "-q", "--cached", "inbox/one.md");
  assert.deepEqual(await ask(), [join(inbox, "ö two.md")]);
});
