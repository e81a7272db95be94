import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import { acpAdapter } from "../../../src/agents/acp/adapter.ts";
import { kindsOf, type Ready, realProgram } from "../../testing/agents/real-program.ts";
import { only, runToEnd, spent } from "../../testing/agents/real-run.ts";
import { baseInstructions, heardOrders, NESTED_FILE, writeOrders } from "../../testing/agents/worktree-instructions.ts";
import type { Script } from "../../testing/model/script.ts";

const AGENTS = ["gemini", "opencode"] as const;
type AgentName = (typeof AGENTS)[number];

const tried = {
  gemini: realProgram({
    program: "gemini",
    adapter: acpAdapter,
    prepare: (home) => tryOnce(join(home, ".gemini", "settings.json")),
  }),
  opencode: realProgram({ program: "opencode", adapter: acpAdapter }),
};

interface Plan {
  readonly agent: AgentName;
  readonly script: Script;
  readonly projectSettings?: boolean;
}

function real(name: string, { agent, ...plan }: Plan, body: (ready: Ready) => Promise<void>): void {
  tried[agent](`${agent} ${name}`, plan, body);
}

/** Left alone Gemini asks ten times, in silence, for minutes. */
function tryOnce(settings: string): void {
  const { general, ...rest } = JSON.parse(readFileSync(settings, "utf8"));
  writeFileSync(settings, JSON.stringify({ ...rest, general: { ...general, maxAttempts: 1 } }));
}

/**
 * Gemini names the record of a conversation by the minute in which it began, and loses one that is loaded within the
 * same minute. Not worth waiting for the next.
 */
function makeOlder(home: string): void {
  const chats = join(home, ".gemini", "tmp", "work", "chats");
  for (const name of readdirSync(chats)) renameSync(join(chats, name), join(chats, name.replace(/T\d\d-/, "T00-")));
}

