import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { claudeDialogue } from "../../../src/agents/claude/dialogue.ts";
import { codexDialogue } from "../../../src/agents/codex/dialogue.ts";
import type { Dialogue } from "../../../src/agents/dialogue/dialogue.ts";
import { jsonLines } from "../../../src/agents/dialogue/json-lines.ts";
import { openCodeDialogue } from "../../../src/agents/opencode/dialogue.ts";
import { openRunLog } from "../../../src/agents/run-log/run-log.ts";

const now = () => 0;
/** Each with the line by which its program says that it has begun: what comes later may be a child's. */
const PROGRAMS: Readonly<Record<string, { dialogue: () => Dialogue; begin: object }>> = {
  claude: {
    dialogue: () => claudeDialogue({ program: "claude", prompt: "x", now }),
    begin: { type: "system", subtype: "init", session_id: "00000000-0000-4000-8000-000000000000" },
  },
  codex: {
    dialogue: () => codexDialogue({ program: "codex", now } as never),
    begin: { type: "thread.started", thread_id: "00000000-0000-4000-8000-000000000000" },
  },
  opencode: {
    dialogue: () => openCodeDialogue({ program: "opencode", model: "m", now } as never),
    begin: { type: "step_start", sessionID: "ses_abcdefgh", part: {} },
  },
};
const SAID = [
  "You have hit your usage limit. Resets in 5 hours.",
  "Error: 401 Unauthorized: invalid api key",
  "API Error: 429 rate limit exceeded",
  "error: insufficient_quota",
  "Error: overloaded (529)",
];

for (const [name, { dialogue, begin }] of Object.entries(PROGRAMS)) {
  test(`${name}: a plain line that a command printed is text, whatever it says`, () => {
    const heard = dialogue();
    heard.read(JSON.stringify(begin));
    for (const line of SAID) {
      const { events = [] } = heard.read(line);
      assert.deepEqual(
        events.map(({ type }) => type).filter((type) => type !== "text"),
        [],
        line,
      );
    }
  });
}

test("a tool's input that is nested very deeply is written down like any other", () => {
  const dir = mkdtempSync(join(tmpdir(), "prloom-deep-"));
  try {
    const deep = (open: string, close: string) => `${open.repeat(100_000)}1${close.repeat(100_000)}`;
    for (const input of [deep("[", "]"), deep('{"a":', "}")]) {
      const line = `{"type":"assistant","message":{"id":"m","model":"x","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"x":${input}}}]}}`;
      const heard = claudeDialogue({ program: "claude", prompt: "x", now });
      const log = openRunLog(dir);
      for (let at = 0; at < line.length; at += 64 * 1024) {
        for (const event of heard.read(line.slice(at, at + 64 * 1024)).events ?? []) log.add(event, 0);
      }
      log.close();
      assert.equal(log.summary().tools.Bash, 1);
      assert.match(readFileSync(join(dir, "events.jsonl"), "utf8"), /nested too deeply/);
    }
    const [fine] = [jsonLines()(JSON.stringify({ a: [{ b: 1 }] }))];
    assert.deepEqual(fine, { kind: "object", value: { a: [{ b: 1 }] } });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
