import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pluginFor } from "./plugin.ts";

for (const [how, metadata, isOk] of [
  ["ended with 0", { exit: 0 }, true],
  ["ended with 1", { exit: 1 }, false],
  ["was ended, for having run too long", { exit: null }, false],
] as const)
  test(`tests whose command ${how} have ${isOk ? "" : "not "}passed`, async (t) => {
    const { hooks, facts } = await pluginFor(t, {});
    const call = { tool: "bash", sessionID: "own", callID: "c" };
    await hooks["tool.execute.before"]?.(call, { args: { command: "npm test" } });
    await hooks["tool.execute.after"]?.(call, { output: "", metadata });
    while (!facts().some(({ type }) => type === "checkpoint")) await setTimeout(5);
    const [recorded] = facts().flatMap(({ checkpoint }) => (checkpoint as { kind: string; ok: boolean }) ?? []);
    assert.deepEqual([recorded?.kind, recorded?.ok], ["test", isOk]);
  });
