import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { threadId } from "node:worker_threads";
import fc from "fast-check";
import { PrloomError } from "../../src/kernel/errors.ts";
import {
  diskError,
  existsNoFollow,
  hashCheckedOut,
  listDir,
  readCheckedOut,
  readTextIfExists,
  readTextNoFollow,
  remakeDirNoFollow,
  writeFileAtomic,
  writeFileIfChanged,
} from "../../src/kernel/files.ts";
import { ensureLinkIn } from "../../src/kernel/held/files.ts";
import { sha256 } from "../../src/kernel/ids.ts";
import { thorough } from "../testing/thorough.ts";

const module = new URL("../../src/kernel/files.ts", import.meta.url).href;
const root = mkdtempSync(join(tmpdir(), "prloom-files-"));
after(() => rmSync(root, { recursive: true, force: true }));

let dir = "";
beforeEach(() => {
  dir = mkdtempSync(join(root, "case-"));
});

test("an atomic write replaces the content and leaves nothing beside it", () => {
  const path = join(dir, "state.json");
  writeFileAtomic(path, "one", 0o600);
  writeFileAtomic(path, Buffer.from("two"), 0o600);
  assert.equal(readFileSync(path, "utf8"), "two");
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(dir), ["state.json"]);
});

test("an atomic write replaces a link and does not write through it", () => {
  writeFileSync(join(dir, "secret"), "untouched");
  symlinkSync("secret", join(dir, "state.json"));
  writeFileAtomic(join(dir, "state.json"), "new");
  assert.equal(readFileSync(join(dir, "secret"), "utf8"), "untouched");
  assert(lstatSync(join(dir, "state.json")).isFile());
});

test("a write that fails leaves what was there, and no temporary file", () => {
  mkdirSync(join(dir, "state.json"));
  assert.throws(() => writeFileAtomic(join(dir, "state.json"), "text"));
  assert.deepEqual(readdirSync(dir), ["state.json"]);
  assert.throws(() => writeFileAtomic(join(dir, "no", "folder"), "text"), { code: "ENOENT" });
});

test("a temporary file that a killed process with our pid left does not stop the write", () => {
  for (let count = 0; count < 200; count += 1) {
    writeFileSync(join(dir, `.state.json.${process.pid}-${threadId}.${count}.tmp`), "half");
  }
  writeFileAtomic(join(dir, "state.json"), "whole");
  assert.equal(readFileSync(join(dir, "state.json"), "utf8"), "whole");
});

test("a reader never sees part of a file, and kill -9 leaves a whole one", async () => {
  const path = join(dir, "state.json");
  const size = 300_000;
  const script = `import { writeFileAtomic } from ${JSON.stringify(module)};
    for (let n = 0; ; n += 1) writeFileAtomic(${JSON.stringify(path)}, String(n % 10).repeat(${size}));`;
  const writer = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "inherit" });
  const seen = new Set<string>();
  while (seen.size < 4) {
    const text = readTextIfExists(path);
    if (text === undefined) await new Promise((resolve) => setImmediate(resolve));
    else {
      assert.equal(text, text[0]!.repeat(size));
      seen.add(text[0]!);
    }
  }
  writer.kill("SIGKILL");
  await once(writer, "exit");
  const text = readFileSync(path, "utf8");
  assert.equal(text, text[0]!.repeat(size));
});

test("writeFileIfChanged writes only what differs", () => {
  const path = join(dir, "plan.md");
  assert.equal(writeFileIfChanged(path, "a"), true);
  const inode = statSync(path).ino;
  assert.equal(writeFileIfChanged(path, "a"), false);
  assert.equal(statSync(path).ino, inode);
  assert.equal(writeFileIfChanged(path, "b"), true);
});

