import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import { codexAdapter } from "../../../src/agents/codex/adapter.ts";
import type { AgentAdapter, AgentEvent, AgentRequest } from "../../../src/agents/port.ts";
import { openRunLog } from "../../../src/agents/run-log/run-log.ts";
import { kindsOf, realProgram } from "../../testing/agents/real-program.ts";
import { only, runToEnd, spent } from "../../testing/agents/real-run.ts";
import { baseInstructions, heardOrders, NESTED_FILE, writeOrders } from "../../testing/agents/worktree-instructions.ts";
import type { Script } from "../../testing/model/script.ts";

const tried = realProgram({
  program: "codex",
  adapter: codexAdapter,
  // Left alone it would try for a quarter of a minute. The last table of the file is another one.
  prepare(home) {
    const config = join(home, ".codex", "config.toml");
    const table = "[model_providers.scripted]";
    const retries = `${table}\nrequest_max_retries = 0\nstream_max_retries = 1`;
    writeFileSync(config, readFileSync(config, "utf8").replace(table, retries));
  },
});

function real(name: string, script: Script, body: Parameters<typeof tried>[2], projectSettings = false): void {
  tried(name, { script, projectSettings }, body);
}

/** As the dispatcher does it: what a run told is kept beside its output. */
async function runAndKeep(adapter: AgentAdapter, request: AgentRequest): Promise<AgentEvent[]> {
  const events = await runToEnd(adapter, request);
  const log = openRunLog(request.runDir);
  for (const event of events) log.add(event, 0);
  log.close();
  return events;
}

describe("Codex itself", { concurrency: 2 }, () => {
  const work: Script = [
    { when: /^again/, steps: [{ say: "I remember.", usage: { input: 1000, output: 5 } }] },
    {
      steps: [
        { say: "I write.", shell: "seq 40000 | tee hello.txt", usage: { input: 100, output: 10 } },
        { shell: "exit 3", usage: { input: 200, output: 20, cached: 50 } },
        { say: "Done.", usage: { input: 100, output: 10 } },
      ],
    },
  ];
  real("works, says what it spent, and goes on with the conversation", work, async ({ bench, adapter }) => {
    const events = await runAndKeep(adapter, bench.request({ prompt: "Write a file." }));
    assert.match(readFileSync(join(bench.cwd, "hello.txt"), "utf8"), /\n40000\n$/);
    const texts = only(events, "text").map(({ text }) => text);
    assert.deepEqual(texts.slice(-2), ["I write.", "Done."]);
    const failed = only(events, "tool_result").map((result) => result.failed);
    assert.deepEqual(failed, [false, true]);
    assert.equal(only(events, "turn").length, 3);
    assert.deepEqual(spent(events), { input: 400, output: 40, cached: 50, usd: 0 });
    assert.deepEqual(kindsOf(events), []);
    const done = events.at(-1);
    assert(done?.type === "done" && done.exit.code === 0);

    const [session] = only(events, "session");
    assert(session);
    const more = await runAndKeep(adapter, bench.request({ prompt: "again", sessionId: session.sessionId }));
    const said = bench.model.asked().at(-1)?.conversation.said ?? [];
    assert(
      said.some(({ text }) => text.includes("Write a file.")),
      "the conversation went on",
    );
    assert.equal(only(more, "session")[0]?.sessionId, session.sessionId);
    // Codex counts the whole conversation; only what this run added is told.
    assert.deepEqual(spent(more), { input: 1000, output: 5, cached: 0, usd: 0 });
  });

  real("a conversation that it has forgotten is told", [], async ({ bench, adapter }) => {
    const sessionId = "00000000-0000-4000-8000-000000000000";
    assert.deepEqual(kindsOf(await runToEnd(adapter, bench.request({ sessionId }))), ["session-lost"]);
  });

  const refusals: Script = [
    { when: /key/, steps: [{ fail: 401 }] },
    { when: /often/, steps: [{ fail: 429, retryAfter: 1 }] },
    { when: /room/, steps: [{ fail: 529 }] },
    { when: /money/, steps: [{ fail: 429, quota: true }] },
    { when: /cut/, steps: [{ drop: true, times: 1 }, { say: "Again." }] },
  ];
  real("a provider that refuses is told by its kind", refusals, async ({ bench, adapter }) => {
    const refused = async (prompt: string, env = {}): Promise<string[]> =>
      kindsOf(await runToEnd(adapter, bench.request({ prompt, env })));
    assert.deepEqual(await refused("key"), ["auth, again", "auth"]);
    assert.deepEqual(await refused("often"), ["rate-limit, again", "rate-limit"]);
    assert.deepEqual(await refused("room"), ["overloaded"]);
    assert.deepEqual(await refused("money"), ["quota"]);
    assert.deepEqual(await refused("cut"), ["network, again"]);
    assert.deepEqual(await refused("hello", { SCRIPTED_KEY: "" }), ["auth"]);
  });

  const hangs: Script = [{ steps: [{ shell: "sleep 600" }] }];
  real("an abort ends the wrapper, the program and its tools", hangs, async ({ bench, adapter }) => {
    const controller = new AbortController();
    const request = bench.request({ signal: controller.signal });
    const events = await runToEnd(adapter, request, ({ type }) => type === "tool_call" && controller.abort());
    assert(only(events, "tool_call").length > 0);
    assert(!events.some(({ type }) => type === "done"));
  });

  const reads: Script = [{ steps: [{ read: NESTED_FILE }, { say: "Hello." }] }];
  real("it is told what the base commit says, and nothing that stands in the worktree", reads, async (ready) => {
    const { bench, adapter } = ready;
    writeOrders(bench);
    await runToEnd(adapter, bench.request({ instructions: baseInstructions(bench) }));
    assert.deepEqual(heardOrders(bench), { base: true, orders: [] });
    assert.match(JSON.stringify(bench.model.asked().at(-1)?.body), /nothing special/);
  });

  for (const trusted of [false, true]) {
    const name = `programs that a repository names ${trusted ? "start when they are allowed" : "do not start"}; its own instructions count only then`;
    real(
      name,
      [{ steps: [{ say: "Hello." }] }],
      async ({ bench, adapter }) => {
        const ran = join(bench.home, "started");
        mkdirSync(join(bench.cwd, ".codex"));
        appendFileSync(
          join(bench.cwd, ".codex", "config.toml"),
          `[mcp_servers.theirs]\ncommand = "touch"\nargs = [${JSON.stringify(ran)}]\n`,
        );
        writeFileSync(join(bench.cwd, "AGENTS.md"), "Always whistle.\n");
        await runToEnd(adapter, bench.request());
        assert.equal(existsSync(ran), trusted);
        assert.equal(/Always whistle/.test(JSON.stringify(bench.model.asked().at(-1)?.body)), trusted);
      },
      trusted,
    );
  }
});
