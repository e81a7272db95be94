import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type Role, roleNamed } from "../../../src/governance/policy/roles.ts";
import type { GovernedTerms } from "../run.ts";
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
  assert.match(checkpoint.summary, /^PUT BACK opencode\.json, found after sh run\.sh/);
  assert.equal(checkpoint.ok, false);
});

test("what is put back when the answer is out already is told with the next one, and denied from then on", async (t) => {
  const plugin = await pluginFor(t, { terms: { governance: { protected: ["**/deploy.yml"] } } });
  const deploy = join(plugin.files.root, "src", "deploy.yml");
  const run = () => plugin.call("bash", { command: "sh run.sh" }, () => writeFileSync(deploy, "evil\n"));
  assert.equal(await run(), "ran");
  await factOf(plugin, "checkpoint");
  assert.throws(() => readFileSync(deploy), { code: "ENOENT" });
  const read = () => plugin.call("read", { filePath: "a" });
  assert.match(await read(), /^ran\n\nGOVERNANCE: src\/deploy\.yml changed .* as it was/);
  assert.equal(await read(), "ran");
  assert.match(await run(), /GOVERNANCE BLOCK: bash denied[\s\S]*WHAT: This call changed src\/deploy\.yml/);
});

test("a person and the program's log are told of what was denied, put back and changed, and of nothing else", async (t) => {
  const { call, noticed, hooks, files } = await pluginFor(t);
  await call("read", { filePath: "a" });
  await call("bash", { command: "git push" });
  await call("bash", { command: "sh run.sh" }, () => writeFileSync(join(files.root, "opencode.json"), "evil\n"));
  const task = async (args: object) =>
    hooks.tool?.govern_task?.execute(args, { sessionID: "own", messageID: "m", callID: JSON.stringify(args) });
  await task({ action: "status" });
  await task({ action: "fail", reason: "There is no form." });
  const what = noticed.map((text) => text.slice(0, 50));
  assert.deepEqual(what, [
    "log warn prloom: GOVERNANCE BLOCK: bash denied WHA",
    "toast warning prloom: GOVERNANCE BLOCK: bash denie",
    "log warn prloom: GOVERNANCE: this changed opencode",
    "toast warning prloom: GOVERNANCE: this changed ope",
    'log info prloom: "Build the form" is marked as fai',
    'toast info prloom: "Build the form" is marked as f',
  ]);
});

test("ordinary work is recorded with its files", async (t) => {
  const plugin = await pluginFor(t);
  mkdirSync(join(plugin.files.root, "lib"));
  const write = () => writeFileSync(join(plugin.files.root, "lib", "a.ts"), "x\n");
  assert.equal(await plugin.call("write", { filePath: "lib/a.ts", content: "x\n" }, write), "ran");
  const { checkpoint } = (await factOf(plugin, "checkpoint")) as { checkpoint: { filesModified: string[] } };
  assert.deepEqual(checkpoint.filesModified, ["lib/a.ts"]);
});

