import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Permission } from "../../../src/agents/port.ts";
import { RunOverseer } from "../../../src/dispatcher/governing/overseer.ts";
import { ProtectedFiles } from "../../../src/hosts/protected-files.ts";
import { governorOfRun } from "../../../src/hosts/run-governance.ts";
import { TouchedFiles } from "../../../src/hosts/touched-files.ts";
import { plainDisk } from "../../../src/hosts/worktree-disk.ts";
import { governedFiles } from "../../hosts/run.ts";

const LIMIT_MS = 5000;

test("a judge that is late has said no, and what it says afterwards permits nothing", async (t) => {
  const files = governedFiles();
  t.after(() => files.remove());
  mkdirSync(join(files.root, ".claude"));
  const governor = await governorOfRun("claude", { ...files, phase: "implementing" });
  // A disk that answers when it likes: what is protected is not known until then.
  const { promise: answers, resolve } = Promise.withResolvers<void>();
  const disk = plainDisk(files.root);
  const slow = { ...disk, list: (...args: Parameters<typeof disk.list>) => answers.then(() => disk.list(...args)) };
  const touched = new TouchedFiles(files.root, async () => []);
  const overseer = new RunOverseer(governor, touched, new ProtectedFiles(governor.ownPolicy, slow));
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const ask = (tool: string, input: object, callId: string): Promise<Permission> =>
    overseer.permit({ tool, input, callId, reads: false, question: "" });
  const askInVain = async (tool: string, input: object, callId: string): Promise<Permission> => {
    const asked = ask(tool, input, callId);
    await setImmediate();
    t.mock.timers.tick(LIMIT_MS);
    return asked;
  };
  const write = { file_path: join(files.root, "src/a.ts"), content: "x" };
  const late = await askInVain("Write", write, "late");
  assert.match(late.allow ? "" : late.reason, /^GOVERNANCE BLOCK: Write could not be judged.*a fault of prloom/);
  assert.equal((await askInVain("Read", { file_path: "src/a.ts" }, "read")).allow, true);
  resolve();
  await overseer.settled();
  const protectedFile = { file_path: join(files.root, ".claude/settings.json"), content: "{}" };
  const other = await ask("Write", protectedFile, "late");
  assert.match(other.allow ? "" : other.reason, /matches the protected path \.claude/, "another call of the same name");
  assert.equal((await ask("Write", write, "next")).allow, true, "what comes later is judged");
});
