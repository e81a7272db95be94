import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { acpDialogue } from "../../../src/agents/acp/dialogue.ts";
import { claudeDialogue } from "../../../src/agents/claude/dialogue.ts";
import { codexDialogue } from "../../../src/agents/codex/dialogue.ts";
import type { Dialogue } from "../../../src/agents/dialogue/dialogue.ts";
import { openCodeDialogue } from "../../../src/agents/opencode/dialogue.ts";
import type { AgentEvent, ErrorEvent } from "../../../src/agents/port.ts";
import { addEvent, EMPTY_SUMMARY, type RunError } from "../../../src/agents/run-log/run-summary.ts";

/** A moment before each of the resets that were recorded. */
const NOW = Date.parse("2026-11-16T17:51:00Z");
const now = (): number => NOW;
const before = { input: 0, output: 0, cached: 0 };

const PROGRAMS = {
  claude: () => claudeDialogue({ program: "claude", prompt: "Do it.", now }),
  codex: () => codexDialogue({ program: "codex", model: "m", before, now }),
  opencode: () => openCodeDialogue({ program: "opencode", model: "m", now }),
  acp: () => acpDialogue({ program: "gemini", cwd: "/worktree", prompt: "Do it.", sandboxed: true, costUsd: 0, now }),
} satisfies Record<string, () => Dialogue>;
type Program = keyof typeof PROGRAMS;

function eventsOf(program: Program, lines: readonly string[]): AgentEvent[] {
  const talk = PROGRAMS[program]();
  return [...lines.flatMap((line) => talk.read(line).events), ...(talk.close?.() ?? [])];
}

/** What the run ended with: that alone decides whether its agent is put away. */
function troubleOf(program: Program, lines: readonly string[]): RunError | undefined {
  return eventsOf(program, lines).reduce(addEvent, EMPTY_SUMMARY).trouble;
}

const json = (...objects: readonly object[]): string[] => objects.map((object) => JSON.stringify(object));

function recorded(program: Program, name: string): string[] {
  return readFileSync(new URL(`../fixtures/${program}/${name}.log`, import.meta.url), "utf8")
    .trimEnd()
    .split("\n");
}

describe("the limit of a provider, as the programs told it", () => {
  const LIMITS: readonly (readonly [Program, fixture: string, kind: string, minutes: number])[] = [
    ["claude", "usage-limit", "quota", 306],
    ["codex", "usage-limit", "quota", 306],
    ["opencode", "usage-limit", "quota", 300],
    ["acp", "gemini-usage-limit", "rate-limit", 300],
  ];
  for (const [program, fixture, kind, minutes] of LIMITS) {
    test(`${program}: its end is known`, () => {
      // Codex names the hour of the machine's own clock.
      const { kind: told, retryAfterMs = 0 } = troubleOf(program, recorded(program, fixture)) ?? assert.fail();
      assert.equal(told, kind);
      if (program === "codex") assert.ok(retryAfterMs > 0 && retryAfterMs <= 86_400_000);
      else assert.equal(Math.round(retryAfterMs / 60_000), minutes);
    });
  }

  test("OpenCode would wait inside of the run, which is not to be waited for", () => {
    const told = eventsOf("opencode", recorded("opencode", "usage-limit")).at(-1) as ErrorEvent;
    assert.deepEqual([told.retrying, told.message], [true, "The usage limit has been reached"]);
  });
});

const INIT = { type: "system", subtype: "init", session_id: "00000000-0000-4000-8000-000000000000" };
const answer = (model: string, text: string) => ({
  type: "assistant",
  message: { id: `m-${text}`, model, content: [{ type: "text", text }], usage: {} },
});
const result = (text: string) => ({ type: "result", subtype: "success", is_error: false, result: text });
const LIMIT = "Claude AI usage limit reached|1794869483";
const item = (fields: object) => ({ type: "item.completed", item: { id: "i", ...fields } });
const chunk = (text: string) => ({
  jsonrpc: "2.0",
  method: "session/update",
  params: { update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } },
});
const ACP = [
  { jsonrpc: "2.0", id: 0, result: { protocolVersion: 1 } },
  { jsonrpc: "2.0", id: 1, result: { sessionId: "s-00000000" } },
];
const turnOver = { jsonrpc: "2.0", id: 2, result: { stopReason: "end_turn" } };
const CODEX = [{ type: "thread.started", thread_id: "t-00000000" }, { type: "turn.started" }];
const codexLimit = item({ type: "error", message: "You’ve hit your usage limit. Try again in 5 hours." });