test("what is read without following links is the file itself or nothing", () => {
  const outside = join(root, "outside");
  mkdirSync(join(outside, "deep"), { recursive: true });
  writeFileSync(join(outside, "deep", "plan.md"), "secret");
  mkdirSync(join(dir, "prloom", ".local"), { recursive: true });
  const plan = join(dir, "prloom", ".local", "plan.md");
  const relative = join("prloom", ".local", "plan.md");

  assert.equal(readTextNoFollow(dir, relative), undefined);
  writeFileSync(plan, "text ü");
  assert.equal(readTextNoFollow(dir, relative), "text ü");

  rmSync(plan);
  symlinkSync(join(outside, "deep", "plan.md"), plan);
  assert.equal(readTextNoFollow(dir, relative), undefined);

  rmSync(join(dir, "prloom", ".local"), { recursive: true });
  symlinkSync(join(outside, "deep"), join(dir, "prloom", ".local"));
  assert.equal(readTextNoFollow(dir, relative), undefined);

  rmSync(join(dir, "prloom"), { recursive: true });
  mkdirSync(join(outside, ".local"));
  writeFileSync(join(outside, ".local", "plan.md"), "secret");
  symlinkSync(outside, join(dir, "prloom"));
  assert.equal(readTextNoFollow(dir, relative), undefined);
  assert.equal(readTextNoFollow(dir, join("..", "outside", "deep", "plan.md")), undefined);
});

test("pipes, folders and devices are not read, and nothing waits for them", () => {
  spawnSync("mkfifo", [join(dir, "pipe")]);
  mkdirSync(join(dir, "folder"));
  assert.equal(readTextNoFollow(dir, "pipe"), undefined);
  assert.equal(readTextNoFollow(dir, "folder"), undefined);
  assert.equal(readTextNoFollow("/dev", "zero"), undefined);
});

test("a file that is too large is not read in part", () => {
  writeFileSync(join(dir, "huge"), "");
  truncateSync(join(dir, "huge"), 10 * 1024 * 1024 * 1024);
  assert.equal(readTextNoFollow(dir, "huge"), undefined);
  writeFileSync(join(dir, "exact"), "12345");
  assert.equal(readTextNoFollow(dir, "exact", 5), "12345");
  assert.equal(readTextNoFollow(dir, "exact", 4), undefined);
});

test("a folder is made afresh whatever an agent put in its place, and nothing outside is touched", () => {
  const what = fc.constantFrom("absent", "file", "link", "dangling", "folder");
  const outside = mkdtempSync(join(root, "kept-"));
  writeFileSync(join(outside, "keep"), "kept");
  fc.assert(
    fc.property(fc.tuple(what, what), (kinds) => {
      const base = mkdtempSync(join(dir, "tree-"));
      const paths = [join(base, "prloom"), join(base, "prloom", ".local")];
      for (const [index, kind] of kinds.entries()) {
        const path = paths[index]!;
        if (index > 0 && !(existsSync(paths[0]!) && lstatSync(paths[0]!).isDirectory())) continue;
        if (kind === "file") writeFileSync(path, "x");
        if (kind === "link") symlinkSync(outside, path);
        if (kind === "dangling") symlinkSync(join(outside, "nothing"), path);
        if (kind === "folder") mkdirSync(path);
      }
      const made = remakeDirNoFollow(base, join("prloom", ".local"));
      for (const path of paths) assert(lstatSync(path).isDirectory());
      assert.deepEqual(readdirSync(made), []);
      assert.deepEqual(readdirSync(outside), ["keep"]);
    }),
    { numRuns: 60 },
  );
});

test("read-only folders do not keep a folder from being made afresh", () => {
  const deep = join(dir, "local", "cache", "module");
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(deep, "file"), "x");
  symlinkSync(root, join(dir, "local", "cache", "link"));
  const script = `import { remakeDirNoFollow } from ${JSON.stringify(module)};
    remakeDirNoFollow(${JSON.stringify(dir)}, "local");`;
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  if (user.uid) {
    chmodSync(root, 0o755);
    for (const path of [dir, join(dir, "local"), join(dir, "local", "cache"), deep, join(deep, "file")]) {
      chownSync(path, user.uid, user.gid);
    }
  }
  chmodSync(deep, 0o500);
  chmodSync(join(dir, "local", "cache"), 0o000);
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", script], { ...user, encoding: "utf8" });
  assert.equal(run.status, 0, run.stderr);
  assert.deepEqual(readdirSync(join(dir, "local")), []);
  assert(existsSync(root));
});

