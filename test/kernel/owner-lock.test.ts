import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { acquireOwnerLock } from "../../src/kernel/owner-lock.ts";

const dir = mkdtempSync(join(tmpdir(), "prloom-lock-"));
after(() => rmSync(dir, { recursive: true, force: true }));

const module = new URL("../../src/kernel/owner-lock.ts", import.meta.url).href;

/** A process of its own that takes the lock, says so, and keeps it until it is killed. */
async function holder(path: string) {
  const script = `import { acquireOwnerLock } from ${JSON.stringify(module)};
    const lock = await acquireOwnerLock(${JSON.stringify(path)});
    console.log(lock ? "held" : "refused"); if (lock) setInterval(() => lock.held(), 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [data] = await once(child.stdout, "data");
  return { child, said: String(data).trim() };
}

test("one owner at a time, freed by kill -9", async () => {
  const path = join(dir, "a.lock");
  const first = await holder(path);
  assert.equal(first.said, "held");
  assert.equal(await acquireOwnerLock(path, 50), undefined);
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  const lock = await acquireOwnerLock(path, 2000);
  assert.equal(lock?.held(), true);
  lock?.release();
});

test("a replaced lock file is noticed by its holder", async () => {
  const path = join(dir, "b.lock");
  const lock = await acquireOwnerLock(path);
  assert.equal(lock?.held(), true);
  rmSync(path);
  assert.equal(lock?.held(), false);
  const successor = await acquireOwnerLock(path);
  assert.equal(successor?.held(), true);
  assert.equal(lock?.held(), false);
  lock?.release();
  successor?.release();
});
