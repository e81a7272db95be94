import assert from "node:assert/strict";
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { placeFile } from "../../../src/kernel/held/files.ts";
import { plantAgain } from "../../testing/agents/living-linker.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-held-"));
after(() => rmSync(root, { recursive: true, force: true }));

/** What files that are not whole yet are called from now on; one that cannot get its name says it. */
function nextNames(count: number): string[] {
  let said = "";
  try {
    placeFile(root, "x".repeat(300), "");
  } catch (error) {
    said = String(error);
  }
  const [, before, number] = /(\.prloom-[\d-]+\.)(\d+)\.tmp/.exec(said) ?? assert.fail(said);
  return Array.from({ length: count }, (_, index) => `${before}${Number(number) + index + 1}.tmp`);
}

test("who knows the name of a file that is not whole yet cannot lead it elsewhere", { timeout: 60_000 }, async () => {
  const victim = join(root, "victim");
  writeFileSync(victim, "the user's own");
  const folder = join(root, "worktree");
  mkdirSync(folder);
  const places = nextNames(40).map((name) => join(folder, name));
  const linker = await plantAgain(victim, places);
  try {
    for (const place of places) {
      while (!lstatSync(place, { throwIfNoEntry: false })) await new Promise((resolve) => setImmediate(resolve));
      try {
        placeFile(folder, "plan.md", "what the agent wrote");
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, "EEXIST");
      }
      assert.equal(readFileSync(victim, "utf8"), "the user's own");
    }
  } finally {
    await linker.end();
  }
});