test(
  "a folder with very much in it is out of the way at once, and what a killed process left is removed",
  thorough,
  async () => {
    const base = join(dir, "worktree");
    const local = join(base, "local");
    mkdirSync(join(local, "deep"), { recursive: true });
    for (let index = 0; index < 2500; index += 1) writeFileSync(join(local, "deep", `${index}`), "");
    writeFileSync(Buffer.concat([Buffer.from(`${local}/a`), Buffer.from([0xff])]), "x");
    const left = join(dir, ".prloom-removed-killed");
    mkdirSync(join(left, "removed"), { recursive: true });
    writeFileSync(join(dir, "another"), "mine");
    assert.equal(remakeDirNoFollow(base, "local"), local);
    assert.deepEqual(readdirSync(local), []);
    const deadline = Date.now() + 60_000;
    while (readdirSync(dir).length > 2 && Date.now() < deadline) await sleep(20);
    assert.deepEqual(readdirSync(dir).sort(), ["another", "worktree"]);
  },
);

test("a link is made, repaired and left alone", () => {
  const path = join(dir, "link");
  ensureLinkIn(dir, "link", "a");
  ensureLinkIn(dir, "link", "a");
  assert.equal(readlinkSync(path), "a");
  assert(existsNoFollow(path));
  ensureLinkIn(dir, "link", "b");
  assert.equal(readlinkSync(path), "b");
  rmSync(path);
  mkdirSync(path);
  ensureLinkIn(dir, "link", "c");
  assert.equal(readlinkSync(path), "c");
});

test("absence is not an error, and only absence", () => {
  assert.equal(readTextIfExists(join(dir, "no", "file")), undefined);
  writeFileSync(join(dir, "file"), "x");
  assert.equal(readTextIfExists(join(dir, "file", "below")), undefined);
  assert.throws(() => readTextIfExists(dir), { code: "state-unreadable", message: /EISDIR/ });
  assert.deepEqual(listDir(join(dir, "no")), []);
  assert.deepEqual(listDir(dir), ["file"]);
});

test("a full disk is told as such", () => {
  const full = Object.assign(new Error("no space"), { code: "ENOSPC" });
  const told = diskError(full, "plan.md");
  assert(told instanceof PrloomError && told.code === "disk-full" && told.cause === full);
  const other = new Error("x");
  assert.equal(diskError(other, "plan.md"), other);
});

test("of a file that a checkout put there no more is read than allowed, whatever its size says", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-checked-out-"));
  t.after(() => rmSync(dir, { recursive: true }));
  const path = join(dir, "config.json");
  writeFileSync(path, "1234");
  assert.equal(readCheckedOut(path, 4), "1234");
  assert.throws(() => readCheckedOut(path, 3), /larger than 3 bytes/);
  assert.equal(readCheckedOut(join(dir, "missing")), undefined);
  assert.equal(hashCheckedOut(join(dir, "missing")), undefined);
  assert.equal(hashCheckedOut(dir), undefined);
  const long = Buffer.alloc(200_000, "12345");
  writeFileSync(join(dir, "long"), long);
  assert.equal(hashCheckedOut(join(dir, "long")), sha256(long));
  assert.equal(readCheckedOut(join(dir, "long")), long.toString());
  if (!existsSync("/proc/self/pagemap")) return;
  // A regular file of size 0 that practically does not end.
  symlinkSync("/proc/self/pagemap", join(dir, "endless"));
  assert.throws(() => readCheckedOut(join(dir, "endless")), /larger than/);
  assert.equal(hashCheckedOut(join(dir, "endless")), undefined);
});
