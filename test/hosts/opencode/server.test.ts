import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type Plugin, pluginFor } from "./plugin.ts";

/** What is found out after a call is written when it is found. */
async function factOf({ facts }: Plugin, type: string): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const found = facts().find((fact) => fact.type === type);
    if (found) return found;
    await setTimeout(5);
  }
}

test("a script that changes what is protected is put back, told, recorded, and denied from then on", async (t) => {
  const plugin = await pluginFor(t);
  const settings = join(plugin.files.root, "opencode.json");
  writeFileSync(join(plugin.files.root, "run.sh"), "echo evil > opencode.json\n");
  const run = () => plugin.call("bash", { command: "sh run.sh" }, () => writeFileSync(settings, "evil\n"));
  const first = await run();
  assert.match(first, /^ran\n\nGOVERNANCE: this changed opencode\.json, .* as it was again/);
  assert.throws(() => readFileSync(settings), { code: "ENOENT" });
  assert.match(await run(), /GOVERNANCE BLOCK: bash denied[\s\S]*WHAT: This call changed opencode\.json/);
  assert.throws(() => readFileSync(settings), { code: "ENOENT" });
  const { checkpoint } = (await factOf(plugin, "checkpoint")) as { checkpoint: { summary: string; ok: boolean } };
  assert.match(checkpoint.summary, /^PUT BACK opencode\.json, changed by sh run\.sh/);
  assert.equal(checkpoint.ok, false);
});

test("ordinary work is recorded with its files", async (t) => {
  const plugin = await pluginFor(t);
  mkdirSync(join(plugin.files.root, "lib"));
  const write = () => writeFileSync(join(plugin.files.root, "lib", "a.ts"), "x\n");
  assert.equal(await plugin.call("write", { filePath: "lib/a.ts", content: "x\n" }, write), "ran");
  const { checkpoint } = (await factOf(plugin, "checkpoint")) as { checkpoint: { filesModified: string[] } };
  assert.deepEqual(checkpoint.filesModified, ["lib/a.ts"]);
});

test("the same call denied too often, by a sub-agent too, ends the whole run and leaves word why", async (t) => {
  const plugin = await pluginFor(t, { parents: { child: "own" } });
  await plugin.call("read", { filePath: "a" });
  const push = () => plugin.call("bash", { command: "git push" }, undefined, "child");
  for (let times = 1; times <= 3; times += 1) assert.match(await push(), /GOVERNANCE BLOCK/);
  assert.deepEqual(plugin.aborted, []);
  assert.match(await push(), /denied 4 times/);
  assert.deepEqual(plugin.aborted.sort(), ["child", "own"]);
  const told = JSON.parse(readFileSync(join(plugin.files.facts, "..", "policy-end.json"), "utf8"));
  assert.match(told.why, /denied 4 times/);
});
