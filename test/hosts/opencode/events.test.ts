import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { governedFiles } from "../run.ts";
import { type Plugin, pluginFor } from "./plugin.ts";

const send = ({ hooks }: Plugin, type: string, properties: unknown) => hooks.event?.({ event: { type, properties } });

/** Events that hosts tell and that nothing follows from: what they would say is looked at when it is needed. */
const UNUSED = ["session.created", "session.updated", "message.updated", "message.removed", "something.new"];

test("events that come, come doubled, come with nothing in them, or never come decide about no call", async (t) => {
  const plugin = await pluginFor(t, { parents: { child: "own" } });
  for (const type of [...UNUSED, ...UNUSED, "session.error", "session.deleted", "message.part.updated"])
    for (const properties of [undefined, null, {}, { info: { id: "own" }, sessionID: "own", part: [] }])
      await send(plugin, type, properties);
  assert.equal(await plugin.call("write", { filePath: "src/a.ts", content: "x" }), "ran");
  // No event and no message of it was told: it is bound at its first call, and has no task that a call handed over.
  assert.match(await plugin.call("write", { filePath: "src/a.ts", content: "x" }, undefined, "child"), /no task/);
});

for (const over of ["session.compacted", "session.idle", "session.error", "session.deleted"])
  test(`a summary is over at ${over}, whichever of the others is missed`, async (t) => {
    const plugin = await pluginFor(t);
    const told = async (): Promise<boolean> => {
      const messages = [{ info: { role: "user", sessionID: "own" }, parts: [{ type: "text", text: "Go on." }] }];
      await plugin.hooks["experimental.chat.messages.transform"]?.({}, { messages });
      return messages[0]?.parts[0]?.text.includes("<prloom-governance>") ?? false;
    };
    await plugin.hooks["experimental.session.compacting"]?.({ sessionID: "own" }, { context: [] });
    assert.equal(await told(), false);
    await send(plugin, over, over === "session.deleted" ? { info: { id: "own" } } : { sessionID: "own" });
    assert.equal(await told(), true);
  });

test("a sub-agent that ends with an error is one whose part failed, and its task is told so", async (t) => {
  const plugin = await pluginFor(t, { parents: { child: "own" }, started: new Map([["child", "first"]]) });
  const args = { description: "A part", subagent_type: "general", prompt: "Do it." };
  await plugin.hooks["tool.execute.before"]?.({ tool: "task", sessionID: "own", callID: "first" }, { args });
  await plugin.hooks["chat.message"]?.({ sessionID: "child" }, {});
  await send(plugin, "session.error", { sessionID: "child", error: { name: "ProviderAuthError" } });
  const part = {
    type: "tool",
    tool: "task",
    callID: "first",
    sessionID: "own",
    state: { status: "error", error: "No." },
  };
  await send(plugin, "message.part.updated", { part });
  const moves = plugin.facts().flatMap(({ type, move }) => (type === "delegation_moved" ? [move] : []));
  assert.deepEqual(moves, ["accept", "fail"]);
  const status = await plugin.hooks.tool?.govern_delegate?.execute(
    { action: "status" },
    { sessionID: "own", messageID: "m", callID: "status" },
  );
  assert.match(status ?? "", /executor to executor \[failed\]/);
});

test("what a sub-agent brought back is kept without what the program puts around it", async (t) => {
  const plugin = await pluginFor(t, { parents: { child: "own" }, started: new Map([["child", "first"]]) });
  const call = { tool: "task", sessionID: "own", callID: "first" };
  const args = { description: "A part", subagent_type: "general", prompt: "Do it." };
  await plugin.hooks["tool.execute.before"]?.(call, { args });
  await plugin.hooks["chat.message"]?.({ sessionID: "child" }, {});
  const output = '<task id="child" state="completed">\n<task_result>\nThe docs are there.\n</task_result>\n</task>';
  await plugin.hooks["tool.execute.after"]?.(call, { output });
  const results = plugin.facts().flatMap((fact) => (fact.move === "complete" ? [fact.result] : []));
  assert.deepEqual(results, ["The docs are there."]);
});

test("it prints nothing itself, whether it judges, denies, is refused its files, or has a host without a log", (t) => {
  const files = governedFiles();
  t.after(() => files.remove());
  const at = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    const { server } = await import(${at("../../../src/hosts/opencode/server.ts")});
    const client = { session: { get: async ({ path: { id } }) => ({ data: { id } }), abort: async () => { throw new Error("no"); } } };
    for (const folder of [process.env.PRLOOM_GOVERNANCE, "/nowhere"]) {
      process.env.PRLOOM_GOVERNANCE = folder;
      const hooks = await server({ client });
      await hooks.config?.({});
      await hooks.event?.({ event: { type: "session.error" } });
      await hooks["chat.message"]?.({ sessionID: "own" }, {});
      for (const [callID, command] of [["a", "ls"], ["b", "git push"], ["c", "git push"], ["d", "git push"], ["e", "git push"]]) {
        const call = { tool: "bash", sessionID: "own", callID };
        await hooks["tool.execute.before"]?.(call, { args: { command } }).catch(() => undefined);
        await hooks["tool.execute.after"]?.(call, { output: "x" });
      }
      await hooks["experimental.chat.messages.transform"]?.({}, { messages: [{}] });
    }`;
  const env = { ...process.env, PRLOOM_GOVERNANCE: files.folder, PRLOOM_FACTS: files.facts };
  const ran = spawnSync(process.execPath, ["--input-type=module", "-e", script], { env, encoding: "utf8" });
  assert.deepEqual([ran.status, ran.stdout, ran.stderr], [0, "", ""]);
});
