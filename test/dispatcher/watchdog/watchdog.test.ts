import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { describe, it, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { clearNote, readNote, startWatchdog } from "../../../src/dispatcher/watchdog/watchdog.ts";
import { PrloomError } from "../../../src/kernel/errors.ts";

const WATCHDOG = new URL("../../../src/dispatcher/watchdog/watchdog.ts", import.meta.url).href;
const LIMIT_MS = 1500;

interface Child {
  readonly child: ChildProcess;
  readonly noteFile: string;
  readonly stdout: AsyncIterator<string>;
  readonly stderr: Promise<string>;
  /** How it ended: an exit code or a signal. */
  readonly ended: Promise<number | string>;
}

/** A process with a running watchdog, and then the given statements. */
function startChild(t: TestContext, statements: string): Child {
  const dir = mkdtempSync(join(tmpdir(), "prloom-watchdog-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const noteFile = join(dir, "watchdog.json");
  const script = join(dir, "child.mjs");
  writeFileSync(
    script,
    `import { setTimeout as delay } from "node:timers/promises";
    import { startWatchdog } from ${JSON.stringify(WATCHDOG)};
    const started = Promise.withResolvers();
    const watchdog = startWatchdog({ noteFile: ${JSON.stringify(noteFile)}, onStart: started.resolve });
    const starting = setInterval(() => undefined, 1000);
    await started.promise;
    clearInterval(starting);
    const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    ${statements}`,
  );
  const child = spawn(process.execPath, [script], {
    env: { ...process.env, PRLOOM_WATCHDOG_MS: String(LIMIT_MS) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "exit").then(([code, signal]) => code ?? signal);
  const stdout = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, noteFile, stdout, stderr: text(child.stderr), ended };
}

describe("a process with a watchdog", { concurrency: 4 }, () => {
  it("a call that blocks the loop is ended, named on stderr and in the note", async (t) => {
    const { noteFile, stderr, ended } = startChild(t, 'watchdog.entering("onEvent:bad"); while (true) {}');
    assert.equal(await ended, "SIGKILL");
    const note = readNote(noteFile);
    assert.equal(note?.label, "onEvent:bad");
    assert.equal(note.blockedMs, LIMIT_MS);
    assert.ok(!Number.isNaN(Date.parse(note.at)));
    assert.equal(
      await stderr,
      "prloom: onEvent:bad blocked the dispatcher for 2 s; ended it. The attempt is counted; run `prloom start` again.\n",
    );
    clearNote(noteFile);
    assert.equal(readNote(noteFile), undefined);
    clearNote(noteFile);
  });

  it("calls that overlap end in any order; the newest open one is named, cut to what fits", async (t) => {
    const { noteFile, ended } = startChild(
      t,
      `const first = watchdog.entering("first");
    const long = watchdog.entering("é".repeat(300));
    const third = watchdog.entering("third");
    watchdog.left(first);
    watchdog.left(third);
    watchdog.left(third);
    block();`,
    );
    assert.equal(await ended, "SIGKILL");
    assert.equal(readNote(noteFile)?.label, "é".repeat(100));
  });

  it("when every call is over, none is blamed", async (t) => {
    const { noteFile, stderr, ended } = startChild(t, 'watchdog.left(watchdog.entering("onEvent:good")); block();');
    assert.equal(await ended, "SIGKILL");
    assert.equal(readNote(noteFile)?.label, "");
    assert.match(await stderr, /^prloom: something in prloom itself blocked/);
  });

  it("a call that waits for long is left alone, and the watchdog keeps no process alive", async (t) => {
    const { noteFile, ended } = startChild(t, `watchdog.entering("onEvent:slow"); await delay(${LIMIT_MS * 2});`);
    assert.equal(await ended, 0);
    assert.equal(readNote(noteFile), undefined);
  });

  it("calls that block for less than the limit, again and again, are left alone", async (t) => {
    const { ended } = startChild(
      t,
      `for (let round = 0; round < 6; round += 1) {
      watchdog.entering("onEvent:heavy");
      block(${LIMIT_MS / 4});
      await delay(${LIMIT_MS / 4});
    }`,
    );
    assert.equal(await ended, 0);
  });

  it("a process that was stopped for longer than the limit goes on", async (t) => {
    const { child, noteFile, stdout, ended } = startChild(
      t,
      `await delay(${LIMIT_MS / 3}); // The thread has seen some beats.
      watchdog.entering("onEvent:stopped");
      console.log("ready");
      for (let round = 0; round < 10; round += 1) block(${LIMIT_MS / 30});
      await delay(${LIMIT_MS});
      console.log("going on");`,
    );
    assert.equal((await stdout.next()).value, "ready");
    // In the middle of work that blocks, but for much less than the limit.
    child.kill("SIGSTOP");
    // Nothing happens in a stopped process, so there is nothing to wait for but the time itself.
    await delay(LIMIT_MS * 2);
    child.kill("SIGCONT");
    assert.equal((await stdout.next()).value, "going on");
    assert.equal(await ended, 0);
    assert.equal(readNote(noteFile), undefined);
  });

  it("after stop() nothing watches", async (t) => {
    const { ended } = startChild(t, `watchdog.stop(); block(${LIMIT_MS * 2});`);
    assert.equal(await ended, 0);
  });

  it("a note file that cannot be written keeps no process alive", async (t) => {
    const { stderr, noteFile, ended } = startChild(
      t,
      `const { rmSync } = await import("node:fs");
    const { dirname } = await import("node:path");
    rmSync(dirname(process.argv[1]), { recursive: true });
    watchdog.entering("onEvent:bad");
    block();`,
    );
    assert.equal(await ended, "SIGKILL");
    assert.match(await stderr, /onEvent:bad blocked/);
    assert.equal(readNote(noteFile), undefined);
  });
});

test("PRLOOM_WATCHDOG_MS: 0 means no watchdog, nonsense is an error that says what to do", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-watchdog-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const noteFile = join(dir, "watchdog.json");
  const off = startWatchdog({ noteFile, environment: { PRLOOM_WATCHDOG_MS: "0" }, onStart: assert.fail });
  off.left(off.entering("onEvent:any"));
  off.stop();
  for (const value of ["soon", "-1", "1.5", "99999999999"]) {
    assert.throws(
      () => startWatchdog({ noteFile, environment: { PRLOOM_WATCHDOG_MS: value } }),
      (error) => error instanceof PrloomError && error.code === "usage" && error.message.includes(value),
    );
  }
});

test("a note that cannot be read tells nothing", (t) => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-watchdog-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const noteFile = join(dir, "watchdog.json");
  for (const content of ["", "{", "[]", '{"schemaVersion":2,"at":"","label":"","blockedMs":1}']) {
    writeFileSync(noteFile, content);
    assert.equal(readNote(noteFile), undefined);
  }
});
