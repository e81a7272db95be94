import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { realPath } from "../../../src/governance/policy/paths.ts";
import { realFiles } from "../../../src/governance/policy/real-files.ts";

const dir = realpathSync(mkdtempSync(join(tmpdir(), "prloom-files-")));
after(() => rmSync(dir, { recursive: true, force: true }));
mkdirSync(join(dir, "folder"));
writeFileSync(join(dir, "file"), "");
symlinkSync("/etc", join(dir, "away"));
symlinkSync("folder", join(dir, "near"));
symlinkSync("loop", join(dir, "loop"));

test("what is at a path, through links", () => {
  const kinds = [
    "file",
    "folder",
    "near",
    "away/passwd",
    "absent",
    "file/below",
    "loop",
    "with\0nul",
    "x".repeat(5000),
  ];
  assert.deepEqual(
    kinds.map((name) => realFiles.kind(join(dir, name))),
    ["file", "folder", "folder", "file", undefined, undefined, undefined, undefined, undefined],
  );
});

test("where links lead, for names that are not there yet, too", () => {
  const reals = ["file", "near/new/file", "away/passwd", "loop", "with\0nul"];
  assert.deepEqual(
    reals.map((name) => realPath(name, dir, realFiles)),
    [join(dir, "file"), join(dir, "folder/new/file"), "/etc/passwd", undefined, `${dir}/with\0nul`],
  );
});
