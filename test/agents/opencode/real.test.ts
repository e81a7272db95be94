import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "node:test";
import { openCodeAdapter } from "../../../src/agents/opencode/adapter.ts";
import { OPENCODE_PROJECT_SETTINGS } from "../../../src/agents/opencode/program.ts";
import type { AgentEvent } from "../../../src/agents/port.ts";
import { probePidNamespace } from "../../../src/agents/runner/runner.ts";
import { kindsOf, realProgram } from "../../testing/agents/real-program.ts";
import { only, runToEnd, spent } from "../../testing/agents/real-run.ts";
import { baseInstructions, heardOrders, NESTED_FILE, writeOrders } from "../../testing/agents/worktree-instructions.ts";
import type { Script } from "../../testing/model/script.ts";

const tried = realProgram({
  program: "opencode",
  adapter: openCodeAdapter,
});

function real(name: string, script: Script, body: Parameters<typeof tried>[2], projectSettings = false): void {
  tried(name, { script, projectSettings }, body);
}

describe("OpenCode itself", { concurrency: 2 }, () => {
  const work: Script = [
    { when: /^again/, steps: [{ say: "I remember.", usage: { input: 1000, output: 5 } }] },
    {
      steps: [
        { fail: 429, retryAfter: 1, times: 1 },
        { say: "I write.", write: "hello.txt", content: "x".repeat(200_000), usage: { input: 100, output: 10 } },
        { shell: "exit 3", usage: { input: 200, output: 20, cached: 50 } },
        { say: "Done.", usage: { input: 100, output: 10 } },
      ],
    },
  ];
  real("works after a refusal, says what it spent, and goes on", work, async ({ bench, adapter }) => {
    const prompt = `Write a file. ${"Much to say. ".repeat(20_000)}`;
    const events = await runToEnd(adapter, bench.request({ prompt }));
    assert.equal(readFileSync(join(bench.cwd, "hello.txt"), "utf8").length, 200_000);
    assert.equal(bench.model.asked()[0]?.text.trim(), prompt.trim());
    assert(!bench.model.requests.some(({ aside, protocol }) => aside && protocol), "no model is asked for a title");
    assert.deepEqual(
      only(events, "text").map(({ text }) => text),
      ["I write.", "Done."],
    );
    assert.deepEqual(
      only(events, "tool_call").map(({ name }) => name),
      ["write", "bash"],
    );
    assert.deepEqual(
      only(events, "tool_result").map(({ failed }) => failed),
      [false, true],
    );
    assert.equal(only(events, "turn").length, 3);
    const { usd, ...tokens } = spent(events);
    assert.deepEqual(tokens, { input: 400, output: 40, cached: 50 });
    assert(usd > 0);
    assert.deepEqual(kindsOf(events), ["rate-limit, again"]);

    const [session] = only(events, "session");
    assert(session);
    const more = await runToEnd(adapter, bench.request({ prompt: "again", sessionId: session.sessionId }));
    const said = bench.model
      .asked()
      .at(-1)
      ?.conversation.said.map(({ text }) => text);
    assert(
      said?.some((text) => text.startsWith("Write a file.")),
      "the conversation went on",
    );
    assert.equal(only(more, "session")[0]?.sessionId, session.sessionId);
    assert.equal(spent(more).input, 1000);
  });

  const refusals: Script = [{ when: /key/, steps: [{ fail: 401 }] }, { steps: [{ say: "Hello." }] }];
  real("what cannot go on is told by its kind", refusals, async ({ bench, adapter }) => {
    const refused = async (more: object): Promise<AgentEvent[]> => runToEnd(adapter, bench.request(more));
    const denied = await refused({ prompt: "key" });
    assert.equal(only(denied, "error").at(-1)?.kind, "auth");
    assert.equal(only(denied, "error").at(-1)?.retrying, undefined);
    assert.deepEqual(kindsOf(await refused({ sessionId: "ses_e20f6ed3dffejYQ3vX0uZ3o0QZ" })), ["session-lost"]);
    const [error, ...others] = only(await refused({ model: "scripted/none" }), "error");
    assert.deepEqual([error?.kind, others], ["other", []]);
    assert.match(error?.message ?? "", /scripted\/none/);
  });

  real("an abort ends it while it waits for its provider", [{ steps: [{ fail: 529 }] }], async ({ bench, adapter }) => {
    const controller = new AbortController();
    const request = bench.request({ signal: controller.signal });
    const events = await runToEnd(adapter, request, ({ type }) => type === "error" && controller.abort());
    assert.deepEqual([...new Set(kindsOf(events))], ["overloaded, again"]);
    assert(!events.some(({ type }) => type === "done"));
  });

  const outside: Script = [
    {
      steps: [
        { write: "inside.txt", content: "x" },
        { write: "../outside.txt", content: "x" },
        { shell: "echo y > shell.txt" },
        { say: "Done." },
      ],
    },
  ];
  real("without a sandbox it may not write elsewhere, and goes on", outside, async ({ bench, adapter }) => {
    const events = await runToEnd(adapter, bench.request({ sandboxed: false }));
    assert.equal(only(events, "waiting").length, 1);
    assert.deepEqual(
      only(events, "tool_result").map(({ failed }) => failed),
      [false, true, false],
    );
    assert(existsSync(join(bench.cwd, "shell.txt")) && !existsSync(join(bench.cwd, "..", "outside.txt")));
  });

  const greeting: Script = [{ steps: [{ read: NESTED_FILE }, { say: "Hello." }] }];
  real(
    "a repository's code is not run where its settings are hidden",
    greeting,
    async ({ bench, adapter }, context) => {
      if (!(await probePidNamespace())) return context.skip("bubblewrap does not work here");
      const ran = (what: string): string => join(bench.home, `${what}-ran`);
      const plugin = (what: string): string =>
        `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(ran(what))}, ""); export const P = async () => ({});`;
      mkdirSync(join(bench.cwd, ".opencode", "plugin"), { recursive: true });
      writeFileSync(join(bench.cwd, ".opencode", "plugin", "one.js"), plugin("folder"));
      writeFileSync(join(bench.cwd, "two.js"), plugin("named"));
      const mcp = { server: { type: "local", command: ["touch", ran("server")] } };
      writeFileSync(join(bench.cwd, "opencode.json"), JSON.stringify({ plugin: ["./two.js"], mcp }));
      mkdirSync(join(bench.cwd, ".claude", "skills", "humming"), { recursive: true });
      const skill = "---\nname: humming\ndescription: Hum a tune.\n---\nHum.\n";
      writeFileSync(join(bench.cwd, ".claude", "skills", "humming", "SKILL.md"), skill);
      const code = (): string[] => ["folder", "named", "server"].filter((what) => existsSync(ran(what)));
      writeOrders(bench);
      const instructions = baseInstructions(bench);
      await runToEnd(adapter, bench.request({ wrapper: hiding(bench.cwd), instructions }));
      assert.deepEqual(code(), []);
      // Beside a file that it reads, below the root, it has no switch against them.
      const nested = ["sub/AGENTS.md", "sub/deep/AGENTS.md"];
      assert.deepEqual(heardOrders(bench), { base: true, orders: nested });
      assert.doesNotMatch(JSON.stringify(bench.model.asked().at(-1)?.body), /Hum a tune/);
      // Its own switch alone leaves the plugins: when that has changed, nothing has to be hidden any more.
      await runToEnd(adapter, bench.request());
      assert.deepEqual(code(), ["folder", "named"]);
    },
  );
});

/** Arguments of bwrap that put nothing in the place of a repository's settings. */
function hiding(cwd: string): string[] {
  const all = ["--dev-bind", "/", "/", "--die-with-parent", "--unshare-pid"];
  const [folder, ...files] = OPENCODE_PROJECT_SETTINGS.map((name) => join(cwd, name));
  const present = files.filter((file) => existsSync(file));
  return [...all, "--tmpfs", folder ?? "", ...present.flatMap((file) => ["--ro-bind", "/dev/null", file])];
}
