import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ProtectedFiles } from "../../src/hosts/protected-files.ts";
import { plainDisk, type WorktreeDisk } from "../../src/hosts/worktree-disk.ts";
import { thorough } from "../testing/thorough.ts";
import { type GovernedFiles, governedFiles } from "./run.ts";

const made: GovernedFiles[] = [];
afterEach(() => {
  for (const files of made.splice(0)) files.remove();
});

/** A worktree with what is protected by itself, by the config in one place, and by the config anywhere. */
async function kept(diskOf = plainDisk) {
  const files = governedFiles();
  made.push(files);
  const write = (path: string, text: string): void => {
    mkdirSync(join(files.root, path, ".."), { recursive: true });
    writeFileSync(join(files.root, path), text);
  };
  write(".github/ci.yml", "good\n");
  write(".github/deep/deep.yml", "deep\n");
  write(".claude/settings.json", "{}\n");
  write("lib/deep/deploy.yml", "deploy\n");
  write("prloom/config.json", "{}\n");
  write("prloom/.local/plan.md", "plan\n");
  symlinkSync("ci.yml", join(files.root, ".github", "link.yml"));
  const patterns = ["prloom", ".claude", ".opencode", ".git", "**/.git", ".github/**", "**/deploy.yml"];
  const guard = new ProtectedFiles({ root: files.root, protected: patterns }, diskOf(files.root));
  await guard.begin();
  const read = (path: string): string => readFileSync(join(files.root, path), "utf8");
  return { root: files.root, guard, write, read };
}

test("what was changed, made, removed or replaced by a link is as it was, and named", async () => {
  const { root, guard, write, read } = await kept();
  write(".github/ci.yml", "evil\n");
  write(".opencode/plugin/mine.js", "evil\n");
  rmSync(join(root, ".claude"), { recursive: true });
  symlinkSync("src", join(root, ".claude"));
  rmSync(join(root, ".github", "link.yml"));
  rmSync(join(root, "prloom", "config.json"));
  const back = await guard.putBack();
  assert.deepEqual([...back].sort(), [
    ".claude",
    ".claude/settings.json",
    ".github/ci.yml",
    ".github/link.yml",
    ".opencode/plugin/mine.js",
    "prloom/config.json",
  ]);
  assert.deepEqual([".github/ci.yml", ".claude/settings.json", "prloom/config.json"].map(read), [
    "good\n",
    "{}\n",
    "{}\n",
  ]);
  assert.equal(lstatSync(join(root, ".github", "link.yml")).isSymbolicLink(), true);
  assert.equal(existsSync(join(root, ".opencode", "plugin", "mine.js")), false);
  assert.equal(existsSync(join(root, "src", "settings.json")), false);
  assert.deepEqual(await guard.putBack(), []);
});

/** What a script can do to keep us from looking, or from putting back. */
const IN_THE_WAY = {
  "a link to itself": "rm -r .github && ln -s .github .github",
  "folders that are locked": "chmod 000 .github/deep .github",
  "a folder that may not be written": "chmod 555 .github",
  "folders too deep for a path":
    'cd .github && name=$(printf "%0250d" 0) && for _ in $(seq 20); do mkdir $name && cd -P $name; done',
  "a folder in the place of a file": "rm .github/ci.yml && mkdir -p .github/ci.yml/x && touch .github/ci.yml/x/y",
  "more files than are looked at": "mkdir .github/many && cd .github/many && touch $(seq 1500)",
};

for (const [what, script] of Object.entries(IN_THE_WAY)) {
  test(`${what} does not keep it from being put back`, async () => {
    const { root, guard, write, read } = await kept();
    write(".github/ci.yml", "evil\n");
    write(".github/deep/own.yml", "evil\n");
    write(".claude/settings.json", "evil\n");
    execFileSync("bash", ["-c", script], { cwd: root });
    const back = await guard.putBack();
    assert(back.includes(".github/ci.yml") && back.includes(".claude/settings.json"), back.join());
    assert.deepEqual([".github/ci.yml", ".github/deep/deep.yml", ".claude/settings.json"].map(read), [
      "good\n",
      "deep\n",
      "{}\n",
    ]);
    assert.equal(existsSync(join(root, ".github/deep/own.yml")), false);
    await guard.putBack();
    assert.deepEqual(await guard.putBack(), []);
  });
}

test("names that are not UTF-8 are found, put back and taken away like others", thorough, async () => {
  const files = governedFiles();
  made.push(files);
  const at = (...name: readonly (string | number)[]): Buffer =>
    Buffer.concat([
      Buffer.from(`${files.root}/.claude/`),
      ...name.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from([part]))),
    ]);
  mkdirSync(at("agents"), { recursive: true });
  writeFileSync(at("agents/", 0xff, ".md"), "good\n");
  const guard = new ProtectedFiles({ root: files.root, protected: [".claude"] });
  await guard.begin();
  writeFileSync(at("agents/", 0xff, ".md"), "evil\n");
  writeFileSync(at(0xfe), "evil\n");
  mkdirSync(at("commands/", 0xfd), { recursive: true });
  writeFileSync(at("commands/", 0xfd, "/x.md"), "evil\n");
  assert.equal((await guard.putBack()).length, 3);
  assert.equal(readFileSync(at("agents/", 0xff, ".md"), "utf8"), "good\n");
  assert.deepEqual([existsSync(at(0xfe)), existsSync(at("commands/", 0xfd, "/x.md"))], [false, false]);
  assert.deepEqual(await guard.putBack(), []);
});

