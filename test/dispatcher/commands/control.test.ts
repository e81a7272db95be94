import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { callDaemon, serveControl, socketPath } from "../../../src/dispatcher/commands/control.ts";
import { pathsOf } from "../../../src/dispatcher/paths.ts";

const folder = mkdtempSync(join(tmpdir(), "prloom-control-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("a dispatcher can be asked where the user's folder for sockets has a name too long for one", async () => {
  const runtime = join(folder, "long".repeat(30));
  const socket = socketPath(pathsOf({ root: folder, commonDir: join(folder, ".git") }), { XDG_RUNTIME_DIR: runtime });
  const control = await serveControl(socket, async (command) => command);
  try {
    const info = { pid: process.pid, startedAt: "", socket, version: "" };
    assert.deepEqual(await callDaemon(info, { command: "hello", args: {} }), { result: "hello" });
  } finally {
    await control.close();
  }
});
