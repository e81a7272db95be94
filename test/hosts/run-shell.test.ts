import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { runShell } from "../../src/hosts/run-shell.ts";

const DEADLINE_MS = 10 * 60_000;

test("a command has a deadline, also one that left something which keeps its output open", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "prloom-shell-"));
  t.after(() => rmSync(root, { recursive: true }));
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const [command, expected] of [
    ["echo begun; echo $$ > one; exec sleep 1000", /^begun\n\n\[ended by SIGKILL\]$/],
    [
      "echo begun; setsid sh -c 'echo $$ > two; exec sleep 1000' & until [ -s two ]; do :; done",
      /^begun\n\n\[(?:exit code 0|ended by SIGKILL)\]$/,
    ],
  ] as const) {
    const running = runShell({ kind: "run", command, folder: undefined }, { root });
    const file = join(root, command.includes("two") ? "two" : "one");
    while (!existsSync(file) || readFileSync(file, "utf8") === "") await setImmediate();
    // What it printed is there before it began to wait, and is read in a turn.
    for (let turn = 0; turn < 100; turn += 1) await setImmediate();
    t.mock.timers.tick(DEADLINE_MS);
    assert.match((await running).printed, expected);
  }
  process.kill(Number(readFileSync(join(root, "two"), "utf8")), "SIGKILL");
});

test("a folder that does not exist is named as what is missing", async () => {
  const { printed, ok } = await runShell({ kind: "run", command: "ls", folder: "nowhere" }, { root: tmpdir() });
  assert.deepEqual([printed, ok], [`It could not be started: there is no folder ${join(tmpdir(), "nowhere")}.`, false]);
});

test("what is kept of a long output has no half of a character", async () => {
  const command = "printf a; yes 🎉 | tr -d '\\n' | head -c 200000";
  for (const more of ["", "; printf b"]) {
    const { printed } = await runShell({ kind: "run", command: command + more, folder: undefined }, { root: tmpdir() });
    assert(printed.length > 10_000 && printed.isWellFormed());
  }
});
