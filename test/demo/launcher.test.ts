import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const launcher = fileURLToPath(new URL("../../bin/prloom", import.meta.url));

test("bin/prloom runs from anywhere, through links, whatever Node the machine has", (context) => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-launcher-"));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "my bin"));
  symlinkSync(launcher, join(dir, "prloom-real"));
  symlinkSync("../prloom-real", join(dir, "my bin", "prloom"));
  const env = { PATH: "/usr/bin:/bin", HOME: dir };
  const { status, stdout } = spawnSync(join(dir, "my bin", "prloom"), ["--version"], {
    cwd: dir,
    env,
    encoding: "utf8",
  });
  assert.equal(status, 0);
  assert.match(stdout, /^\d+\.\d+\.\d+/);
});

test("bin/prloom says what to do when nothing is installed", (context) => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-launcher-"));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "bin"));
  cpSync(launcher, join(dir, "bin", "prloom"));
  const { status, stderr } = spawnSync(join(dir, "bin", "prloom"), ["status"], { encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /^prloom: .*npm ci[^\n]*\n$/);
});
