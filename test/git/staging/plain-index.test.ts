import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { splitNul } from "../../../src/git/output.ts";
import { readPlainIndex } from "../../../src/git/staging/plain-index.ts";
import { plainGit, write } from "../fixture.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-index-"));
after(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
/** A repository in whose index names of all lengths and some strange ones are. */
function repository(...init: string[]): { dir: string; index: string } {
  count += 1;
  const dir = join(root, String(count));
  plainGit(root, "init", "-q", ...init, dir);
  const names = Array.from({ length: 20 }, (_, at) => `${"n".repeat(at + 1)}.txt`);
  write(dir, Object.fromEntries([...names, "ö ü.md", "deep/in/a/folder", 'q"uoted\n'].map((name) => [name, name])));
  write(dir, { ["long".repeat(60)]: "", [Buffer.from([0xff, 0x41]).toString("latin1")]: "" });
  plainGit(dir, "add", "-A");
  return { dir, index: join(dir, ".git/index") };
}

const asGitSays = (dir: string): string[] =>
  splitNul(execFileSync("git", ["ls-files", "-z"], { cwd: dir, encoding: "latin1" }));

test("a plain index has the paths that git lists", async () => {
  const { dir, index } = repository();
  assert.equal((await readPlainIndex(index))?.length, 25);
  assert.deepEqual(await readPlainIndex(index), asGitSays(dir));
  plainGit(dir, "commit", "-qm", "one");
  plainGit(dir, "rm", "-q", "--cached", "n.txt");
  assert.deepEqual(await readPlainIndex(index), asGitSays(dir));
  rmSync(index);
  plainGit(dir, "read-tree", "--empty");
  assert.deepEqual(await readPlainIndex(index), []);
});

test("so has one with longer ids", async () => {
  const { dir, index } = repository("--object-format=sha256");
  assert.deepEqual(await readPlainIndex(index), asGitSays(dir));
});

test("with flags that hide changes, or with entries elsewhere, git is asked", async () => {
  const cases: readonly (readonly string[])[] = [
    ["update-index", "--assume-unchanged", "nn.txt"],
    ["update-index", "--skip-worktree", "nn.txt"],
    ["update-index", "--index-version", "4"],
    ["update-index", "--split-index"],
  ];
  for (const args of cases) {
    const { dir, index } = repository();
    plainGit(dir, ...args);
    assert.equal(await readPlainIndex(index), undefined, args.join(" "));
  }
});

/** The same index with other bytes somewhere, and the hash that fits them. */
function forged(whole: Buffer, at: number, bytes: readonly number[]): Buffer {
  const body = Buffer.from(whole.subarray(0, whole.length - 20));
  body.set(bytes, at);
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

test("one that git would read otherwise, or refuse, is not plain though its hash fits", async () => {
  const { index } = repository();
  const whole = readFileSync(index);
  const first = 12 + 62;
  const cases: Record<string, Buffer> = {
    "a path of another length": forged(whole, first - 1, [1]),
    "out of order": forged(whole, first, [0xff, 0xff, 0xff]),
    "more entries than there are": forged(whole, 8, [0, 0, 4, 0]),
  };
  for (const [name, bytes] of Object.entries(cases)) {
    writeFileSync(index, bytes);
    assert.equal(await readPlainIndex(index), undefined, name);
  }
});

test("what is torn, changed, too short, a link or no file is not read", async () => {
  const { dir, index } = repository();
  const whole = readFileSync(index);
  const damaged = [
    Buffer.alloc(0),
    Buffer.from("DIRC"),
    whole.subarray(0, whole.length - 1),
    Buffer.concat([whole.subarray(0, 70), Buffer.from([1]), whole.subarray(71)]),
  ];
  for (const bytes of damaged) {
    writeFileSync(index, bytes);
    assert.equal(await readPlainIndex(index), undefined);
  }
  writeFileSync(index, whole);
  const other = join(dir, "other");
  copyFileSync(index, other);
  assert.deepEqual(await readPlainIndex(other), asGitSays(dir));
  for (const place of ["link", "missing"]) {
    if (place === "link") symlinkSync(other, join(dir, place));
    assert.equal(await readPlainIndex(join(dir, place)), undefined);
  }
  execFileSync("mkfifo", [join(dir, "pipe")]);
  assert.equal(await readPlainIndex(join(dir, "pipe")), undefined);
});