describe("a refusal that comes as an ordinary answer", () => {
  const REFUSALS: readonly (readonly [name: string, Program, lines: readonly string[]])[] = [
    ["claude: with is_error beside success", "claude", recorded("claude", "usage-limit")],
    ["claude: in the place of the model", "claude", json(INIT, answer("<synthetic>", LIMIT), result(LIMIT))],
    ["claude: as the whole result", "claude", json(INIT, result(LIMIT))],
    [
      "claude: after the model had worked",
      "claude",
      json(INIT, answer("opus", "I begin."), answer("<synthetic>", LIMIT), result(LIMIT)),
    ],
    ["codex: as an item of a turn that was completed", "codex", json(...CODEX, codexLimit, { type: "turn.completed" })],
    ["opencode: as an error in the answer", "opencode", recorded("opencode", "error-in-answer")],
    [
      "acp: as all that was said in a turn",
      "acp",
      json(...ACP, chunk("You've hit your 5-hour "), chunk("limit · resets 11pm (UTC)"), turnOver),
    ],
  ];
  for (const [name, program, lines] of REFUSALS) {
    test(name, () => assert.equal(troubleOf(program, lines)?.kind, "quota"));
  }

  // What Claude Code 2.1 looks for when it asks itself whether its own answer is one of these.
  const OPENINGS = [
    "You've hit your team's shared budget. /model to switch models.",
    "You've hit your channel's monthly spend limit.",
    "You've reached your Fable limit for this week",
    "You're out of usage credits. Run /usage-credits to keep using Opus or /model to switch models.",
    "You're out of extra usage · resets 11pm (UTC)",
    "Your org is out of usage · contact your admin",
    "Your seat type doesn't include usage credits",
    "Your usage allocation has been disabled by your admin",
    "Your group's usage limit is set to $0",
    "Opus 4.8 requires usage credits. Switch models.",
  ];
  for (const text of OPENINGS) {
    test(`claude: ${text}`, () => {
      const told = troubleOf("claude", json(INIT, answer("<synthetic>", text), result(text)));
      assert.equal(told?.kind, "quota");
      assert.equal(told?.retryAfterMs !== undefined, text.includes("resets"));
    });
  }

  test("with its end, where that is said", () => {
    const named = troubleOf("claude", json(INIT, answer("<synthetic>", LIMIT), result(LIMIT)));
    assert.equal(named?.retryAfterMs, 1_794_869_483_000 - NOW);
    assert.equal(troubleOf("codex", json(...CODEX, codexLimit, { type: "turn.completed" }))?.retryAfterMs, 18_000_000);
  });

  test("with its end in the words of Codex and Gemini, whatever program hands them on", () => {
    const inWords = (text: string) => troubleOf("acp", json(...ACP, chunk(text), turnOver));
    const { kind, retryAfterMs = 0 } =
      inWords("You've hit your usage limit. Upgrade to Pro or try again at 3:45 AM.") ?? {};
    assert.deepEqual(
      [kind, new Date(NOW + retryAfterMs).getHours(), new Date(NOW + retryAfterMs).getMinutes()],
      ["quota", 3, 45],
    );
    const gemini = "You have exhausted your capacity on this model. Your quota will reset after 1h30m5s.";
    assert.deepEqual([inWords(gemini)?.kind, inWords(gemini)?.retryAfterMs], ["quota", 5_405_000]);
  });

  test("opencode: in words for people", () => {
    const { message } = troubleOf("opencode", recorded("opencode", "error-in-answer")) ?? assert.fail();
    assert.equal(message, "The usage limit has been reached");
  });

  test("acp: a turn in which the model said nothing at all is told as that", () => {
    const { kind, message } = troubleOf("acp", recorded("acp", "gemini-silent")) ?? assert.fail();
    assert.deepEqual([kind, message], ["other", "gemini ended its turn without an answer of the model."]);
  });
});

describe("what puts no agent away, whatever it says", () => {
  const call = { toolCallId: "c", title: "x", kind: "execute", status: "completed" };
  const tool = {
    jsonrpc: "2.0",
    method: "session/update",
    params: { update: { sessionUpdate: "tool_call", ...call } },
  };
  const part = (type: string, more: object) => ({ type, sessionID: "ses_abcdefgh", part: more });
  const HARMLESS: readonly (readonly [name: string, Program, lines: readonly string[]])[] = [
    ["claude: the model's own last words", "claude", json(INIT, answer("opus", LIMIT), result(LIMIT))],
    [
      "claude: a result that is repeated",
      "claude",
      json(
        INIT,
        answer("opus", "x"),
        result("The usage limit is handled now."),
        result("The usage limit is handled now."),
      ),
    ],
    ["claude: a line of a child", "claude", [...json(INIT, answer("opus", "x")), LIMIT, ...json(result("x"))]],
    [
      "codex: the model's own words",
      "codex",
      json(...CODEX, item({ type: "agent_message", text: LIMIT }), { type: "turn.completed" }),
    ],
    [
      "codex: a warning before the model answers",
      "codex",
      json(...CODEX, codexLimit, item({ type: "agent_message", text: "Done." }), { type: "turn.completed" }),
    ],
    ["codex: a line of a child", "codex", [...json(...CODEX), LIMIT, ...json({ type: "turn.completed" })]],
    [
      "opencode: the model's own words, and a tool's",
      "opencode",
      json(
        part("step_start", {}),
        part("text", { text: LIMIT }),
        part("tool_use", { callID: "c", tool: "bash", state: { status: "error", error: LIMIT } }),
        part("step_finish", {}),
      ),
    ],
    ["acp: words in the middle of the work", "acp", json(...ACP, chunk(LIMIT), tool, turnOver)],
    ["acp: a sentence among others", "acp", json(...ACP, chunk(`I handle "${LIMIT}" now.`), turnOver)],
    [
      "acp: a sentence that goes on",
      "acp",
      json(...ACP, chunk("You've hit your 5-hour limit, says the test I wrote."), turnOver),
    ],
    ["acp: a line of a child", "acp", [...json(...ACP, chunk("Done.")), LIMIT, ...json(turnOver)]],
  ];
  for (const [name, program, lines] of HARMLESS) {
    test(name, () => assert.equal(troubleOf(program, lines), undefined));
  }
});
