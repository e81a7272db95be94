import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { say } from "../../../src/agents/shim/conversation.ts";
import { INPUT } from "../../../src/agents/shim/shim-protocol.ts";

const LINE = `${INPUT}${JSON.stringify(["a".repeat(15 * 1024 * 1024)])}`;

test("a program that reads no answers gets no more of them, and one that reads gets all", async () => {
  const deaf = spawn("sleep", ["60"]);
  deaf.stdin.on("error", () => undefined);
  for (let at = 0; at < 10; at += 1) say({ child: deaf }, LINE);
  assert(deaf.stdin.destroyed);
  deaf.kill();
  const reads = spawn("wc", ["-l"]);
  for (let at = 0; at < 10; at += 1) {
    say({ child: reads }, LINE);
    await once(reads.stdin, "drain");
  }
  reads.stdin.end();
  assert.match(String(await once(reads.stdout, "data")), /^\s*10\n/);
});
