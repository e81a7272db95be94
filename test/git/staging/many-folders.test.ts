import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { stageAll } from "../../../src/git/staging/stage.ts";
import { thorough } from "../../testing/thorough.ts";
import { planSandbox, write } from "../fixture.ts";

const STAGE = new URL("../../../src/git/staging/stage.ts", import.meta.url).href;

/** How many arguments one call takes follows from the stack: with a small one, few folders are more than that. */
const SMALL_STACK = "--stack-size=160";

test("a repository does not hide among more folders than one call takes arguments", thorough, async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree, baseSha } = box;
  const many = "seq -f 'w/%.0f' 24000 | xargs mkdir -p; seq -f 'w/%.0f/f' 24000 | xargs touch";
  execFileSync("sh", ["-c", many], { cwd: worktree.path });
  write(worktree.path, { "w/7/HEAD": "ref: refs/heads/main\n", "w/7/objects/x": "", "w/7/refs/x": "" });
  const code = `import { dissolveRepositories } from "${STAGE}";
    await dissolveRepositories(${JSON.stringify(worktree)}, "${baseSha}");`;
  execFileSync(process.execPath, [SMALL_STACK, "--input-type=module", "-e", code], { stdio: "pipe" });
  assert.equal(existsSync(join(worktree.path, "w/7/HEAD")), false);
  assert.equal(existsSync(join(worktree.path, "w/24000/f")), true);
});

/** The processor time of this process in milliseconds: what other programs do at the same time is not in it. */
function used(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

test("others have their turn while a worktree of many folders, wide and deep, is staged", thorough, async (t) => {
  const box = await planSandbox();
  t.after(box.close);
  const { worktree } = box;
  const many = `seq -f 'w/%.0f' 24000 | xargs mkdir -p; seq -f 'w/%.0f/f' 24000 | xargs touch
    for at in 1 2 3 4 5 6 7 8; do deep="d$at"; for level in $(seq 200); do deep="$deep/d"; done; mkdir -p "$deep"; touch "$deep/f"; done`;
  execFileSync("sh", ["-c", many], { cwd: worktree.path });
  let isOver = false;
  const begun = used();
  const staging = stageAll(worktree).finally(() => {
    isOver = true;
  });
  let longest = 0;
  while (!isOver) {
    const before = used();
    await setImmediate();
    longest = Math.max(longest, used() - before);
  }
  await staging;
  const all = used() - begun;
  assert.ok(longest < all / 4, `${longest} of ${all} ms in one go`);
});
