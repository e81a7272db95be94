import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { removeTree } from "../../../src/kernel/removal/remove-tree.ts";
import { thorough } from "../../testing/thorough.ts";

const base = mkdtempSync(join(tmpdir(), "prloom-tree-"));
after(() => execFileSync("rm", ["-rf", base]));

function made(name: string, script: string): string {
  const tree = join(base, name);
  mkdirSync(tree);
  execFileSync("perl", ["-e", `chdir $ARGV[0] or die; ${script}`, tree]);
  return tree;
}

test("folders deeper than any path reaches are removed", async () => {
  const tree = made("deep", 'for (1..3000) { open F, ">f"; close F; mkdir "folder" or die; chdir "folder" or die }');
  await removeTree(tree);
  assert.equal(existsSync(tree), false);
});

test("names that are not UTF-8, and names that look like ours, are removed", async () => {
  const down = Array.from({ length: 40 }, () => "d").join("/");
  const tree = made(
    "bytes",
    `mkdir "\\xff\\xfe"; open F, ">\\xff\\xfe/\\xc3"; close F; system "mkdir", "-p", "${down}/e/f"`,
  );
  mkdirSync(join(tree, ".prloom-lifted-1", "full"), { recursive: true });
  await removeTree(tree);
  assert.equal(existsSync(tree), false);
});

test("a link is removed, and what it leads to stays", async () => {
  const kept = join(base, "kept");
  mkdirSync(kept);
  writeFileSync(join(kept, "file"), "");
  const tree = join(base, "links");
  mkdirSync(tree);
  for (const to of [kept, "/nowhere", "."]) symlinkSync(to, join(tree, `to-${to.length}`));
  await removeTree(tree);
  symlinkSync(kept, tree);
  await removeTree(tree);
  assert.equal(existsSync(tree), false);
  assert.deepEqual(readdirSync(kept), ["file"]);
});

test("nothing at a path is nothing to remove", async () => {
  await removeTree(join(base, "absent"));
});

test("others have their turn while a wide tree is removed", thorough, async () => {
  const tree = made("wide", 'for (1..3000) { mkdir $_; open F, ">$_/f"; close F }');
  let isOver = false;
  let turns = 0;
  const removal = removeTree(tree).finally(() => {
    isOver = true;
  });
  for (; !isOver; turns += 1) await setImmediate();
  await removal;
  assert.ok(turns > 1, `${turns} turns`);
});

test("what cannot be removed is told when the rest is gone", async (context) => {
  const tree = join(base, "mounted");
  mkdirSync(join(tree, "point"), { recursive: true });
  writeFileSync(join(tree, "file"), "");
  try {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", join(tree, "point")], { stdio: "ignore" });
  } catch {
    return context.skip("a tmpfs cannot be mounted here (needs root)");
  }
  try {
    await assert.rejects(removeTree(tree), /EBUSY/);
    assert.deepEqual(readdirSync(tree), ["point"]);
  } finally {
    execFileSync("umount", [join(tree, "point")]);
  }
  rmSync(tree, { recursive: true });
});

test("what is to go last goes after everything else", async () => {
  const tree = join(base, "last");
  const names = Array.from({ length: 20 }, (_, number) => `file-${number}`);
  mkdirSync(tree);
  for (const name of names) writeFileSync(join(tree, name), "");
  const gone: string[] = [];
  const watcher = watch(tree, (_event, name) => gone.push(name ?? ""));
  after(() => watcher.close());
  await removeTree(tree, "file-7");
  while (names.some((name) => !gone.includes(name))) await once(watcher, "change");
  assert.equal(gone.filter((name) => names.includes(name)).at(-1), "file-7");
});
