import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

const folder = mkdtempSync(join(tmpdir(), "prloom-fifo-"));
after(() => rmSync(folder, { recursive: true }));
const FIFO = new URL("../../../src/agents/runner/named-pipes.ts", import.meta.url).href;

/** What `withNamedPipes` does in a process of its own, after `first`. */
function answer(first: string, env: Record<string, string> = {}): string {
  const code = `import { openSync } from "node:fs"; import { withNamedPipes } from "${FIFO}"; ${first}
    try { console.log("made", withNamedPipes([${JSON.stringify(join(folder, "pipe"))}], (made) => made)); }
    catch (error) { console.log(error.code); }`;
  const args = ["-c", 'ulimit -n 64; exec "$0" "$@"', process.execPath, "--input-type=module", "-e", code];
  return execFileSync("/bin/sh", args, { encoding: "utf8", env: { ...process.env, ...env } }).trim();
}

test("named pipes are made, and gone afterwards", () => {
  assert.equal(answer(""), "made true");
  assert.equal(existsSync(join(folder, "pipe")), false);
});

test("where there are none, that is told", () => {
  assert.equal(answer("", { PATH: folder }), "made false");
});

test("what an agent left in the current folder is not taken for the program, also by a relative PATH", () => {
  const place = join(folder, "worktree");
  mkdirSync(place);
  writeFileSync(join(place, "mkfifo"), `#!/bin/sh\ntouch ${join(folder, "owned")}\n`, { mode: 0o755 });
  const path = `.:${process.env.PATH}`;
  assert.equal(answer(`process.chdir(${JSON.stringify(place)});`, { PATH: path }), "made true");
  assert(!existsSync(join(folder, "owned")));
});

test("a system that has nothing left is not one without pipes: nothing begins without its gate", () => {
  // What is printed needs no file of its own any more.
  const fill = 'console.log(""); try { for (;;) openSync("/dev/null"); } catch {}';
  assert.equal(answer(fill), "resources-used-up");
});
