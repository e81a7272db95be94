import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { AgentEvent } from "../../../src/agents/port.ts";
import { openRunLog } from "../../../src/agents/run-log/run-log.ts";
import { followEvents } from "../../../src/cli/reading/run-events.ts";
import { coloured } from "../../../src/cli/render/colour.ts";
import { eventLines } from "../../../src/cli/render/event-lines.ts";
import { thorough } from "../../testing/thorough.ts";
import { testRepository } from "../fixture.ts";

const NOW = Date.parse("2030-01-01T00:00:00.000Z");
const exit = {
  reason: "exited",
  code: 0,
  signal: null,
  startedAt: "2030-01-01T00:00:00.000Z",
  endedAt: "2030-01-01T00:00:05.000Z",
  outputBytes: 1,
  truncated: false,
  leftBehind: 0,
} as const;

const call = (id: string, name: string, input: unknown): AgentEvent => ({ type: "tool_call", id, name, input });
const STORY: readonly AgentEvent[] = [
  { type: "session", sessionId: "s-1" },
  { type: "text", text: "I look at the tests.\nThen I fix them." },
  { type: "turn" },
  call("1", "Bash", { command: "npm test", description: "Run the tests" }),
  { type: "tool_result", id: "1", output: "one\ntwo\nthree\nfour\nfive\nsix\nseven\n", failed: true },
  call("2", "Edit", { file_path: "src/a.ts", old_string: "a", new_string: "b" }),
  { type: "tool_result", id: "2", output: "a long story", failed: false },
  { type: "error", kind: "rate-limit", message: "Too many requests\nmore", retrying: true },
  { type: "waiting", question: "May I?" },
  { type: "received", messageId: "m-1" },
  { type: "usage", model: "big-1", input: 12_000, output: 345, cached: 10, costUsd: 0.125 },
  { type: "turn" },
  { type: "done", exit },
];

const TOLD = [
  "I look at the tests.",
  "Then I fix them.",
  "→ Bash npm test",
  "✗ Bash npm test",
  "    one",
  "    two",
  "    three",
  "    four",
  "    five",
  "    … 2 more lines",
  "→ Edit src/a.ts",
  "! rate-limit: Too many requests (it tries again)",
  "? May I?",
  "← your message was received",
  "--- 2 turns, 2 tool calls, 1 failed, 12.3k tokens, $0.13 (big-1) ---",
];

describe("events as lines", () => {
  it("tell what was said and done", () => {
    const told = eventLines();
    assert.deepEqual(
      STORY.flatMap((event) => told.lines(event)),
      TOLD,
    );
  });

  it("of a program that only prints are its lines and nothing else", () => {
    const told = eventLines();
    const lines = ["working on one", "", "  indented"];
    const events: AgentEvent[] = [...lines.map((text) => ({ type: "text", text }) as const), { type: "done", exit }];
    assert.deepEqual(
      events.flatMap((event) => told.lines(event)),
      lines,
    );
  });

  it("cannot steer the terminal through the names and arguments of tools, questions and errors", () => {
    const told = eventLines();
    const bad = "\u001b[2J\u001b]0;title\u0007\r\n\u202eabc";
    const events: AgentEvent[] = [
      call("1", bad, { command: bad }),
      { type: "tool_result", id: "1", output: "", failed: true },
      { type: "waiting", question: bad },
      { type: "error", kind: "other", message: bad },
      { type: "usage", model: bad, input: 1, output: 1 },
      { type: "done", exit },
    ];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be there
    for (const line of events.flatMap((event) => told.lines(event))) assert.doesNotMatch(line, /[\u0000-\u001f\u202e]/);
    const [painted = ""] = eventLines(coloured).lines({ type: "waiting", question: bad });
    assert.ok(painted.startsWith("\u001b[33m? \\u{1b}[2J"), painted);
  });

  it("of a kind that is not known are left out", () => {
    assert.deepEqual(eventLines().lines({ type: "from-the-future" } as never), []);
  });
});

describe("events that are being written", () => {
  it("are told as they come, from before there is a file until the end", { timeout: 30_000 }, async (t) => {
    const dir = mkdtempSync(join(tmpdir(), "prloom-events-"));
    t.after(() => rmSync(dir, { recursive: true, force: true }));
    const ended = Promise.withResolvers<void>();
    const seen: string[] = [];
    const stream = followEvents(dir, ended.promise);
    const first = stream.next();
    const log = openRunLog(dir);
    log.add({ type: "text", text: "one" }, NOW);
    assert.partialDeepStrictEqual((await first).value, { type: "text", text: "one" });
    const long = "x".repeat(200_000);
    log.add({ type: "text", text: long }, NOW);
    const second = (await stream.next()).value;
    assert.ok(second?.type === "text" && second.text.startsWith("xxx"), "a line that takes several reads is one event");
    // What is written last is told, though the end is known by then.
    ended.resolve();
    log.add({ type: "turn" }, NOW);
    log.close();
    for await (const event of stream) seen.push(event.type);
    assert.deepEqual(seen, ["turn"]);
  });
});

