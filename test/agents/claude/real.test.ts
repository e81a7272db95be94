import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import { claudeAdapter } from "../../../src/agents/claude/adapter.ts";
import { kindsOf, realProgram } from "../../testing/agents/real-program.ts";
import { only, runToEnd, spent } from "../../testing/agents/real-run.ts";
import { baseInstructions, heardOrders, NESTED_FILE, writeOrders } from "../../testing/agents/worktree-instructions.ts";
import type { Script } from "../../testing/model/script.ts";

const tried = realProgram({
  program: "claude",
  adapter: claudeAdapter,
  brief: ["it is told what the base commit says", "do not run"],
});

function real(name: string, script: Script, body: Parameters<typeof tried>[2], projectSettings = false): void {
  tried(name, { script, projectSettings }, body);
}

const FIRST = { input: 100, output: 10 };
const SECOND = { input: 200, output: 20, cached: 50 };

describe("Claude Code itself", { concurrency: 2 }, () => {
  const work: Script = [
    { when: /^again/, steps: [{ say: "I remember.", usage: { input: 1000, output: 5 } }] },
    {
      steps: [
        { say: "I write.", write: "hello.txt", content: "x".repeat(200_000), usage: FIRST },
        { shell: "exit 3", usage: SECOND },
        { say: "Done.", usage: FIRST },
      ],
    },
  ];
  real("works, says what it spent, and goes on with the conversation", work, async ({ bench, adapter }) => {
    const events = await runToEnd(adapter, bench.request({ prompt: "Write a file." }));
    assert.equal(readFileSync(join(bench.cwd, "hello.txt"), "utf8").length, 200_000);
    assert.deepEqual(
      only(events, "text").map(({ text }) => text),
      ["I write.", "Done."],
    );
    assert.deepEqual(
      only(events, "tool_call").map(({ name }) => name),
      ["Write", "Bash"],
    );
    assert.deepEqual(
      only(events, "tool_result").map(({ failed }) => failed),
      [false, true],
    );
    assert.equal(only(events, "turn").length, 3);
    const { usd, ...tokens } = spent(events);
    assert.deepEqual(tokens, { input: 400, output: 40, cached: 50 });
    assert(usd > 0);
    assert.deepEqual(kindsOf(events), []);
    const done = events.at(-1);
    assert(done?.type === "done" && done.exit.code === 0);

    const [session] = only(events, "session");
    assert(session);
    const more = await runToEnd(adapter, bench.request({ prompt: "again", sessionId: session.sessionId }));
    const said = bench.model
      .asked()
      .at(-1)
      ?.conversation.said.map(({ text }) => text);
    assert(
      said?.some((text) => text.includes("Write a file.")),
      "the conversation went on",
    );
    assert.equal(only(more, "session")[0]?.sessionId, session.sessionId);
    // The program counts the whole conversation; only what this run added is told.
    assert.deepEqual(spent(more).input, 1000);
    assert(spent(more).usd < usd * 10);
  });

  real("a conversation that it has forgotten is told", [], async ({ bench, adapter }) => {
    const sessionId = "00000000-0000-4000-8000-000000000000";
    assert.deepEqual(kindsOf(await runToEnd(adapter, bench.request({ sessionId }))), ["session-lost"]);
  });

  const refusals: Script = [
    { when: /key/, steps: [{ fail: 401 }] },
    { when: /often/, steps: [{ fail: 429, retryAfter: 1 }] },
    { when: /room/, steps: [{ fail: 529 }] },
    { when: /money/, steps: [{ fail: 400, quota: true }] },
  ];
  real("a provider that refuses is told by its kind", refusals, async ({ bench, adapter }) => {
    const once = { CLAUDE_CODE_MAX_RETRIES: "1" };
    const refused = async (prompt: string, env = {}): Promise<string[]> =>
      kindsOf(await runToEnd(adapter, bench.request({ prompt, env })));
    // Left alone it would try ten times, for minutes.
    assert.deepEqual(await refused("key"), ["auth, again", "auth, again", "auth, again", "auth"]);
    assert.deepEqual(await refused("often", once), ["rate-limit, again", "rate-limit"]);
    assert.deepEqual(await refused("room", once), ["overloaded, again", "overloaded"]);
    assert.deepEqual(await refused("money", once), ["quota"]);
    const nobody = { ...once, ANTHROPIC_BASE_URL: "http://127.0.0.1:1" };
    assert.deepEqual(await refused("hello", nobody), ["network, again", "network"]);
    const stranger = { ...once, ANTHROPIC_API_KEY: "" };
    assert.deepEqual(await refused("hello", stranger), ["auth"]);
  });

  real("an abort ends it and its tools", [{ steps: [{ shell: "sleep 600" }] }], async ({ bench, adapter }) => {
    const controller = new AbortController();
    const request = bench.request({ signal: controller.signal });
    const events = await runToEnd(adapter, request, ({ type }) => type === "tool_call" && controller.abort());
    assert(!events.some(({ type }) => type === "done"));
  });

  const waits: Script = [
    { when: /^Do it/, steps: [{ shell: "until [ -e go ]; do sleep 0.05; done" }, { say: "Done." }] },
  ];
  real("a message reaches it while it works, and once", waits, async ({ bench, adapter }) => {
    const sent: boolean[] = [];
    let sendLate: (() => boolean) | undefined;
    const events = await runToEnd(adapter, bench.request(), (event, send) => {
      if (event.type === "tool_call") {
        sent.push(send("message-1", "/etc is off limits"));
        writeFileSync(join(bench.cwd, "go"), "");
      }
      sendLate = () => send("message-2", "too late");
    });
    assert.deepEqual([sent, sendLate?.()], [[true], false]);
    assert.deepEqual(
      only(events, "received").map(({ messageId }) => messageId),
      ["message-1"],
    );
    const heard = bench.model
      .asked()
      .at(-1)
      ?.conversation.said.filter(({ text }) => text.includes("off limits"));
    assert.equal(heard?.length, 1);
    const [session] = only(events, "session");
    assert(session);
    // As after a crash that left it open whether the message had arrived.
    const again = await runToEnd(adapter, bench.request({ sessionId: session.sessionId }), (event, send) => {
      if (event.type === "tool_call") send("message-1", "/etc is off limits");
    });
    assert.deepEqual(only(again, "received").length, 1);
    const twice = bench.model
      .asked()
      .at(-1)
      ?.conversation.said.filter(({ text }) => text.includes("off limits"));
    assert.equal(twice?.length, 1);
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
    const name = `a repository's hooks ${trusted ? "run when they are allowed" : "do not run"}; its own instructions count only then`;
    real(
      name,
      [{ steps: [{ say: "Hello." }] }],
      async ({ bench, adapter }) => {
        const ran = join(bench.home, "hook-ran");
        const hooks = { SessionStart: [{ matcher: "*", hooks: [{ type: "command", command: `touch '${ran}'` }] }] };
        mkdirSync(join(bench.cwd, ".claude"));
        writeFileSync(join(bench.cwd, ".claude", "settings.json"), JSON.stringify({ hooks }));
        writeFileSync(join(bench.cwd, "CLAUDE.md"), "Always whistle.\n");
        await runToEnd(adapter, bench.request());
        assert.equal(existsSync(ran), trusted);
        assert.equal(/Always whistle/.test(JSON.stringify(bench.model.asked().at(-1)?.body)), trusted);
      },
      trusted,
    );
  }

  const outside: Script = [
    {
      steps: [
        { write: "inside.txt", content: "x" },
        { shell: "echo y > shell.txt" },
        { write: "../outside.txt", content: "x" },
        { say: "Done." },
      ],
    },
  ];
  real(
    "without a sandbox it may not write elsewhere, and no person is waited for",
    outside,
    async ({ bench, adapter }) => {
      const events = await runToEnd(adapter, bench.request({ sandboxed: false }));
      assert.deepEqual(
        only(events, "tool_result").map(({ failed }) => failed),
        [false, false, true],
      );
      assert.equal(only(events, "waiting").length, 1);
      assert(existsSync(join(bench.cwd, "inside.txt")) && existsSync(join(bench.cwd, "shell.txt")));
      assert(!existsSync(join(bench.cwd, "..", "outside.txt")));
      assert.equal(events.at(-1)?.type, "done");
    },
  );
});
