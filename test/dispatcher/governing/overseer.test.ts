import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, test } from "node:test";
import type { Permission, PermitRequest, SubAgent } from "../../../src/agents/port.ts";
import { RunOverseer } from "../../../src/dispatcher/governing/overseer.ts";
import { filesSeenFrom } from "../../../src/governance/policy/files-seen.ts";
import type { RunTerms } from "../../../src/governance/policy/make-policy.ts";
import type { Files } from "../../../src/governance/policy/paths.ts";
import { type Role, roleNamed } from "../../../src/governance/policy/roles.ts";
import { ProtectedFiles } from "../../../src/hosts/protected-files.ts";
import { governorOfRun } from "../../../src/hosts/run-governance.ts";
import { TouchedFiles } from "../../../src/hosts/touched-files.ts";
import { type GovernedFiles, governedFiles } from "../../hosts/run.ts";

const made: GovernedFiles[] = [];
afterEach(() => {
  for (const files of made.splice(0)) files.remove();
});

interface Overseen {
  readonly overseer: RunOverseer;
  readonly files: GovernedFiles;
  /** As Claude Code asks; the reason where it is denied. */
  asks(tool: string, input: object, more?: Partial<PermitRequest>): Promise<string>;
  /** A call that is allowed, and over; what the model then reads of it. */
  calls(tool: string, input: object, more?: Partial<PermitRequest>): Promise<string | undefined>;
}

let ids = 0;
function nextId(): string {
  ids += 1;
  return `toolu_${ids}`;
}

async function overseen(terms: Partial<RunTerms> = {}, seen?: Files): Promise<Overseen> {
  const files = governedFiles(terms);
  made.push(files);
  const phase = "implementing";
  const governor = await governorOfRun("claude", { ...files, phase, ...(seen ? { files: seen } : {}) });
  const overseer = new RunOverseer(governor, new TouchedFiles(files.root), new ProtectedFiles(governor.ownPolicy));
  const permit = (tool: string, input: object, more: Partial<PermitRequest> = {}): Promise<Permission> =>
    overseer.permit({ tool, input, callId: nextId(), reads: false, question: "", ...more });
  return {
    overseer,
    files,
    async asks(tool, input, more) {
      const given = await permit(tool, input, more);
      return given.allow ? `allowed${given.note === undefined ? "" : `: ${given.note}`}` : given.reason;
    },
    async calls(tool, input, more) {
      const callId = more?.callId ?? nextId();
      assert.deepEqual(await permit(tool, input, { ...more, callId }), { allow: true });
      return (await overseer.tell({ kind: "ended", callId, ok: true })).text;
    },
  };
}

const write = (file_path: string) => ({ file_path, content: "x" });
const STATUS = ["mcp__prloom__govern_task", { action: "status" }] as const;

