import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, describe, test } from "node:test";
import { appears, until } from "../../testing/agents/agent-scripts.ts";
import { startDaemon, succeeds } from "../../testing/daemon.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { oneOf } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";

const NO_SPACE = /No space left on (the disk|device)/;

interface Filled {
  again(room?: number): Promise<void>;
  free(): void;
}

describe("a full disk", () => {
  const base = mkdtempSync(join(tmpdir(), "prloom-disk-"));
  const disk = join(base, "disk");
  const roomy = join(base, "roomy");
  let mounted = false;

  before(async () => {
    mkdirSync(disk);
    mkdirSync(roomy);
    mounted = await succeeds("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", disk]);
  });
  after(async () => {
    if (mounted) assert(await succeeds("umount", ["-l", disk]));
    rmSync(base, { recursive: true, force: true });
  });

  /** Takes all the space that is left but `room`, again after a note of the dispatcher has given some back; `free` gives it back. */
  async function fill(project: Project, room = 0): Promise<Filled> {
    const ballast = join(disk, "ballast");
    const notes = join(project.authority, "writing");
    const again = async (left = room): Promise<void> => {
      if (existsSync(notes)) await until(notes, () => readdirSync(notes).length === 0);
      const fd = openSync(ballast, "a");
      for (const size of [64 * 1024, 4096, 1]) {
        try {
          for (;;) writeSync(fd, Buffer.alloc(size));
        } catch (error) {
          assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
        }
      }
      closeSync(fd);
      truncateSync(ballast, statSync(ballast).size - left);
    };
    await again();
    return { again, free: () => rmSync(ballast) };
  }

  function projectOnDisk(config: Record<string, unknown> = {}): Project {
    const dir = mkdtempSync(join(disk, "project-"));
    return makeProject({ dir, env: { GATE: join(roomy, "gate") }, config });
  }

  for (const [what, ...command] of oneOf([
    ["deletes its plan", "delete", "one", "--yes"],
    ["cleans up", "clean", "one"],
  ] as const))
    test(
      `with no room for what a worktree has in no commit, nothing of that goes when a person ${what}`,
      thorough,
      async (context) => {
        if (!mounted) return context.skip("a tmpfs cannot be mounted here (needs root)");
        const project = projectOnDisk();
        for (const id of ["one", "tidy"]) project.plan(id, ["one"]);
        await project.work();
        if (command[0] === "clean") for (const id of ["one", "tidy"]) await project.cli(["merge", id]);
        const precious = join(project.worktree("one"), "precious.bin");
        writeFileSync(precious, randomBytes(500_000));
        const { free } = await fill(project, 200_000);
        const full = await project.cli(command);
        assert.match(`${full.stdout}${full.stderr}`, NO_SPACE);
        assert.ok(existsSync(precious));
        // To take away what holds nothing is a way to get room.
        if (command[0] === "clean") assert.equal((await project.cli(["clean", "tidy"])).code, 0);
        free();
        const { stdout } = await project.cli(["clean"]);
        assert.equal(existsSync(precious), false);
        assert.match(stdout, /^kept: what one had in no commit, in .*left\.patch/m);
        project.remove();
      },
    );

  test(
    "without a byte left keeps every worktree and says so, and needs little to let those go that hold nothing",
    thorough,
    async (context) => {
      if (!mounted) return context.skip("a tmpfs cannot be mounted here (needs root)");
      const project = projectOnDisk();
      for (const id of ["holds", "tidy"]) project.plan(id, ["one"]);
      project.plan("review", ["one"]);
      await project.work();
      for (const id of ["holds", "tidy"]) await project.cli(["merge", id]);
      const precious = join(project.worktree("holds"), "precious.txt");
      writeFileSync(precious, "precious\n");
      const full = await fill(project);
      const deleted = await project.cli(["delete", "review", "--yes"]);
      assert.match(
        deleted.stderr,
        /No space left on the disk while writing .*\n {2}hint: Free some space; .*type a command again/,
      );
      assert.equal(project.record("review").deleted, undefined);
      await full.again();
      const kept = await project.cli(["clean", "holds"]);
      assert.match(
        kept.stdout,
        /holds stays: it holds what is in no commit.*No space left.*`prloom clean` tries again/,
      );
      await full.again();
      assert.match((await project.cli(["clean", "tidy"])).stdout, /^of tidy could not be removed: No space left/m);
      assert.equal(existsSync(project.worktree("tidy")), true);
      await full.again(16_384);
      const cleaned = await project.cli(["clean", "tidy"]);
      assert.deepEqual(
        [cleaned.code, cleaned.stdout.split("\n")[0]],
        [0, "removed the worktree of tidy"],
        cleaned.stderr,
      );
      assert.deepEqual([existsSync(precious), existsSync(project.worktree("tidy"))], [true, false]);
      full.free();
      assert.match((await project.cli(["clean"])).stdout, /^kept: what holds had in no commit, in .*left\.patch/m);
      assertWhole(project);
      project.remove();
    },
  );

  test("is named by every command, loses nothing, and what waited goes on when there is space", async (context) => {
    if (!mounted) return context.skip("a tmpfs cannot be mounted here (needs root)");
    const project = projectOnDisk();
    project.plan("first", ["one", "two"], { status: "draft" });
    project.plan("second", ["one"], { status: "draft" });
    const daemon = await startDaemon(project);
    await daemon.said("second", /found in the inbox, draft/);
    writeFileSync(join(disk, "late.md"), "## TODO\n\n- [ ] one\n");
    const full = await fill(project);
    // Renaming needs no space, so this plan can arrive on a disk that is full.
    renameSync(join(disk, "late.md"), join(project.inbox, "late.md"));
    await daemon.said("late", NO_SPACE);
    for (const args of [
      ["queue", "first"],
      ["comment", "first", "please hurry"],
      ["queue", "late"],
      ["hide", "second"],
    ]) {
      await full.again();
      const result = await project.cli(args);
      assert.equal(result.code, 1, args.join(" "));
      assert.match(result.stderr, /No space left on the disk.*\[disk-full\]\n {2}hint: Free some space/);
    }
    assert.deepEqual([project.record("first").status, project.record("second").hidden], ["draft", false]);
    assert.equal((await project.status()).plans.length, 3);

    full.free();
    const queued = await project.cli(["queue", "first", "second", "late"]);
    assert.equal(queued.code, 0, queued.stderr);
    for (const id of ["first", "second", "late"]) await daemon.said(id, /in review/);
    assert.equal((await daemon.end()).code, 0);
    assert.deepEqual(project.commits("first"), ["one", "two"]);
    assert.deepEqual(project.commits("second"), ["one"]);
    assert.deepEqual(project.commits("late"), ["one"]);
    assertWhole(project);
    project.remove();
  });

  test("under an agent at work costs no work and makes no second commit", thorough, async (context) => {
    if (!mounted) return context.skip("a tmpfs cannot be mounted here (needs root)");
    const dir = mkdtempSync(join(disk, "project-"));
    const worktreesDir = relative(join(dir, "repo"), join(roomy, "worktrees"));
    const project = makeProject({ dir, env: { GATE: join(roomy, "gate") }, config: { worktreesDir } });
    project.plan("working", ["[waits] one", "two"]);
    const daemon = await startDaemon(project);
    await daemon.said("working", /worker started/);
    await appears(join(roomy, "worktrees", "working", "half.txt"));
    const full = await fill(project);
    mkdirSync(join(roomy, "gate"), { recursive: true });
    writeFileSync(join(roomy, "gate", "working"), "go on\n");
    await daemon.said("working", NO_SPACE);
    full.free();
    await daemon.said("working", /in review/);
    assert.equal((await daemon.end()).code, 0);
    assert.deepEqual(project.commits("working"), ["[waits] one", "two"]);
    assert.equal(project.git("show", "prloom/working:half.txt"), "half of [waits] one\n");
    assert.equal(project.git("show", "prloom/working:work.txt"), "[waits] one\ntwo\n");
    assertWhole(project);
    project.remove();
  });

  test("at the start is a user's error, not a bug in prloom", thorough, async (context) => {
    if (!mounted) return context.skip("a tmpfs cannot be mounted here (needs root)");
    const project = projectOnDisk();
    project.plan("first", ["one"]);
    const full = await fill(project);
    const refused = await project.work();
    assert.equal(refused.code, 1, refused.stdout);
    assert.match(refused.stderr, /No space left.*\[disk-full\]\n {2}hint: Free some space/);
    full.free();
    const result = await project.work();
    assert.equal(result.code, 0, result.stderr);
    assert.deepEqual(project.commits("first"), ["one"]);
    assertWhole(project);
    project.remove();
  });

  function assertWhole(project: Project): void {
    project.git("fsck", "--no-dangling");
    const left = readdirSync(project.authority, { recursive: true, encoding: "utf8" }).filter((name) =>
      /\.tmp$|\.lock$/.test(name),
    );
    assert.deepEqual(left, ["daemon.lock"]);
    assert.equal(existsSync(join(project.root, ".git", "index.lock")), false);
    assert.deepEqual(project.processes(), []);
  }
});
