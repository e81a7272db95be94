import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { acpDialogue } from "../../../src/agents/acp/dialogue.ts";
import { geminiProgram } from "../../../src/agents/acp/program.ts";
import { claudeDialogue } from "../../../src/agents/claude/dialogue.ts";
import { claudeInvocation } from "../../../src/agents/claude/invocation.ts";
import { claudeProgram } from "../../../src/agents/claude/program.ts";
import { codexDialogue } from "../../../src/agents/codex/dialogue.ts";
import { codexInvocation } from "../../../src/agents/codex/invocation.ts";
import { codexProgram } from "../../../src/agents/codex/program.ts";
import type { Dialogue } from "../../../src/agents/dialogue/dialogue.ts";
import { openCodeDialogue } from "../../../src/agents/opencode/dialogue.ts";
import { openCodeInvocation } from "../../../src/agents/opencode/invocation.ts";
import { openCodeProgram } from "../../../src/agents/opencode/program.ts";
import type { Invocation } from "../../../src/agents/port.ts";

const GOOD = ["s", "ses_4f2Ax", "01a1df08-646a-7a51-b777-2dc6936feb4f", "urn:x.y", "a".repeat(200)];
const BAD = [
  ...["", "-", "--dangerously-bypass-approvals-and-sandbox", "-c", ".", "../x", "/etc/passwd", "a/b", "a b", "a=b"],
  ...["s\n", "s\0", "s\n--flag", "ü", "_x", "$(id)", "a".repeat(201)],
];

/** What each program prints when a conversation has begun. */
const usual = { program: "p", model: "m", prompt: "", now: () => 0 };
const DIALOGUES: Readonly<Record<string, (id: unknown) => { talk: Dialogue; lines: readonly unknown[] }>> = {
  opencode: (sessionID) => ({
    talk: openCodeDialogue(usual),
    lines: [{ type: "step_start", sessionID, part: {} }],
  }),
  claude: (session_id) => ({
    talk: claudeDialogue(usual),
    lines: [{ type: "system", subtype: "init", session_id }],
  }),
  codex: (thread_id) => ({
    talk: codexDialogue({ ...usual, before: { input: 0, output: 0, cached: 0 } }),
    lines: [{ type: "thread.started", thread_id }],
  }),
  acp: (sessionId) => ({
    talk: acpDialogue({ ...usual, model: undefined, cwd: "/w", costUsd: 0, sandboxed: true }),
    lines: [
      { jsonrpc: "2.0", id: 0, result: { protocolVersion: 1 } },
      { jsonrpc: "2.0", id: 1, result: { sessionId } },
    ],
  }),
};

const spec = { name: "a", command: "p", projectSettings: false };
const INVOCATIONS: Readonly<Record<string, (sessionId: string) => Invocation>> = {
  opencode: (sessionId) => openCodeInvocation(spec, { stage: "worker", sandboxed: true, sessionId }),
  claude: (sessionId) => claudeInvocation(spec, { sandboxed: true, sessionId }),
  codex: (sessionId) => codexInvocation(spec, { folders: ["/w"], sandboxed: true, sessionId }),
};
const PROGRAMS = { opencode: openCodeProgram, claude: claudeProgram, codex: codexProgram, gemini: geminiProgram };

describe("the id of a conversation", () => {
  for (const [name, begin] of Object.entries(DIALOGUES)) {
    test(`that ${name} tells is taken only when it can be one`, () => {
      const told = (id: unknown): string[] => {
        const { talk, lines } = begin(id);
        const events = [...lines.flatMap((line) => talk.read(JSON.stringify(line)).events), ...(talk.close?.() ?? [])];
        assert(!events.some(({ type }) => type === "error"), "it goes on as if none had been told");
        return events.flatMap((event) => (event.type === "session" ? event.sessionId : []));
      };
      for (const id of GOOD) assert.deepEqual(told(id), [id]);
      for (const id of BAD) assert.deepEqual(told(id), [], JSON.stringify(id));
    });
  }

  for (const [name, invoke] of Object.entries(INVOCATIONS)) {
    test(`comes back to ${name} only when it can be one`, () => {
      const args = (id: string): readonly string[] => {
        const invocation = invoke(id);
        assert("args" in invocation);
        return invocation.args;
      };
      for (const id of GOOD) assert(args(id).includes(id));
      // All are started alike: as if there were no conversation.
      for (const id of BAD) assert.deepEqual(args(id), args(BAD[0] ?? ""), JSON.stringify(id));
      assert(
        !args("--flag").includes("--flag") && !args("--flag").some((arg) => /^(?:--)?(?:resume|session)$/.test(arg)),
      );
    });
  }

  for (const [name, program] of Object.entries(PROGRAMS)) {
    test(`with which a person goes on in ${name} is one`, () => {
      for (const sessionId of GOOD) assert(program.openArgs({ sessionId }).includes(sessionId));
      for (const sessionId of BAD) assert.deepEqual(program.openArgs({ sessionId }), [], JSON.stringify(sessionId));
    });
  }
});
