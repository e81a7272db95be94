import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { COMPILED } from "../testing/program.ts";

const DEMO = fileURLToPath(new URL("../../scripts/demo.ts", import.meta.url));

test("the demo with GitHub tells the story to its end, and leaves nothing behind", (t) => {
  const home = mkdtempSync(join(tmpdir(), "prloom-demo-test-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const temporary = join(home, "tmp");
  mkdirSync(temporary);
  const { PATH = "", PRLOOM_TEST_CLI } = process.env;
  const env = { PATH, HOME: home, TMPDIR: temporary, GIT_CONFIG_NOSYSTEM: "1", DEMO_PAUSE_MS: "0", ...COMPILED };
  const { status, stdout, stderr } = spawnSync(process.execPath, [DEMO, "--github"], {
    ...{ encoding: "utf8", timeout: 240_000 },
    env: PRLOOM_TEST_CLI === undefined ? env : { ...env, PRLOOM_TEST_CLI },
  });
  assert.equal(status, 0, stdout + stderr);
  const steps = [
    /^eve {4}opens the issue #1/m,
    /^ada {4}gives it the label prloom/m,
    /> \*\*The plan waits for your answer\*\*/,
    /^ada {4}writes below the issue #1: approved/m,
    /│ change request: /,
    /^bob {4}reviews the pull request #2/m,
    /^prloom writes in the thread at src\/program\.js:18:/m,
    /^CI {5}the check flags in the README fails/m,
    /│ TODO 5 done: make flags in the README pass/,
    /^ada {4}merges the pull request #2/m,
    /^Pull request #2 .*\[merged\]$/m,
    /^Merged; the plan is done, its worktree is gone, and so is its branch on GitHub\.$/m,
  ];
  const places = steps.map((step) => stdout.search(step));
  assert.deepEqual(
    places.toSorted((a, b) => a - b),
    places,
    stdout,
  );
  assert.notEqual(places[0], -1, stdout);
  // What all prlooms of a person share may stay.
  assert.deepEqual(
    readdirSync(temporary).filter((name) => /demo|fake/.test(name)),
    [],
  );
});
