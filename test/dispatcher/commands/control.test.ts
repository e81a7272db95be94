import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
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

test("one that does not answer is named, with how to end it", async () => {
  const socket = join(folder, "silent");
  const server = createServer().listen(socket);
  try {
    await once(server, "listening");
    const info = { pid: process.pid, startedAt: "", socket, version: "" };
    await assert.rejects(callDaemon(info, { command: "stop", args: {}, deadlineMs: 100 }), {
      message: `The running prloom (process ${process.pid}) does not answer.`,
      hint: new RegExp(`kill ${process.pid}`),
    });
  } finally {
    server.close();
  }
});