describe("agents themselves over ACP", { concurrency: 2 }, () => {
  const work: Script = [
    { when: /^again/, steps: [{ say: "I remember.", usage: { input: 1000, output: 5 } }] },
    {
      steps: [
        { say: "I write.", write: "hello.txt", content: "x".repeat(100_000), usage: { input: 100, output: 10 } },
        { shell: "echo y > shell.txt", usage: { input: 200, output: 20 } },
        { say: "Done.", usage: { input: 300, output: 30 } },
      ],
    },
  ];
  for (const agent of AGENTS) {
    real("works, and goes on with the conversation", { agent, script: work }, async ({ bench, adapter }) => {
      const events = await runToEnd(adapter, bench.request({ prompt: "Write a file." }));
      assert.equal(readFileSync(join(bench.cwd, "hello.txt"), "utf8").length, 100_000);
      assert(existsSync(join(bench.cwd, "shell.txt")));
      const names = only(events, "tool_call").map(({ name }) => name);
      assert.deepEqual(names, ["edit", "execute"]);
      assert.equal(only(events, "tool_result").length, 2);
      assert.equal(only(events, "turn").length, 3);
      // OpenCode tells the tokens of its last answer only.
      assert.equal(spent(events).input, agent === "gemini" ? 600 : 300);
      assert.deepEqual(kindsOf(events), []);
      const done = events.at(-1);
      assert(done?.type === "done" && done.exit.code === 0 && done.exit.reason === "exited");

      const [session] = only(events, "session");
      assert(session);
      if (agent === "gemini") makeOlder(bench.home);
      const more = await runToEnd(adapter, bench.request({ prompt: "again", sessionId: session.sessionId }));
      assert.deepEqual(kindsOf(more), []);
      assert.equal(only(more, "session")[0]?.sessionId, session.sessionId);
      assert.deepEqual([only(more, "tool_call").length, spent(more).input], [0, 1000]);
      const said = bench.model.asked().at(-1)?.conversation.said ?? [];
      assert(
        said.some(({ text }) => text.includes("Write a file.")),
        "the conversation went on",
      );
    });
  }

  const refusals: Script = [
    { when: /key/, steps: [{ fail: 401 }] },
    { when: /often/, steps: [{ fail: 429, retryAfter: 1 }] },
    { when: /room/, steps: [{ fail: 529 }] },
    { when: /money/, steps: [{ fail: 429, quota: true }] },
  ];
  real("that is refused tells the kind", { agent: "gemini", script: refusals }, async ({ bench, adapter }) => {
    const refused = async (prompt: string, env = {}): Promise<string[]> =>
      kindsOf(await runToEnd(adapter, bench.request({ prompt, env })));
    assert.deepEqual(await refused("key"), ["auth"]);
    assert.deepEqual(await refused("often"), ["rate-limit"]);
    assert.deepEqual(await refused("room"), ["overloaded"]);
    assert.deepEqual(await refused("money"), ["quota"]);
    assert.deepEqual(await refused("hello", { GEMINI_API_KEY: "" }), ["auth"]);
  });
  real("that is refused tells the kind", { agent: "opencode", script: refusals }, async ({ bench, adapter }) => {
    assert.deepEqual(kindsOf(await runToEnd(adapter, bench.request({ prompt: "key" }))), ["auth"]);
  });

  for (const [agent, sessionId] of [
    ["gemini", "00000000-0000-4000-8000-000000000000"],
    ["opencode", "ses_000000000000000000000000000"],
  ] as const) {
    real("that has forgotten a conversation tells it", { agent, script: [] }, async ({ bench, adapter }) => {
      assert.deepEqual(kindsOf(await runToEnd(adapter, bench.request({ sessionId }))), ["session-lost"]);
    });
  }

  const hangs: Script = [{ steps: [{ shell: "sleep 600" }] }];
  real("ends with its tools when it is aborted", { agent: "gemini", script: hangs }, async ({ bench, adapter }) => {
    const controller = new AbortController();
    const request = bench.request({ signal: controller.signal });
    const events = await runToEnd(adapter, request, ({ type }) => type === "tool_call" && controller.abort());
    assert(only(events, "tool_call").length > 0);
    assert(!events.some(({ type }) => type === "done"));
  });

  const waits: Script = [
    { when: /^also this/, steps: [{ say: "Yes." }] },
    { steps: [{ shell: "until [ -e go ]; do sleep 0.05; done" }, { say: "Done." }] },
  ];
  real("gets a message in a turn of its own", { agent: "gemini", script: waits }, async ({ bench, adapter }) => {
    const events = await runToEnd(adapter, bench.request(), (event, send) => {
      if (event.type !== "tool_call") return;
      assert.equal(send("message-1", "also this"), true);
      writeFileSync(join(bench.cwd, "go"), "");
    });
    const told = events.map((event) => (event.type === "text" ? event.text : event.type));
    const ofInterest = told.filter((one) => ["Done.", "received", "Yes."].includes(one));
    assert.deepEqual(ofInterest, ["Done.", "received", "Yes."]);
  });

  const reads: Script = [{ steps: [{ read: NESTED_FILE }, { say: "Hello." }] }];
  real("is told only what the base commit says", { agent: "gemini", script: reads }, async ({ bench, adapter }) => {
    writeOrders(bench);
    await runToEnd(adapter, bench.request({ instructions: baseInstructions(bench, "GEMINI.md") }));
    assert.deepEqual(heardOrders(bench), { base: true, orders: [] });
    assert.match(JSON.stringify(bench.model.asked().at(-1)?.body), /nothing special/);
  });

  real("changes nothing without a sandbox", { agent: "gemini", script: work }, async ({ bench, adapter }) => {
    const events = await runToEnd(adapter, bench.request({ prompt: "Write a file.", sandboxed: false }));
    assert.deepEqual(
      [existsSync(join(bench.cwd, "hello.txt")), existsSync(join(bench.cwd, "shell.txt"))],
      [false, false],
    );
    assert(only(events, "waiting").length > 0);
    assert.equal(events.at(-1)?.type, "done");
  });

  for (const projectSettings of [false, true]) {
    const hello: Plan = { agent: "gemini", script: [{ steps: [{ say: "Hello." }] }], projectSettings };
    const name = projectSettings
      ? "has a repository's settings, where these are allowed"
      : "leaves a repository's settings";
    real(`${name}, and its instructions`, hello, async ({ bench, adapter }) => {
      const ran = join(bench.home, "started");
      const settings = { context: { fileName: ["RULES.md", "GEMINI.md"] } };
      // A server that does not serve would be waited for.
      const servers = projectSettings ? {} : { mcpServers: { theirs: { command: "touch", args: [ran] } } };
      mkdirSync(join(bench.cwd, ".gemini"));
      writeFileSync(join(bench.cwd, ".gemini", "settings.json"), JSON.stringify({ ...settings, ...servers }));
      writeFileSync(join(bench.cwd, "RULES.md"), "Never sing.\n");
      writeFileSync(join(bench.cwd, "GEMINI.md"), "Always whistle.\n");
      await runToEnd(adapter, bench.request());
      const sent = JSON.stringify(bench.model.asked().at(-1)?.body);
      assert.equal(/Never sing/.test(sent), projectSettings);
      assert.equal(/Always whistle/.test(sent), projectSettings);
      assert(!existsSync(ran));
    });
  }
});
