import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { claudeAdapter } from "../../../src/agents/claude/adapter.ts";
import type { AgentEvent, AgentRequest, Permission, PermitRequest, RunExit } from "../../../src/agents/port.ts";

const root = mkdtempSync(join(tmpdir(), "prloom-conversation-"));
after(() => rmSync(root, { recursive: true, force: true }));

const LIMITS = { deadlineMs: 60_000, silenceMs: 60_000, maxOutputBytes: 10_000, graceMs: 500 };

/**
 * Speaks as Claude Code does: what `before` prints, a question, then what it was answered, and its result; the latter only
 * after a message where it `waits` for one.
 */
function program(name: string, before: string, waits = false): string {
  const file = join(root, name);
  writeFileSync(
    file,
    `#!${process.execPath}
const say = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
const text = (id, text) => say({ type: "assistant", message: { id, model: "m", content: [{ type: "text", text }] } });
say({ type: "system", subtype: "init", session_id: "s1" });
${before}
const input = { file_path: "/outside.txt" };
const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { type, response, uuid, message } = JSON.parse(line);
  if (uuid) {
    say({ type: "user", uuid, isReplay: true, message: { content: [] } });
    text("m2", "told: " + message.content[0].text);
    say({ type: "result", subtype: "success", is_error: false });
  } else if (type === "user") {
    say({ type: "control_request", request_id: "r1", request: { subtype: "can_use_tool", tool_name: "Write", tool_use_id: "t1", input } });
  } else if (type === "control_response") {
    text("m1", JSON.stringify(response.response));
    if (!${waits}) say({ type: "result", subtype: "success", is_error: false });
  }
});
lines.on("close", () => process.exit(0));
`,
  );
  chmodSync(file, 0o755);
  return file;
}

interface Run {
  readonly texts: readonly string[];
  readonly events: readonly AgentEvent[];
  readonly exit: RunExit | undefined;
}

async function run(
  file: string,
  more: Partial<AgentRequest>,
  hear: (event: AgentEvent, send: (text: string) => boolean) => void = () => undefined,
): Promise<Run> {
  const stream = claudeAdapter({ name: "test", command: file, projectSettings: false }).start({
    stage: "worker",
    prompt: "Do it.",
    cwd: root,
    runDir: `${file}.run`,
    runId: `conversation-${process.pid}/${file}`,
    env: { PATH: process.env.PATH ?? "" },
    limits: LIMITS,
    signal: new AbortController().signal,
    ...more,
  });
  const events: AgentEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    hear(event, (text) => stream.send({ id: "message-1", text }));
  }
  const done = events.find((event) => event.type === "done");
  const texts = events.flatMap((event) => (event.type === "text" ? [event.text] : []));
  return { texts, events, exit: done?.exit };
}

const ALLOWED = JSON.stringify({ behavior: "allow", updatedInput: { file_path: "/outside.txt" } });

describe("a conversation whose output is longer than limits.maxOutput", () => {
  const FLOOD = 'for (let n = 0; n < 5000; n += 1) process.stdout.write("noise ".repeat(20) + "\\n");';
  /** The limit is reached in the middle of a line. */
  const LONG = 'text("m0", "x".repeat(300_000));';

  for (const [name, flood] of Object.entries({ text: FLOOD, line: LONG })) {
    test(`goes on: a question is answered (${name})`, async () => {
      const asked: PermitRequest[] = [];
      const permit = (request: PermitRequest): Permission => {
        asked.push(request);
        return { allow: true };
      };
      const file = program(name, flood);
      const { texts, events, exit } = await run(file, { permit });
      assert.deepEqual([exit?.reason, exit?.code, exit?.truncated], ["exited", 0, true]);
      assert.equal(texts.at(-1), ALLOWED);
      assert.deepEqual(
        asked.map(({ tool, callId, reads }) => [tool, callId, reads]),
        [["Write", "t1", false]],
      );
      const told = events.flatMap((event) => (event.type === "error" ? [event.message] : []));
      assert.deepEqual(told, ["The program printed more than limits.maxOutput; the rest is not kept."]);
      assert(readFileSync(join(`${file}.run`, "output.log")).length < 10_200);
    });
  }

  test("goes on: a message is taken", async () => {
    const { texts, events } = await run(program("message", FLOOD, true), { sandboxed: true }, (event, send) => {
      if (event.type === "text" && event.text === ALLOWED) assert(send("Stop that."));
    });
    assert.equal(texts.at(-1), "told: Stop that.");
    assert(events.some((event) => event.type === "received" && event.messageId === "message-1"));
  });
});

describe("a permission", () => {
  test("is the usual one unless another is given: in a sandbox yes, else no, and the question is told", async () => {
    const inside = await run(program("inside", ""), { sandboxed: true });
    assert.equal(inside.texts.at(-1), ALLOWED);
    const outside = await run(program("outside", ""), { sandboxed: false });
    assert.match(outside.texts.at(-1) ?? "", /^\{"behavior":"deny"/);
    assert.deepEqual(
      outside.events.filter((event) => event.type === "waiting"),
      [{ type: "waiting", question: "May Write be used?" }],
    );
  });

  test("is not given when the one who decides fails", async () => {
    const permit = () => Promise.reject(new Error("no policy"));
    const { texts, exit } = await run(program("fails", ""), { permit, sandboxed: true });
    assert.match(texts.at(-1) ?? "", /"deny","message":"prloom could not decide whether Write may be used: no policy"/);
    assert.equal(exit?.reason, "exited");
  });

  test("that is never decided does not keep a run from being stopped", async () => {
    const controller = new AbortController();
    const permit = (): Promise<Permission> => {
      controller.abort();
      return new Promise(() => undefined);
    };
    const { exit } = await run(program("undecided", ""), { permit, signal: controller.signal });
    assert.equal(exit, undefined);
  });

  test("that is refused for good ends the run, and the exit says why", async () => {
    const permit = (): Permission => ({ allow: false, reason: "Write was refused 3 times", endRun: true });
    const { exit } = await run(program("ends", ""), { permit });
    assert.deepEqual([exit?.reason, exit?.error], ["policy", "Write was refused 3 times"]);
  });
});
