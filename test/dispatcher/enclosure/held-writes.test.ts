import assert from "node:assert/strict";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { keepEvidence } from "../../../src/dispatcher/acceptance/evidence.ts";
import type { OwnedLoom } from "../../../src/dispatcher/compose.ts";
import { copyFiles } from "../../../src/dispatcher/enclosure/copy-files.ts";
import { claimsOf, GIVEN, makeRunCopy } from "../../../src/dispatcher/enclosure/run-copy.ts";
import { makeWritable } from "../../../src/git/worktree/make-writable.ts";
import { readTextNoFollow } from "../../../src/kernel/files.ts";
import { removeTree } from "../../../src/kernel/removal/remove-tree.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";
import { NO_SWAPS, plantLinks, swapNames } from "../../testing/agents/living-linker.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { samples } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";
import { withLoom } from "../buses/owned-loom.ts";

let p: Project;
let trap = "";
let worktree = "";
beforeEach(async () => {
  p = makeProject();
  trap = join(p.home, "trap");
  worktree = join(p.root, "prloom/.local/worktrees/one");
  put(join(trap, "kept"), "the user's own");
  p.plan("one", ["Do it"]);
  await p.work();
});
afterEach(() => p.remove());

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
const isUntouched = (names = ["kept"]) => {
  assert.deepEqual(readdirSync(trap), names);
  assert.equal(readFileSync(join(trap, "kept"), "utf8"), "the user's own");
};
const asOwner = (use: (loom: OwnedLoom, record: PlanRecord) => unknown) =>
  withLoom(p.root, (loom) => use(loom, p.record("one")));

/** So often that a look and a write with a gap between them lose. */
const ROUNDS = samples(300);

test("a living process that plants links cannot lead the copy of the plan elsewhere", async () => {
  const local = join(worktree, "prloom/.local");
  const places = ["plan.md", "evidence", "bus", "state.json"].map((name) => join(local, name));
  const linker = await plantLinks(join(trap, "kept"), [...places, local]);
  try {
    await asOwner((loom, record) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        try {
          makeRunCopy(loom, record, "what the agent wrote\n");
        } catch (error) {
          // It may be too fast for us to get anything done; that is harmless.
          assert.match(String((error as NodeJS.ErrnoException).code), /ELOOP|ENOTDIR|EEXIST/);
        }
        if (round % 25 === 0) isUntouched();
      }
    });
  } finally {
    await linker.end();
  }
  isUntouched();
});

test("what is copied into a worktree follows no link that lies there, at any depth", thorough, async () => {
  for (const file of ["conf/top", "conf/sub/secret", "conf/sub/deep/secret"]) put(join(p.root, file), "copied");
  symlinkSync("secret", join(p.root, "conf/sub/link"));
  p.config({ copyFiles: ["conf"] });
  await p.cli(["reload", "--yes"]);
  mkdirSync(join(worktree, "conf"));
  symlinkSync(trap, join(worktree, "conf/sub"));
  symlinkSync(join(trap, "kept"), join(worktree, "conf/top"));
  await asOwner((loom) => copyFiles(loom, worktree, true));
  isUntouched();
  assert.ok(lstatSync(join(worktree, "conf/top")).isFile());
  assert.equal(readFileSync(join(worktree, "conf/sub/deep/secret"), "utf8"), "copied");
  assert.ok(lstatSync(join(worktree, "conf/sub/link")).isSymbolicLink());
});

test("a run that left a link to itself where its copy was has claimed nothing", thorough, async () => {
  rmSync(join(worktree, "prloom"), { recursive: true });
  symlinkSync("prloom", join(worktree, "prloom"));
  const runDir = join(p.home, "run");
  put(join(runDir, GIVEN), "## TODO\n\n- [ ] Do it\n");
  await asOwner((loom, record) => assert.equal(claimsOf(loom, record, runDir).tick, "none"));
});

/** Exchanges `<worktree>/<name>` with a link to the trap while `act` is done again and again. */
async function whileSwapping(name: string, act: () => unknown): Promise<void> {
  rmSync(join(worktree, `${name}-link`), { force: true });
  symlinkSync(trap, join(worktree, `${name}-link`));
  const swapper = await swapNames(worktree, name, `${name}-link`);
  try {
    await act();
  } finally {
    await swapper.end();
  }
}

test("nothing is read, removed or made writable through a folder that is exchanged for a link", {
  skip: NO_SWAPS,
}, async () => {
  put(join(worktree, "folder/inner/file"), "x");
  const names = ["closed", "inner", "kept"];
  put(join(trap, "inner/precious"), "the user's own");
  mkdirSync(join(trap, "closed"), { mode: 0o500 });
  await whileSwapping("folder", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      assert.equal(readTextNoFollow(worktree, join("folder", "inner", "precious")), undefined);
      if (round % 10 === 0) await makeWritable(worktree);
    }
  });
  assert.equal(lstatSync(join(trap, "closed")).mode & 0o777, 0o500);
  for (let round = 0; round < ROUNDS / 10; round += 1) {
    rmSync(join(worktree, "bulk"), { recursive: true, force: true });
    for (const name of ["a", "b", "c"]) put(join(worktree, `bulk/folder/inner/${name}`), "x");
    symlinkSync(trap, join(worktree, "bulk/folder-link"));
    const swapper = await swapNames(join(worktree, "bulk"), "folder", "folder-link");
    // Whether all of it went while it was moved about is not the question.
    await removeTree(join(worktree, "bulk")).catch(() => undefined);
    await swapper.end();
    isUntouched(names);
    assert.deepEqual(readdirSync(join(trap, "inner")), ["precious"]);
  }
});

test("evidence is never a copy of what a link leads to", { skip: NO_SWAPS, ...thorough }, async () => {
  const evidence = join(worktree, "prloom/.local/evidence");
  mkdirSync(evidence, { recursive: true });
  writeFileSync(join(evidence, "kept"), "evidence");
  symlinkSync(join(trap, "kept"), join(evidence, "link"));
  const runDir = join(p.home, "run");
  const swapper = await swapNames(evidence, "kept", "link");
  try {
    for (let round = 0; round < 5 * ROUNDS; round += 1) {
      await keepEvidence(worktree, runDir);
      for (const name of existsSync(join(runDir, "evidence")) ? readdirSync(join(runDir, "evidence")) : []) {
        assert.equal(readFileSync(join(runDir, "evidence", name), "utf8"), "evidence");
      }
    }
  } finally {
    await swapper.end();
  }
});
