import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { writeFileAtomic } from "../../src/kernel/files.ts";
import { appendOwn, checkOwn, openOwn, readOwn } from "../../src/kernel/own-file.ts";

const OTHERS: readonly (readonly [kind: string, make: (path: string) => void])[] = [
  ["a pipe", (path) => void execFileSync("mkfifo", [path])],
  ["a link", (path) => symlinkSync("/dev/zero", path)],
  ["a link", (path) => symlinkSync("nowhere", path)],
  ["a folder (EISDIR)", (path) => mkdirSync(path)],
];

test("what is not a file of ours is neither waited for nor followed, and is named with what to type", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-own-"));
  t.after(() => rmSync(dir, { recursive: true }));
  for (const [at, [kind, make]] of OTHERS.entries()) {
    const path = join(dir, String(at));
    make(path);
    const told = {
      code: "state-unreadable",
      message: `${path} is ${kind}, and prloom keeps a file of its own there.`,
      hint: `Move it away: \`mv ${path} ${path}.aside\`.`,
    };
    for (const act of [readOwn, openOwn, checkOwn, (file: string) => appendOwn(file, "x")])
      assert.throws(() => act(path), told, `${act.name}: ${kind}`);
  }
  assert.throws(() => writeFileAtomic(join(dir, "3"), "x"), { code: "state-unreadable", message: /is a folder/ });
});

test("a file of ours is read as a whole and grows, and one that has no sensible size is refused", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-own-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const path = join(dir, "file");
  assert.deepEqual([readOwn(path), readOwn(join(path, "below")), checkOwn(path)], [undefined, undefined, undefined]);
  assert.throws(() => openOwn(path), { code: "ENOENT" });
  appendOwn(path, "one\n");
  appendOwn(path, "two\n");
  assert.equal(readOwn(path)?.toString(), readFileSync(path, "utf8"));
  assert.equal(readOwn(path)?.toString(), "one\ntwo\n");
  writeFileSync(path, "");
  truncateSync(path, 3 * 1024 ** 3);
  for (const act of [readOwn, checkOwn])
    assert.throws(() => act(path), { code: "state-unreadable", message: /has 3221225472 bytes/ });
});
