import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
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