describe("a run that is judged from outside of its program", () => {
  test("changes nothing without a task, and is told why; reading goes on", async () => {
    const { asks } = await overseen({ node: null });
    const changing: readonly (readonly [string, object])[] = [
      ["Write", write("src/a.ts")],
      ["Edit", { file_path: "src/a.ts", old_string: "a", new_string: "b" }],
      ["NotebookEdit", { notebook_path: "a.ipynb", new_source: "x" }],
      ["Bash", { command: "echo x > src/a.ts" }],
      ["mcp__github__create_issue", {}],
      ["Agent", { subagent_type: "general-purpose", prompt: "Write it." }],
    ];
    for (const [tool, input] of changing) assert.match(await asks(tool, input), /^GOVERNANCE BLOCK: /, tool);
    assert.match(await asks("Write", write("src/b.ts")), /mcp__prloom__govern_task \{"action":"status"\}/);
    assert.equal(await asks("Read", { file_path: "src/a.ts" }), "allowed");
    assert.equal(await asks("Bash", { command: "git status" }), "allowed");
  });

  test("is judged where the call is made, for the hook and for the question after it", async () => {
    const { asks, files } = await overseen();
    const folder = join(files.root, "prloom");
    mkdirSync(join(files.root, "src"), { recursive: true });
    for (const [tool, input] of [
      ["Bash", { command: "echo {} > config.json" }],
      ["Write", write("config.json")],
      ["Bash", { command: "cd src && ls > ../../.claude/x" }],
    ] as const)
      assert.match(await asks(tool, input, { folder }), /^GOVERNANCE BLOCK: /, JSON.stringify(input));
    assert.equal(await asks("Write", write("../src/a.ts"), { folder }), "allowed");
    assert.equal(await asks("Bash", { command: "ls > ../b.ts" }, { folder: join(files.root, "src") }), "allowed");
    const callId = nextId();
    assert.equal(await asks("Write", write("a.ts"), { folder: join(files.root, "src"), callId }), "allowed");
    assert.equal(await asks("Write", write("a.ts"), { callId }), "allowed");
    assert.match(await asks("Write", write("../.claude/a"), { callId }), /^GOVERNANCE BLOCK: /, "rewritten by a hook");
  });

  test("has what it did recorded for its task, with the files that really changed", async () => {
    const { calls, overseer, files } = await overseen();
    await overseer.settled();
    const callId = nextId();
    const asked = { tool: "Bash", input: { command: "make all" }, callId, reads: false, question: "" };
    assert.deepEqual(await overseer.permit(asked), { allow: true });
    writeFileSync(join(files.root, "src", "made.ts"), "x");
    await overseer.tell({ kind: "ended", callId, ok: false });
    await overseer.settled();
    const status = (await calls(...STATUS)) ?? "";
    assert.match(
      status,
      /todo: Build the form \[active\] ← YOUR TASK\n.*make all \(failed\) \(changed src\/made\.ts\)/,
    );
  });

  test("has what a script changed in protected files put back, is told, and may not run it again", async () => {
    const { overseer, files, asks, calls } = await overseen();
    await overseer.settled();
    const callId = nextId();
    const input = { command: "sh src/script.sh" };
    assert.equal(await asks("Bash", input, { callId }), "allowed");
    mkdirSync(join(files.root, ".claude"));
    writeFileSync(join(files.root, ".claude", "settings.json"), "{}");
    const { note } = await overseer.tell({ kind: "ended", callId, ok: true });
    assert.match(note ?? "", /changed \.claude\/settings\.json.*as it was again/);
    assert(!existsSync(join(files.root, ".claude", "settings.json")));
    assert.match(await asks("Bash", input), /GOVERNANCE BLOCK[\s\S]*when it was made before/);
    await overseer.settled();
    assert.match((await calls(...STATUS)) ?? "", /settings\.json/);
  });

  test("has protected files put back, and is told, after a call that nothing is known about as well", async () => {
    const { overseer, files } = await overseen();
    await overseer.settled();
    writeFileSync(join(files.root, "opencode.json"), "{}");
    const { note } = await overseer.tell({ kind: "ended", callId: nextId(), ok: false });
    assert.match(note ?? "", /changed opencode\.json.*as it was again\./);
    assert(!existsSync(join(files.root, "opencode.json")));
  });

  test("is denied the next TODO's work, with the chain", async () => {
    const { asks } = await overseen({ node: "next" });
    const text = await asks("Write", write("src/a.ts"));
    assert.match(text, /CHAIN STATUS:\n[\s\S]*← BLOCKING/);
  });

  test("is asked about a call twice and judged once, unless it is another call by then", async () => {
    const { asks, calls } = await overseen();
    const callId = nextId();
    assert.equal(await asks("Bash", { command: "ls" }, { callId }), "allowed");
    assert.equal(await asks("Bash", { command: "ls" }, { callId }), "allowed");
    assert.match(await asks("Bash", { command: "git push" }, { callId }), /GOVERNANCE BLOCK/);
    const start = { subagent_type: "Explore", prompt: "Look." };
    const agent = nextId();
    for (const _ of [1, 2]) assert.equal(await asks("Agent", start, { callId: agent }), "allowed");
    const by: SubAgent = { session: "a1", startedBy: agent };
    await asks("Read", { file_path: "src/a.ts" }, { by });
    const delegated = await calls("mcp__prloom__govern_delegate", { action: "status" });
    assert.equal(delegated?.split("\n").length, 1, delegated);
  });

  test("ends when it asks for the same again and again", async () => {
    const { overseer } = await overseen();
    const ends: unknown[] = [];
    for (let at = 0; at < 4; at += 1) {
      const asked = { tool: "Bash", input: { command: "git push" }, callId: nextId(), reads: false, question: "" };
      const given = await overseer.permit(asked);
      ends.push(!given.allow && given.endRun);
    }
    assert.deepEqual(ends, [undefined, undefined, undefined, true]);
  });

  test("has sub-agents that are less, each by the call that started it, two levels down too", async () => {
    const { asks, overseer } = await overseen();
    const [looks, works, deeper] = [nextId(), nextId(), nextId()];
    await asks("Agent", { subagent_type: "Explore", prompt: "Look." }, { callId: looks });
    await asks("Agent", { subagent_type: "general-purpose", prompt: "Do it." }, { callId: works });
    // Not in the order of their calls.
    const worker = { by: { session: "a2", startedBy: works } };
    const { text } = await overseer.tell({ kind: "sub-agent", ...worker });
    assert.match(text ?? "", /HANDED OVER by executor/);
    assert.equal(await asks("Write", write("src/a.ts"), worker), "allowed");
    const looker = { by: { session: "a1", startedBy: looks } };
    assert.match(await asks("Write", write("src/a.ts"), looker), /GOVERNANCE BLOCK/);
    assert.equal(await asks("Read", { file_path: "src/a.ts" }, looker), "allowed");
    const nested = { subagent_type: "Explore", prompt: "Look." };
    assert.equal(await asks("Agent", nested, { ...worker, callId: deeper }), "allowed");
    const grandchild = { by: { session: "a3", startedBy: deeper } };
    assert.match(await asks("Bash", { command: "echo x > src/b.ts" }, grandchild), /GOVERNANCE BLOCK/);
    assert.match(await asks("SendMessage", { to: "a3" }), /not one that you started/);
    assert.equal(await asks("SendMessage", { to: "a2" }), "allowed");
  });

  test("keeps calls of its own and of sub-agents apart where both have the same id", async () => {
    const { asks, calls, overseer } = await overseen();
    const callId = "call_0";
    await asks("Agent", { subagent_type: "general-purpose", prompt: "Do it." }, { callId });
    const by = { session: "a1", startedBy: callId };
    assert.equal(await asks("Write", write("src/a.ts"), { by, callId }), "allowed");
    await overseer.tell({ kind: "ended", callId, ok: true, by });
    await overseer.settled();
    await overseer.tell({ kind: "ended", callId, ok: true, said: "It is done." });
    const status = (await calls("mcp__prloom__govern_delegate", { action: "status" })) ?? "";
    assert.match(status, /^call_0: executor to executor \[completed\]: It is done\.$/);
    assert.match((await calls(...STATUS)) ?? "", /· Write: src\/a\.ts/);
  });

  test("has no task for a sub-agent that none of its calls started", async () => {
    const { asks } = await overseen();
    await asks("Agent", { subagent_type: "general-purpose", prompt: "Do it." });
    for (const by of [{ session: "a1" }, { session: "a2", startedBy: "toolu_other" }])
      assert.match(await asks("Write", write("src/a.ts"), { by }), /no task is started/);
  });

  test("has some sub-agents, and not any number of them", async () => {
    const { asks } = await overseen();
    const read = (session: string) => asks("Read", { file_path: "src/a.ts" }, { by: { session } });
    for (let at = 0; at < 1000; at += 1) assert.equal(await read(`a${at}`), "allowed");
    assert.match(await read("more"), /^allowed: .*more than 1000 sub-agents/);
    const by = { session: "more" };
    assert.match(await asks("Write", write("src/a.ts"), { by }), /GOVERNANCE BLOCK.*more than 1000 sub-agents/);
  });

  test("hands a part over with its tools, and takes it back", async () => {
    const { asks, calls, overseer } = await overseen();
    const terms = { to: "executor", name: "Docs", expectedOutput: "a change", tools: ["read", "edit"] };
    const told = await calls("mcp__prloom__govern_delegate", { action: "assign", ...terms });
    const part = /: (tn-\w+)\./.exec(told ?? "")?.[1] ?? "";
    const callId = nextId();
    await asks("Agent", { subagent_type: "general-purpose", prompt: `Do ${part}.` }, { callId });
    const by = { session: "a1", startedBy: callId };
    assert.match(await asks("Bash", { command: "npm test" }, { by }), /which this task does not have/);
    assert.equal(await asks("Edit", { file_path: "docs/a.md", old_string: "a", new_string: "b" }, { by }), "allowed");
    const recall = nextId();
    const input = { action: "recall", delegation: callId, reason: "Not needed." };
    await asks("mcp__prloom__govern_delegate", input, { callId: recall });
    assert.equal((await overseer.tell({ kind: "ended", callId: recall, ok: true })).ends, "a1");
    assert.match(await asks("Read", { file_path: "docs/a.md" }, { by }), /is recalled/);
  });

  test("answers governance tools itself, and only where they were permitted and did not fail", async () => {
    const { overseer, asks, calls } = await overseen();
    assert.match((await calls(...STATUS)) ?? "", /Build the form/);
    assert.deepEqual(await overseer.tell({ kind: "ended", callId: "toolu_unknown", ok: true }), {});
    const callId = nextId();
    await asks(...STATUS, { callId });
    assert.deepEqual(await overseer.tell({ kind: "ended", callId, ok: false }), {});
    assert.match(await asks("mcp__prloom__govern_plan", { action: "create", name: "Mine" }), /GOVERNANCE BLOCK/);
  });

  test("tells where a session stands, at a prompt and for a summary", async () => {
    const { overseer } = await overseen();
    assert.match((await overseer.tell({ kind: "prompt" })).text ?? "", /TASK: todo "Build the form"/);
    assert.match((await overseer.tell({ kind: "compaction" })).text ?? "", /Build the form/);
  });

  test("keeps an investigator from the source, and lets it answer", async () => {
    const { asks } = await overseen({ node: null, role: roleNamed("investigator") as Role });
    assert.match(await asks("Write", write("src/a.ts")), /GOVERNANCE BLOCK/);
    assert.equal(await asks("Write", write("prloom/.local/plan.md")), "allowed");
  });

  test("denies what it cannot judge, lets reading through, and says whose fault it is", async () => {
    const { asks } = await overseen(
      {},
      filesSeenFrom(() => {
        throw new Error("the sandbox is not there");
      }),
    );
    assert.match(await asks("Write", write("src/a.ts")), /fault of prloom[\s\S]*the sandbox is not there/);
    assert.match(await asks("Read", { file_path: "src/a.ts" }), /^allowed: .*fault of prloom/);
    assert.match(await asks("Bash", { command: "echo x > a" }, { callId: undefined as never }), /GOVERNANCE BLOCK/);
  });

  test("denies a sub-agent whose start cannot be recorded", async () => {
    const { asks, files } = await overseen();
    const callId = nextId();
    await asks("Agent", { subagent_type: "general-purpose", prompt: "Do it." }, { callId });
    mkdirSync(files.facts);
    const by = { session: "a1", startedBy: callId };
    assert.match(await asks("Write", write("src/a.ts"), { by }), /GOVERNANCE BLOCK.*fault of prloom/);
  });
});