test("what is committed at once has its files on record, and a commit has none of what others changed", async (t) => {
  const plugin = await pluginFor(t);
  const { root } = plugin.files;
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", root, "-c", "user.name=A", "-c", "user.email=a@localhost", ...args]);
  const commit = () => {
    git("add", "-A");
    git("commit", "-qm", "mine");
  };
  git("commit", "-qm", "Begin", "--allow-empty");
  const write = (name: string) => writeFileSync(join(root, "src", name), "x\n");
  const recorded = async (count: number) => {
    while (plugin.facts().length < count) await setTimeout(5);
    return plugin.facts().map((fact) => (fact.checkpoint as { filesModified: string[] }).filesModified);
  };
  await plugin.call("write", { filePath: "src/a.ts", content: "x\n" }, () => write("a.ts"));
  await recorded(1);
  const command = "echo x > src/b.ts && git add -A && git commit -qm mine";
  await plugin.call("bash", { command }, () => {
    write("b.ts");
    commit();
  });
  await recorded(2);
  await plugin.call("bash", { command: "git commit -q --amend -m ours" }, () =>
    git("commit", "-q", "--amend", "-m", "ours"),
  );
  assert.deepEqual(await recorded(3), [["src/a.ts"], ["src/b.ts"], []]);
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

test("sub-agents that are started at once have the terms of their own call, whatever becomes of the others", async (t) => {
  const started = new Map<string, string>();
  const { hooks, call } = await pluginFor(t, { parents: { looks: "own", does: "own", stray: "own" }, started });
  for (const [callID, subagent_type] of [
    ["one", "nowhere"],
    ["two", "explore"],
    ["three", "general"],
  ] as const)
    await hooks["tool.execute.before"]?.(
      { tool: "task", sessionID: "own", callID },
      { args: { subagent_type, prompt: "Do it." } },
    );
  for (const [session, callID] of [
    ["does", "three"],
    ["looks", "two"],
  ] as const) {
    started.set(session, callID);
    await hooks["chat.message"]?.({ sessionID: session }, {});
  }
  const writes = (session: string) => call("write", { filePath: `src/${session}`, content: "x" }, undefined, session);
  assert.equal(await writes("does"), "ran");
  assert.match(await writes("looks"), /you are "investigator"/);
  started.set("stray", "unknown");
  assert.match(await writes("stray"), /no task is started/);
});

test("a prompt that names a file is told what was done about it, once in each turn", async (t) => {
  const plugin = await pluginFor(t);
  const write = () => writeFileSync(join(plugin.files.root, "src", "a.ts"), "x\n");
  await plugin.call("write", { filePath: "src/a.ts", content: "x\n" }, write);
  await factOf(plugin, "checkpoint");
  const asked = () => ({ info: { role: "user", sessionID: "own" }, parts: [{ type: "text", text: "Read src/a.ts." }] });
  const turn = async (): Promise<string> => {
    const messages = [asked()];
    await plugin.hooks["experimental.chat.messages.transform"]?.({}, { messages });
    return messages[0]?.parts[0]?.text ?? "";
  };
  // The fact is in the file a moment before the plugin knows it by heart.
  while (!(await turn()).includes("ABOUT")) await setTimeout(5);
  for (let count = 1; count <= 3; count += 1) {
    const text = await turn();
    assert.match(text, /ABOUT: src\/a\.ts was changed for todo "Build the form" \[active\]/);
    assert.equal(text.match(/<prloom-governance>/g)?.length, 1);
  }
});

test("older outputs are cut, but not while a summary is made of them", async (t) => {
  const { hooks } = await pluginFor(t);
  const output = "x".repeat(1000);
  const lengths = async (): Promise<readonly (number | undefined)[]> => {
    const parts = Array.from({ length: 12 }, (_, at) => ({ type: "tool", callID: `c${at}`, state: { output } }));
    const asked = { info: { role: "user", sessionID: "own" }, parts: [{ type: "text", text: "Go on." }] };
    const messages = [asked, { info: { role: "assistant", sessionID: "own" }, parts }];
    await hooks["experimental.chat.messages.transform"]?.({}, { messages });
    return [asked.parts[0]?.text.length, ...parts.slice(0, 3).map(({ state }) => state.output.length)];
  };
  const [told, ...cut] = await lengths();
  assert.deepEqual([cut.map((length) => (length ?? 0) < 250), (told ?? 0) > 100], [[true, true, false], true]);
  const context: string[] = [];
  await hooks["experimental.session.compacting"]?.({ sessionID: "own" }, { context });
  assert.match(context.join("\n"), /Build the form/);
  assert.deepEqual(await lengths(), ["Go on.".length, 1000, 1000, 1000]);
  await hooks.event?.({ event: { type: "session.compacted", properties: { sessionID: "own" } } });
  assert.deepEqual(await lengths(), [told, ...cut]);
});

test("a journal that is torn, forged, huge and out of order denies nothing that is allowed, and allows nothing more", async (t) => {
  const common = { at: 1, session: "own", role: "executor" };
  const lines = [
    '{"type":"checkpoint","key"',
    JSON.stringify({ type: "node_moved", key: "a", ...common, node: "next", move: "complete" }),
    JSON.stringify({ type: "delegation_moved", key: "b", ...common, delegation: "none", move: "accept" }),
    JSON.stringify({ type: "node_moved", key: "c", ...common, node: "todo", move: "release" }),
    "x".repeat(300_000),
    "\u0000\u0000",
  ];
  const plugin = await pluginFor(t, { facts: lines });
  assert.equal(await plugin.call("write", { filePath: "src/a.ts", content: "x" }), "ran");
  assert.match(await plugin.call("bash", { command: "git push" }), /GOVERNANCE BLOCK/);
  const status = await plugin.hooks.tool?.govern_task?.execute(
    { action: "status" },
    { sessionID: "own", messageID: "m", callID: "status" },
  );
  assert.match(
    status ?? "",
    /todo: Build the form \[active\] ← YOUR TASK[\s\S]*next: Test it \[blocked, waits for todo\]/,
  );
});

/** Each of the kinds that change something, and one that nothing is known about. */
const MUTATORS: readonly (readonly [tool: string, args: unknown])[] = [
  ["write", { filePath: "a", content: "x" }],
  ["edit", { filePath: "a" }],
  ["apply_patch", { patchText: "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch" }],
  ["bash", { command: "ls" }],
  ["task", { subagent_type: "explore", prompt: "Look." }],
  ["github_get_issue", {}],
  ["write", undefined],
];

test("a graph that cannot be read denies what changes something, says so, and lets reading through", async (t) => {
  const plugin = await pluginFor(t);
  writeFileSync(join(plugin.files.folder, "graph.json"), "{torn");
  const { server } = await import("../../../src/hosts/opencode/server.ts");
  const broken = await server({ client: { session: {} } as never });
  const call = { sessionID: "own", callID: "c" };
  const before = broken["tool.execute.before"];
  for (const [tool, args] of MUTATORS)
    await assert.rejects(async () => before?.({ ...call, tool }, { args }), /cannot be read/, tool);
  for (const tool of ["read", "grep", "glob"]) await before?.({ ...call, tool }, { args: { filePath: "a" } });
  const told = JSON.parse(readFileSync(join(plugin.files.facts, "..", "policy-end.json"), "utf8"));
  assert.match(told.why, /cannot be read/);
});

test("a forged fact of a time that is no date does not keep a summary from carrying on the task", async (t) => {
  const checkpoint = {
    ...{ id: "c", taskNodeId: "todo", tool: "x", summary: "s", kind: "change", ok: true },
    ...{ filesModified: [], timestamp: Number.MAX_SAFE_INTEGER },
  };
  const common = { key: "forged", at: 1, session: "own", role: "executor" };
  const { hooks } = await pluginFor(t, { facts: [JSON.stringify({ type: "checkpoint", ...common, checkpoint })] });
  const context: string[] = [];
  await hooks["experimental.session.compacting"]?.({ sessionID: "own" }, { context });
  assert.match(context.join("\n"), /TASK: todo "Build the form"/);
});

test("the program's log is told when a provider that refused is asked again: the program itself waits in silence", async (t) => {
  const { hooks, noticed } = await pluginFor(t);
  const status = (type: string, more = {}) =>
    hooks.event?.({ event: { type: "session.status", properties: { sessionID: "own", status: { type, ...more } } } });
  await status("busy");
  await status("retry", { attempt: 1 });
  await status("retry", { attempt: 1, message: "usage\nlimit", next: 1_794_869_483_601.5 });
  assert.deepEqual(noticed, ["log error prloom:asked-again 1794869483602: usage limit"]);
});

test("with a sub-agent that is recalled, those that it started have no task any more", async (t) => {
  const started = new Map([
    ["child", "first"],
    ["below", "second"],
  ]);
  const { hooks } = await pluginFor(t, { parents: { child: "own", below: "child" }, started });
  const before = (tool: string, sessionID: string, callID: string, args: unknown) =>
    hooks["tool.execute.before"]?.({ tool, sessionID, callID }, { args });
  const part = (subagent_type: string) => ({ description: "A part", subagent_type, prompt: "Do it." });
  const write = (callID: string) => before("write", "below", callID, { filePath: "src/a.txt", content: "x" });
  await before("task", "own", "first", part("general"));
  await hooks["chat.message"]?.({ sessionID: "child" }, {});
  await before("task", "child", "second", part("writer"));
  await hooks["chat.message"]?.({ sessionID: "below" }, {});
  await write("allowed");
  const recall = { action: "recall", delegation: "first", reason: "Not now." };
  await hooks.tool?.govern_delegate?.execute(recall, { sessionID: "own", callID: "third", messageID: "m" });
  await assert.rejects(async () => write("denied"), /no task is started/);
});

test("OpenCode runs a formatter or a language server by itself only where the run may start programs", async (t) => {
  const role = (name: string) => ({ role: roleNamed(name) as Role });
  const closed = { state: "closed", reason: "It is not approved." } as const;
  const of = async (terms: GovernedTerms) => {
    const { hooks } = await pluginFor(t, { terms });
    const config = { formatter: true, lsp: { own: { command: ["own"] } } };
    await hooks.config?.(config);
    return config;
  };
  const given = { formatter: true, lsp: { own: { command: ["own"] } } };
  const none = { formatter: false, lsp: false };
  assert.deepEqual(await of(role("executor")), given);
  assert.deepEqual(await of({ tools: ["read", "edit", "bash"] }), given);
  assert.deepEqual(await of(role("investigator")), none);
  assert.deepEqual(await of({ tools: ["read", "edit"] }), none);
  assert.deepEqual(await of({ door: closed }), none);
});

test("a call is recorded also where its files cannot be found out", async (t) => {
  const plugin = await pluginFor(t);
  await plugin.call("read", { filePath: "a" });
  rmSync(join(plugin.files.root, ".git"), { recursive: true });
  await plugin.call("write", { filePath: join(plugin.files.root, "src", "a.ts"), content: "x" });
  const { checkpoint } = (await factOf(plugin, "checkpoint")) as { checkpoint: { summary: string } };
  assert.match(checkpoint.summary, /src\/a\.ts$/);
});
