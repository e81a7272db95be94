import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { countCalls } from "../../bench/harness/counts.ts";
import { EVENTS, fillScope, logIn, sampleRecords } from "../../bench/harness/journal.ts";

const counted = fileURLToPath(new URL("../../bench/harness/count-process.ts", import.meta.url));

async function inTemporary(work: (dir: string) => unknown): Promise<void> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "prloom-bench-")));
  try {
    await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

test("what our modules do is counted, though they import the functions by name", () =>
  inTemporary(async (dir) => {
    fillScope(dir, 10);
    const log = logIn(dir);
    const after = log.end(EVENTS);
    const appended = await countCalls(() => log.append(EVENTS, sampleRecords(10, 3)));
    const before = readFileSync(join(dir, "events.jsonl")).length;
    assert.equal(appended.written, 1);
    assert.equal(appended.synced, 1);
    const again = await countCalls(() => log.append(EVENTS, sampleRecords(13, 1)));
    assert.equal(again.bytesWritten, readFileSync(join(dir, "events.jsonl")).length - before);
    const read = await countCalls(() => log.read(EVENTS, after, 100));
    assert.equal(read.opened, 1);
    assert.deepEqual(read.started, {});
  }));

test("after counting everything is as it was", async () => {
  const { openSync } = await import("node:fs");
  await countCalls(() => undefined);
  const later = await import("node:fs");
  assert.equal(later.openSync, openSync);
});

const tracing = spawnSync("strace", ["-o", "/dev/null", "true"]);
const skip = tracing.status === 0 ? false : "strace is not here, or may not trace";

test("the kernel saw as many files opened as were counted", { skip }, () =>
  inTemporary((dir) => {
    const inside = join(dir, "inside");
    mkdirSync(inside);
    const [file, out, trace] = [join(inside, "a"), join(dir, "counts.json"), join(dir, "trace.txt")];
    const program = `
      import { writeFileSync, readFileSync, openSync, closeSync, readdirSync } from "node:fs";
      const [file, folder] = ${JSON.stringify([file, inside])};
      writeFileSync(file, "1");
      readFileSync(file, "utf8");
      readFileSync(file);
      closeSync(openSync(file));
      readdirSync(folder);`;
    const node = [process.execPath, "--import", counted, "--input-type=module", "-e", program];
    const { status, stderr } = spawnSync("strace", ["-f", "-e", "trace=openat", "-o", trace, ...node], {
      cwd: inside,
      env: { ...process.env, PRLOOM_BENCH_COUNTS: out },
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    const counts = JSON.parse(readFileSync(out, "utf8"));
    const seen = readFileSync(trace, "utf8").split("\n");
    assert.equal(counts.opened, 4);
    assert.equal(seen.filter((line) => line.includes(`"${file}"`)).length, counts.opened);
    assert.equal(seen.filter((line) => line.includes(`"${inside}"`)).length, counts.listed);
  }),
);
