import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Worktree } from "../../../src/git/worktree/worktrees.ts";
import { BRANCH, plainGit, write } from "../fixture.ts";

/** Something that an agent did with git or the tree beside its honest change to a.txt. */
export interface Trick {
  readonly play: (worktree: Worktree, root: string) => void;
  /** Paths in the commit, beside the honest change to a.txt. */
  readonly also?: string[];
}

function commitAll(path: string, message: string): void {
  plainGit(path, "add", "-A");
  plainGit(path, "commit", "-q", "-m", message);
}

export const tricks: Record<string, Trick> = {
  "nothing special": { play: () => undefined },
  "commits by itself": { play: ({ path }) => commitAll(path, "mine") },
  "commits twice and leaves more": {
    play: ({ path }) => {
      commitAll(path, "mine");
      write(path, { "n1.txt": "1" });
      commitAll(path, "mine too");
      write(path, { "n2.txt": "2" });
    },
    also: ["n1.txt", "n2.txt"],
  },
  "switches to a branch of its own": {
    play: ({ path }) => {
      plainGit(path, "checkout", "-q", "-b", "agent-branch");
      commitAll(path, "mine");
    },
  },
  "detaches HEAD and commits": {
    play: ({ path }) => {
      plainGit(path, "checkout", "-q", "--detach");
      commitAll(path, "mine");
    },
  },
  "deletes the branch": {
    play: ({ path }) => {
      plainGit(path, "checkout", "-q", "--detach");
      plainGit(path, "branch", "-D", BRANCH);
    },
  },
  "renames the branch": { play: ({ path }) => plainGit(path, "branch", "-m", "mine-now") },
  "makes the branch a link to main": {
    play: ({ path }) => {
      plainGit(path, "checkout", "-q", "--detach");
      plainGit(path, "symbolic-ref", `refs/heads/${BRANCH}`, "refs/heads/main");
    },
  },
  "writes garbage into HEAD": { play: ({ gitDir }) => writeFileSync(join(gitDir, "HEAD"), "nonsense\n") },
  "writes garbage into the branch": {
    play: ({ commonDir }) => writeFileSync(join(commonDir, "refs/heads", BRANCH), "nonsense\n"),
  },
  "replaces HEAD by a link": {
    play: ({ gitDir, commonDir }) => {
      unlinkSync(join(gitDir, "HEAD"));
      symlinkSync(join(commonDir, "HEAD"), join(gitDir, "HEAD"));
    },
  },
  "shows other files in the place of the base": {
    play: ({ path }) => {
      const base = plainGit(path, "rev-parse", "HEAD").trim();
      const tree = plainGit(path, "mktree", "--missing").trim();
      plainGit(path, "replace", base, plainGit(path, "commit-tree", "-m", "mine", tree).trim());
    },
  },
  "cuts the history of what it commits": {
    play: ({ path, commonDir }) => {
      commitAll(path, "mine");
      writeFileSync(join(commonDir, "info", "grafts"), plainGit(path, "rev-parse", "HEAD"));
    },
  },
  "leaves locks": {
    play: ({ gitDir, commonDir }) => {
      for (const file of [join(gitDir, "index.lock"), join(gitDir, "HEAD.lock")]) writeFileSync(file, "");
      writeFileSync(join(commonDir, "refs/heads", `${BRANCH}.lock`), "");
    },
  },
  "writes garbage into the index": { play: ({ gitDir }) => writeFileSync(join(gitDir, "index"), "nonsense") },
  "deletes the index": { play: ({ gitDir }) => unlinkSync(join(gitDir, "index")) },
  "hides the change with assume-unchanged": {
    play: ({ path }) => plainGit(path, "update-index", "--assume-unchanged", "a.txt"),
  },
  "hides the change with skip-worktree": {
    play: ({ path }) => plainGit(path, "update-index", "--skip-worktree", "a.txt"),
  },
  "removes files from the index only": {
    play: ({ path }) => plainGit(path, "rm", "-q", "--cached", "b.txt", "src/deep/c.ts"),
  },
  "makes the checkout sparse": {
    play: ({ path }) => {
      plainGit(path, "stash", "-q");
      plainGit(path, "sparse-checkout", "set", "--no-cone", "/*", "!/b.txt");
      plainGit(path, "stash", "pop", "-q");
      plainGit(path, "sparse-checkout", "reapply");
      write(path, { "b.txt": "two\n" });
    },
  },
  "is in the middle of a conflicting merge": {
    play: ({ path }) => {
      commitAll(path, "mine");
      plainGit(path, "checkout", "-q", "-b", "theirs", "HEAD~1");
      write(path, { "a.txt": "theirs\n" });
      commitAll(path, "theirs");
      plainGit(path, "checkout", "-q", BRANCH);
      assert.throws(() => plainGit(path, "merge", "theirs"));
    },
  },
  "is in the middle of a rebase": {
    play: ({ path }) => {
      commitAll(path, "mine");
      plainGit(path, "checkout", "-q", "-b", "theirs", "HEAD~1");
      write(path, { "a.txt": "theirs\n" });
      commitAll(path, "theirs");
      plainGit(path, "checkout", "-q", BRANCH);
      assert.throws(() => plainGit(path, "rebase", "theirs"));
    },
  },
  "deletes the .git file": { play: ({ path }) => unlinkSync(join(path, ".git")) },
  "installs hooks": {
    play: ({ commonDir }) => {
      for (const hook of ["pre-commit", "commit-msg", "reference-transaction", "post-index-change"]) {
        writeFileSync(join(commonDir, "hooks", hook), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
      }
    },
  },
  "configures programs to run": {
    play: ({ path, gitDir }) => {
      const evil = `touch ${gitDir}/evil`;
      for (const key of ["core.fsmonitor", "core.pager", "core.editor", "diff.external", "core.sshCommand"]) {
        plainGit(path, "config", key, evil);
      }
      plainGit(path, "config", "commit.gpgsign", "true");
    },
  },
  "nests a repository without a commit": {
    play: ({ path }) => {
      mkdirSync(join(path, "nested"));
      plainGit(join(path, "nested"), "init", "-q");
      write(path, { "nested/x.txt": "x" });
    },
    also: ["nested/x.txt"],
  },
  "nests a repository with a commit and stages it": {
    play: ({ path }) => {
      mkdirSync(join(path, "nested"));
      plainGit(join(path, "nested"), "init", "-q");
      write(path, { "nested/x.txt": "x" });
      commitAll(join(path, "nested"), "inner");
      plainGit(path, "add", "-A");
    },
    also: ["nested/x.txt"],
  },
  "makes a repository and declares it a submodule": {
    play: ({ path }) => {
      mkdirSync(join(path, "more/new"), { recursive: true });
      plainGit(join(path, "more/new"), "init", "-q");
      write(path, { "more/new/x.txt": "x", ".gitmodules": '[submodule "n"]\n\tpath = more/new\n\turl = ./n\n' });
      commitAll(join(path, "more/new"), "inner");
      plainGit(path, "add", "-A");
    },
    also: [".gitmodules", "more/new/x.txt"],
  },
  "hides a repository in a repository": {
    play: ({ path }) => {
      for (const folder of ["far/one", "far/one/two", "far/one/two/three"]) {
        mkdirSync(join(path, folder), { recursive: true });
        plainGit(join(path, folder), "init", "-q");
        write(path, { [`${folder}/x.txt`]: "x" });
      }
    },
    also: ["far/one/two/three/x.txt", "far/one/two/x.txt", "far/one/x.txt"],
  },
  "leaves a pipe where git reads attributes": {
    play: ({ path }) => execFileSync("mkfifo", [join(path, ".gitattributes"), join(path, "src/deep/.gitignore")]),
  },
  "writes names that are git's own on other disks": {
    play: ({ path }) => write(path, { "x/.GIT/config": "x", "x/git~1": "x", ".Git/y": "y", "x/real": "x" }),
    also: ["x/real"],
  },
  "writes protected files in capital letters": {
    play: ({ path }) => write(path, { "PRLOOM/config.json": "{}", ".Claude/x": "", ".cursor/mcp.json": "{}" }),
  },
  "makes a repository in a tracked folder": {
    play: ({ path }) => {
      plainGit(join(path, "src"), "init", "-q");
      write(path, { "src/new.ts": "n" });
    },
    also: ["src/new.ts"],
  },
  "uses odd file names": {
    play: ({ path }) => write(path, { ":(exclude)x": "1", "new\nline": "2", "-f": "3", "ü *?[a].txt": "4" }),
    also: ["-f", ":(exclude)x", "new\nline", "ü *?[a].txt"],
  },
  "leaves a named pipe": { play: ({ path }) => execFileSync("mkfifo", [join(path, "pipe")]) },
  "writes a file name that is not UTF-8": {
    play: ({ path }) => writeFileSync(Buffer.concat([Buffer.from(`${path}/ignored-not-`), Buffer.from([0xff])]), "x"),
    also: ["ignored-not-\ufffd"],
  },
  "changes and stages protected files": {
    play: ({ path }) => {
      write(path, { "prloom/config.json": '{"evil": true}', "prloom/new.json": "{}", "prloom/.local/x": "x" });
      plainGit(path, "add", "-f", "-A", "prloom");
      plainGit(path, "commit", "-q", "-m", "mine");
      rmSync(join(path, "prloom/config.json"));
    },
  },
};
