import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { parseUse, useOf } from "../../bench/harness/process-use.ts";

test("CPU times and memory are found behind a name with blanks and parentheses", () => {
  const stat = "7 (a (strange) name) S 1 7 7 0 -1 0 10 11 12 13 21 22 23 24 20 0 1 0 99\n";
  const status = "Name:\ta (strange) name\nVmPeak:\t  900 kB\nVmHWM:\t  500 kB\nVmRSS:\t  400 kB\n";
  assert.deepEqual(parseUse(stat, status), { ownMs: 430, endedChildrenMs: 470, peakMemory: 500 * 1024 });
});

test("what a process has used is what it says of itself", () => {
  const before = useOf(process.pid);
  execFileSync(process.execPath, [
    "-e",
    "const end = process.cpuUsage().user + 100000; while (process.cpuUsage().user < end);",
  ]);
  const after = useOf(process.pid);
  assert.ok(
    after.endedChildrenMs - before.endedChildrenMs >= 90,
    `${after.endedChildrenMs - before.endedChildrenMs} ms`,
  );
  const { user, system } = process.cpuUsage();
  // Told in hundredths of a second, for both halves.
  assert.ok(after.ownMs <= (user + system) / 1000 + 20 && after.ownMs > 0, `${after.ownMs} ms`);
  // The kernel sums it up in steps, and not the same way for both.
  const peak = process.resourceUsage().maxRSS * 1024;
  assert.ok(Math.abs(after.peakMemory / peak - 1) < 0.2, `${after.peakMemory} of ${peak} bytes`);
});
