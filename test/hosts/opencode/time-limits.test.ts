import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { pluginFor } from "./plugin.ts";

const LIMIT_MS = 5000;
const { promise: NEVER } = Promise.withResolvers<never>();

/** What comes of something when the limit has passed; the time of a test passes by itself only where nothing is waited for. */
async function afterLimit<T>(t: { mock: { timers: { tick(ms: number): void } } }, waiting: Promise<T>): Promise<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  waiting.then(over, over);
  for (let turn = 0; !isOver && turn < 10_000; turn += 1) {
    await setImmediate();
    t.mock.timers.tick(LIMIT_MS / 100);
  }
  assert(isOver, "it is still waited for");
  return waiting;
}

test("what is not judged in time is denied, unless it only reads, and no hook keeps the program waiting", async (t) => {
  // The program does not answer its plugins: who a session is cannot be known, nor anything be told.
  const { call, hooks, facts } = await pluginFor(t, { answers: NEVER });
  t.mock.timers.enable({ apis: ["setTimeout"] });
  await afterLimit(t, hooks["chat.message"]?.({ sessionID: "own" }, {}) ?? NEVER);
  assert.equal(await afterLimit(t, call("read", { filePath: "src/a.ts" })), "ran");
  for (const [tool, args] of [
    ["write", { filePath: "src/a.ts", content: "x" }],
    ["edit", { filePath: "src/a.ts", oldString: "a", newString: "b" }],
    ["bash", { command: "echo x > src/a.ts" }],
    ["task", { subagent_type: "general", prompt: "Do it." }],
    ["notes_write_note", {}],
  ] as const)
    assert.match(
      await afterLimit(
        t,
        call(tool, args, () => assert.fail(`${tool} ran`)),
      ),
      /GOVERNANCE BLOCK: \S+ could not be judged\. This is a fault of prloom: it took longer than 5000 ms/,
      tool,
    );
  assert.deepEqual(facts(), [], "a fault of ours is no denial of theirs");
});
