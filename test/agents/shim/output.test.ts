import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { CUT, openOutputLog } from "../../../src/agents/shim/output.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-output-"));
after(() => rmSync(root, { recursive: true, force: true }));

/** What is in the log, and whether all of it is; the program prints `size` bytes at a time. */
function logged(printed: string, maxBytes: number, size = printed.length): { text: string; truncated: boolean } {
  const path = join(root, "output.log");
  const log = openOutputLog(path, maxBytes);
  const bytes = Buffer.from(printed);
  for (let at = 0; at < bytes.length; at += size) log.write(bytes.subarray(at, at + size));
  log.close();
  assert.equal(log.bytes(), bytes.length);
  return { text: readFileSync(path, "utf8"), truncated: log.truncated() };
}

for (const size of [1, 7, 1_000_000]) {
  test(`output beyond the limit is not kept (it comes ${size} bytes at a time)`, () => {
    const { text, truncated } = logged("hello\nagain\n", 8, size);
    assert.deepEqual([text, truncated], [`hello\nag\n${CUT}\n… 4 bytes not kept\n`, true]);
    assert.deepEqual(logged("hello\n", 6, size), { text: "hello\n", truncated: false });
  });
}

test("a full disk cuts the log, not the run", () => {
  const log = openOutputLog("/dev/full", 1000);
  log.write(Buffer.from("hello"));
  log.write(Buffer.from("again"));
  log.close();
  assert.deepEqual([log.bytes(), log.truncated()], [10, true]);
  assert.match(log.problem() ?? "", /ENOSPC/);
});