test("a folder of very many files is taken away as one, and others have their turn meanwhile", thorough, async () => {
  const { root, guard } = await kept();
  execFileSync("bash", ["-c", "mkdir .claude/many && cd .claude/many && touch $(seq 10000)"], { cwd: root });
  let turns = 0;
  const count = (): void => {
    turns += 1;
    next = globalThis.setImmediate(count);
  };
  let next = globalThis.setImmediate(count);
  const back = await guard.putBack();
  clearImmediate(next);
  assert.deepEqual(back, [".claude/many"]);
  assert.equal(existsSync(join(root, ".claude/many")), false);
  assert(turns > 3, `${turns} turns`);
});

test("what a script changed and committed is found as well", async () => {
  const { root, guard, write, read } = await kept();
  write(".github/ci.yml", "evil\n");
  const as = ["-c", "user.name=a", "-c", "user.email=a@localhost"];
  execFileSync("git", ["-C", root, "add", "-A"]);
  execFileSync("git", ["-C", root, ...as, "commit", "-qm", "mine"]);
  assert.deepEqual(await guard.putBack(), [".github/ci.yml"]);
  assert.equal(read(".github/ci.yml"), "good\n");
});

test("files that may be anywhere are found among those that changed", async () => {
  const { root, guard, write, read } = await kept();
  write("lib/deep/deploy.yml", "evil\n");
  write("src/deploy.yml", "evil\n");
  assert.deepEqual(await guard.putBack(), ["lib/deep/deploy.yml"]);
  assert.deepEqual(await guard.putBackFound(["src/deploy.yml", "src/a.ts"]), ["src/deploy.yml"]);
  assert.equal(read("lib/deep/deploy.yml"), "deploy\n");
  assert.equal(existsSync(join(root, "src/deploy.yml")), false);
});

test("answers, ordinary files, what OpenCode installs, and what was only touched stay as they are", async () => {
  const { root, guard, write, read } = await kept();
  write("prloom/.local/plan.md", "ticked\n");
  write("src/a.ts", "work\n");
  write(".opencode/package.json", "{}\n");
  write(".opencode/node_modules/x/index.js", "\n");
  utimesSync(join(root, ".github/ci.yml"), 1, 1);
  assert.deepEqual(await guard.putBack(), []);
  assert.deepEqual(await guard.putBackFound(["src/a.ts"]), []);
  assert.deepEqual([read("prloom/.local/plan.md"), read("src/a.ts")], ["ticked\n", "work\n"]);
  assert.equal(existsSync(join(root, ".opencode/node_modules/x/index.js")), true);
});

/** As for everyone but root, whom no mode of a file keeps from reading it. */
function modesCount(root: string): WorktreeDisk {
  const disk = plainDisk(root);
  const isOpen = (path: Buffer): boolean => (lstatSync(join(root, path.toString())).mode & 0o400) !== 0;
  return {
    ...disk,
    read: async (path) => (isOpen(path) ? disk.read(path) : Promise.reject(new Error("EACCES: permission denied"))),
  };
}

test("files that may not be read are put back, and keep no others from that", async () => {
  const { root, guard, write, read } = await kept(modesCount);
  write(".claude/settings.json", "evil\n");
  write(".github/ci.yml", "evil\n");
  chmodSync(join(root, ".claude/settings.json"), 0);
  assert.deepEqual((await guard.putBack()).toSorted(), [".claude/settings.json", ".github/ci.yml"]);
  assert.deepEqual([".claude/settings.json", ".github/ci.yml"].map(read), ["{}\n", "good\n"]);
});

for (const what of ["read", "write"] as const)
  test(`what a script in the background writes right after our own ${what} is put back the next time`, async () => {
    let isDue = false;
    const raced = (root: string): WorktreeDisk => {
      const disk = plainDisk(root);
      const after = async <T>(ours: Promise<T>): Promise<T> => {
        const done = await ours;
        if (isDue) writeFileSync(join(root, ".github/ci.yml"), "evil again\n");
        isDue = false;
        return done;
      };
      if (what === "read") return { ...disk, read: (path) => after(disk.read(path)) };
      return { ...disk, write: (...file) => after(disk.write(...file)) };
    };
    const { root, guard, write, read } = await kept(raced);
    if (what === "write") write(".github/ci.yml", "evil\n");
    else utimesSync(join(root, ".github/ci.yml"), 1, 1);
    isDue = true;
    await guard.putBack();
    assert.equal(read(".github/ci.yml"), "evil again\n");
    assert.deepEqual(await guard.putBack(), [".github/ci.yml"]);
    assert.equal(read(".github/ci.yml"), "good\n");
  });

test("a script that writes without end keeps nothing from being put back, and is told of each time", async () => {
  const { root, guard, read } = await kept();
  const script = spawn("sh", ["-c", "while :; do echo evil > .github/ci.yml; done"], { cwd: root, stdio: "ignore" });
  const ended = once(script, "exit");
  try {
    for (let round = 0; round < 30; round += 1) {
      while (read(".github/ci.yml") === "good\n") await setImmediate();
      assert.deepEqual(await guard.putBack(), [".github/ci.yml"], `round ${round}`);
    }
  } finally {
    // As long as it lives it writes into what is removed behind the test.
    script.kill("SIGKILL");
    await ended;
  }
});

test("a file that is too large to be kept is not said to be as it was again", async () => {
  const files = governedFiles();
  made.push(files);
  mkdirSync(join(files.root, ".claude"));
  writeFileSync(join(files.root, ".claude/large"), Buffer.alloc(1024 ** 2 + 1));
  const guard = new ProtectedFiles({ root: files.root, protected: [".claude"] });
  await guard.begin();
  writeFileSync(join(files.root, ".claude/large"), "evil\n");
  assert.deepEqual(await guard.putBack(), []);
});
