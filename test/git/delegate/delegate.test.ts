import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { delegateGit, endDelegate } from "../../../src/git/delegate/delegate.ts";
import { git } from "../../../src/git/run.ts";
import { identityOf } from "../../../src/kernel/system/process-tree.ts";
import { usedUp } from "../../../src/kernel/system/used-up.ts";
import { appears } from "../../testing/agents/agent-scripts.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "prloom-delegate-")));
const repo = join(root, "repo");
const bin = join(root, "bin");
const { PATH = "" } = process.env;

/** A git that writes down who started it, and waits where it is told to. */
const TOLD = `#!/bin/sh
echo $PPID > ${root}/parent
case "$*" in *wait-here*) echo $$ > ${root}/waits; exec sleep 600 ;; esac
PATH=${JSON.stringify(PATH)} exec git "$@"
`;

before(async () => {
  for (const dir of [repo, bin]) mkdirSync(dir);
  writeFileSync(join(bin, "git"), TOLD);
  chmodSync(join(bin, "git"), 0o755);
  process.env.PATH = `${bin}:${PATH}`;
  await git(["init", "-q"], { cwd: repo });
  delegateGit();
});
after(async () => {
  await endDelegate();
  rmSync(root, { recursive: true, force: true });
});

const starter = (): number => Number(readFileSync(join(root, "parent"), "utf8"));

/** As many as are started by ourselves, and one more. */
async function untilDelegated(): Promise<number> {
  for (let count = 0; count < 40; count += 1) {
    await git(["version"]);
    if (starter() !== process.pid) return starter();
  }
  return assert.fail("nothing was delegated");
}

test("the first are started here, the others by one process that is not us", async () => {
  await git(["version"]);
  assert.equal(starter(), process.pid);
  const delegate = await untilDelegated();
  await Promise.all([git(["version"]), git(["version"])]);
  assert.equal(starter(), delegate);
});

test("input, output, exit codes and failures are as without it", async () => {
  await untilDelegated();
  const bytes = "h\u00fcllo\0\u00ff\n";
  const write = ["hash-object", "-w", "--stdin"];
  const { stdout: id } = await git(write, { cwd: repo, input: bytes, encoding: "latin1" });
  const read = await git(["cat-file", "blob", id.trim()], { cwd: repo, encoding: "latin1" });
  assert.equal(read.stdout, bytes);
  const pieces = Array.from({ length: 3 }, (_, at) => `${at}`.repeat(10));
  const { stdout: joined } = await git(write, { cwd: repo, input: pieces });
  assert.equal((await git(["cat-file", "blob", joined.trim()], { cwd: repo })).stdout, pieces.join(""));
  const missing = ["rev-parse", "--verify", "--quiet", "no-such"];
  assert.equal((await git(missing, { cwd: repo, allowExit: [1] })).code, 1);
  await assert.rejects(
    git(["rev-parse", "--verify", "no-such"], { cwd: repo }),
    /failed: fatal: Needed a single revision/,
  );
  await assert.rejects(git(["version"], { cwd: join(root, "gone") }), /gone does not exist/);
  await assert.rejects(git(["help", "-a"], { maxOutput: 10 }), { code: "tree-too-large" });
  await assert.rejects(git(["wait-here"], { timeoutMs: 500 }), /no answer within 0.5 s/);
});

test("where git is not told a folder, or one that is relative, it works where we are", async () => {
  await untilDelegated();
  const here = process.cwd();
  process.chdir(root);
  try {
    const top = ["rev-parse", "--show-toplevel"];
    assert.equal((await git(top, { cwd: "repo" })).stdout, `${repo}\n`);
    process.chdir(repo);
    assert.equal((await git(top)).stdout, `${repo}\n`);
    assert.notEqual(starter(), process.pid);
  } finally {
    process.chdir(here);
  }
});

test("what is too long to be handed over whole is written from here, all of it", async () => {
  await untilDelegated();
  const pieces = Array.from({ length: 40 }, (_, at) => String(at % 10).repeat(64 * 1024));
  function* once(): Generator<string> {
    yield* pieces;
  }
  const { stdout: id } = await git(["hash-object", "-w", "--stdin"], { cwd: repo, input: once() });
  assert.equal(starter(), process.pid);
  assert.equal((await git(["cat-file", "blob", id.trim()], { cwd: repo })).stdout, pieces.join(""));
});

test("when it is killed, what it had started fails, and the next is started by another", async () => {
  const delegate = await untilDelegated();
  rmSync(join(root, "waits"), { force: true });
  const waiting = git(["wait-here"]);
  waiting.catch(() => undefined);
  await appears(join(root, "waits"));
  process.kill(delegate, "SIGKILL");
  await assert.rejects(waiting, /exit SIGKILL/);
  process.kill(Number(readFileSync(join(root, "waits"), "utf8")), "SIGKILL");
  assert.match((await git(["version"])).stdout, /git version/);
  assert.notEqual(starter(), delegate);
});

test("it keeps no process alive, and ends with the one that it works for, however that ends", async () => {
  const module = (name: string) => new URL(`../../../src/git/${name}`, import.meta.url).href;
  for (const last of ["", "process.kill(process.pid, 'SIGKILL');"]) {
    rmSync(join(root, "parent"), { force: true });
    const code = `import { delegateGit } from "${module("delegate/delegate.ts")}"; import { git } from "${module("run.ts")}";
      delegateGit(); for (let count = 0; count < 40; count += 1) await git(["version"]); ${last}`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    await once(child, "exit");
    assert.notEqual(starter(), child.pid);
    while (identityOf(starter())) await new Promise((resolve) => setImmediate(resolve));
  }
  assert(existsSync(join(root, "parent")));
});

// The last: for a while after it nothing is delegated.
test("where processes are scarce each git is started here, which finds out whether there is one left", async () => {
  await untilDelegated();
  usedUp("processes", "a test", undefined);
  await git(["version"]);
  assert.equal(starter(), process.pid);
});
