import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageCounter } from "../../../src/agents/claude/usage.ts";

test("of models without number, or with names without end, some are remembered, and no spending is lost", () => {
  const usage = new UsageCounter();
  const names = [...Array.from({ length: 150 }, (_, at) => `m${at}`), "l".repeat(1_000_000)];
  for (const [at, name] of names.entries())
    assert.deepEqual(usage.answer(`a${at}`, name, { input_tokens: 5 }), [
      { type: "usage", model: name, input: 5, output: 0, cached: 0 },
    ]);
  const told = usage.result(Object.fromEntries(names.map((name) => [name, { inputTokens: 5 }])));
  assert.deepEqual(
    told.map(({ model }) => model),
    names.slice(100),
  );
});