describe("logs", () => {
  const repository = testRepository();
  const { root, run } = repository;
  const dir = join(root, ".git", "prloom", "plans", "told", "runs", "1");
  const configFile = join(root, "prloom", "config.json");
  after(() => repository.close());
  before(async () => {
    await run(["new", "Told", "--id", "told", "--todo", "one", "--queue"]);
    assert.equal((await run(["start", "--until-idle"])).code, 0);
  });

  it("of a program that is only started are what it printed", async () => {
    assert.equal((await run(["logs", "told"])).stdout, "working on one\n");
    assert.equal((await run(["logs", "told", "--raw"])).stdout, "working on one\n");
    const [first, ...rest] = jsonLines((await run(["logs", "told", "--json"])).stdout);
    assert.partialDeepStrictEqual(first, { run: 1, type: "text", text: "working on one" });
    assert.deepEqual(
      rest.map(({ type }) => type),
      ["done"],
    );
  });

  it("of a program that tells more are its events; --raw has what it printed, --json each event", async () => {
    const config = JSON.parse(readFileSync(configFile, "utf8"));
    config.agents.test.adapter = "claude";
    writeFileSync(configFile, JSON.stringify(config));
    assert.equal((await run(["reload", "--yes"])).code, 0);
    const log = openRunLog(dir);
    for (const event of STORY) log.add(event, NOW);
    log.close();
    assert.equal((await run(["logs", "told"])).stdout, `${TOLD.join("\n")}\n`);
    assert.equal((await run(["logs", "told", "--follow"])).stdout, `${TOLD.join("\n")}\n`);
    assert.equal((await run(["logs", "told", "--tail", "1"])).stdout, `${TOLD.at(-1)}\n`);
    assert.equal((await run(["logs", "told", "--follow", "--tail", "1"])).stdout, `${TOLD.at(-1)}\n`);
    assert.equal((await run(["logs", "told", "--raw"])).stdout, "working on one\n");
    const raw = JSON.parse((await run(["logs", "told", "--raw", "--json"])).stdout);
    assert.deepEqual([raw.output, raw.state], ["working on one\n", "ended"]);
    for (const args of [[], ["--follow"]]) {
      const events = jsonLines((await run(["logs", "told", "--json", ...args])).stdout);
      assert.deepEqual(
        events.map(({ type }) => type),
        STORY.map(({ type }) => type),
      );
      assert.ok(events.every(({ at, run: number }) => at === "2030-01-01T00:00:00.000Z" && number === 1));
    }
  });

  it("show sums them up", async () => {
    const shown = JSON.parse((await run(["show", "told", "--json"])).stdout);
    assert.partialDeepStrictEqual(shown.runs[0], {
      stage: "worker",
      agent: "test",
      level: "none",
      turns: 2,
      tools: { Bash: 1, Edit: 1 },
      failedTools: 1,
      models: ["big-1"],
      tokens: 12_345,
      usd: 0.125,
    });
    assert.equal(shown.spent.runs, 1);
    assert.deepEqual(shown.budget, {});
    const { stdout } = await run(["show", "told"]);
    assert.match(stdout, /^RUN +STAGE +AGENT +ATTEMPT +LEVEL +TURNS +TOOLS +TOKENS +COST +STARTED +TOOK +ENDED$/m);
    assert.match(stdout, /^ +1 +worker +test +1 +none +2 +2 +12\.3k +\$0\.13 .* exit 0$/m);
    assert.match(stdout, /^ {2}tools: Bash 1, Edit 1$/m);
    assert.match(stdout, /^ {2}spent: <1 min in 1 run$/m);
    assert.match(stdout, /^ {2}run 1: rate-limit: Too many requests$/m);
  });

  it("show tells the plan's spending beside its budget", thorough, async () => {
    const stateFile = join(dir, "..", "..", "state.json");
    const state = JSON.parse(readFileSync(stateFile, "utf8"));
    state.spent = { tokens: 1_234_567, usd: 1.2, ms: 125_000, runs: 1, upTo: 1 };
    writeFileSync(stateFile, JSON.stringify(state));
    const config = JSON.parse(readFileSync(configFile, "utf8"));
    writeFileSync(configFile, JSON.stringify({ ...config, limits: { budget: { usd: 5, minutes: 60 } } }));
    assert.equal((await run(["reload"])).code, 0);
    const { stdout } = await run(["show", "told"]);
    assert.match(stdout, /^ {2}spent: 1\.2M tokens, \$1\.20 of \$5, 2 min of 60 min in 1 run$/m);
  });

  it("show promises no design of a plan in review whose TODOs were taken out", thorough, async () => {
    const [stateFile, textFile] = [join(dir, "..", "..", "state.json"), join(dir, "..", "..", "plan.md")];
    const state = JSON.parse(readFileSync(stateFile, "utf8"));
    writeFileSync(stateFile, JSON.stringify({ ...state, status: "review" }));
    writeFileSync(textFile, "# Told\n");
    assert.match((await run(["show", "told"])).stdout, /^TODO\n {2}none$/m);
  });
});

function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}
