import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readPlainRepository } from "../../src/git/plain-repository.ts";
import { openRepository } from "../../src/git/repository.ts";
import { plainGit, sandbox, write } from "./fixture.ts";

interface Place {
  readonly root: string;
  readonly gitDir: string;
}

/** What is done to an ordinary repository, and whether its files still say all without git. */
const SHAPES: Readonly<Record<string, { readonly make: (place: Place) => void; readonly isPlain: boolean }>> = {
  "as git makes it": { make: () => undefined, isPlain: true },
  "a detached HEAD": { make: ({ root }) => plainGit(root, "checkout", "-q", "--detach"), isPlain: true },
  "packed refs": { make: ({ root }) => plainGit(root, "pack-refs", "--all", "--prune"), isPlain: true },
  "a working tree elsewhere": {
    make({ root }) {
      mkdirSync(join(root, "../elsewhere"));
      plainGit(root, "config", "core.worktree", "../../elsewhere");
    },
    isPlain: false,
  },
  "a setting on the line of its section": {
    make({ root, gitDir }) {
      mkdirSync(join(root, "../elsewhere"));
      appendFileSync(join(gitDir, "config"), "[core] worktree = ../../elsewhere\n");
    },
    isPlain: false,
  },
  "settings from another file": {
    make: ({ root }) => plainGit(root, "config", "include.path", "more"),
    isPlain: false,
  },
  "an extension": {
    make({ root }) {
      plainGit(root, "config", "core.repositoryFormatVersion", "1");
      plainGit(root, "config", "extensions.worktreeConfig", "true");
    },
    isPlain: false,
  },
  "bare by its settings": { make: ({ root }) => plainGit(root, "config", "core.bare", "true"), isPlain: false },
  "a git folder elsewhere": {
    make: ({ root }) => plainGit(root, "init", "-q", "--separate-git-dir", join(root, "../elsewhere.git")),
    isPlain: false,
  },
  "a git folder by a link": {
    make({ root, gitDir }) {
      plainGit(root, "init", "-q", "--separate-git-dir", join(root, "../elsewhere.git"));
      rmSync(gitDir);
      symlinkSync("../elsewhere.git", gitDir);
    },
    isPlain: false,
  },
  "a file called HEAD beside it": { make: ({ root }) => write(root, { HEAD: "mine\n" }), isPlain: false },
};

for (const [name, { make, isPlain }] of Object.entries(SHAPES)) {
  test(`a repository is found as git finds it: ${name}`, async (t) => {
    const box = await sandbox();
    t.after(box.close);
    const place = { root: box.repo.root, gitDir: box.repo.commonDir };
    make(place);
    const inside = join(place.root, "src/deep");
    assert.equal(readPlainRepository(inside) !== undefined, isPlain);
    if (!isPlain) return;
    const [root, commonDir] = plainGit(
      inside,
      "rev-parse",
      "--path-format=absolute",
      "--show-toplevel",
      "--git-common-dir",
    ).split("\n");
    assert.deepEqual(readPlainRepository(inside), { root, commonDir });
    assert.deepEqual(await openRepository(inside), { root, commonDir, bare: false });
  });
}

test("folders of another user, and what is no repository, are left to git", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  assert.equal(readPlainRepository(box.dir), undefined);
  assert.equal(readPlainRepository(join(box.dir, "gone")), undefined);
  assert.equal(readPlainRepository(box.repo.commonDir), undefined, "inside of .git");
  rmSync(join(box.repo.commonDir, "HEAD"));
  assert.equal(readPlainRepository(box.repo.root), undefined, "half a repository");
  if (process.getuid?.() !== 0) return;
  const other = await sandbox();
  t.after(other.close);
  chownSync(other.repo.commonDir, 65534, 65534);
  assert.equal(readPlainRepository(other.repo.root), undefined);
  await assert.rejects(openRepository(other.repo.root), /dubious ownership/);
});

test("an ordinary repository is found without a git process, but not without a git", async (t) => {
  const box = await sandbox();
  t.after(box.close);
  const { PATH } = process.env;
  t.after(() => {
    process.env.PATH = PATH;
  });
  const programs = join(box.dir, "programs");
  mkdirSync(programs);
  process.env.PATH = programs;
  await assert.rejects(openRepository(box.repo.root), { code: "git-failed", hint: /Install git/ });
  writeFileSync(join(programs, "git"), `#!/bin/sh\n: > '${box.dir}/started'\nexit 1\n`);
  chmodSync(join(programs, "git"), 0o755);
  assert.deepEqual(await openRepository(join(box.repo.root, "src")), box.repo);
  assert.equal(existsSync(join(box.dir, "started")), false);
});
