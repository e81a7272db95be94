import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Output } from "../../../../src/cli/output.ts";
import { plain } from "../../../../src/cli/render/colour.ts";
import { runTable } from "../../../../src/cli/render/tables/run-table.ts";
import { renderTable } from "../../../../src/cli/render/tables/table.ts";
import type { PlanDetail } from "../../../../src/dispatcher/report/read.ts";

const NOW = Date.parse("2030-01-01T00:00:00.000Z");
const ago = (seconds: number) => new Date(NOW - seconds * 1000).toISOString();

const run = (number: number, over: object = {}) => ({
  run: number,
  stage: "worker",
  agent: "claude",
  attempt: 1,
  startedAt: ago(600),
  level: "sandbox",
  dir: "/x",
  state: "ended",
  exit: {
    reason: "exited",
    code: 0,
    signal: null,
    startedAt: ago(600),
    endedAt: ago(300),
    outputBytes: 1,
    truncated: false,
    leftBehind: 0,
  },
  turns: 12,
  tools: { Bash: 3, Edit: 4 },
  failedTools: 1,
  models: ["m"],
  tokens: 123_456,
  usd: 1.5,
  errors: [],
  ...over,
});

function linesOf(width: number, ...runs: object[]): string[] {
  let lines: string[] = [];
  const output = {
    width: () => width,
    paint: plain,
    table: (columns: never, rows: never) => (lines = renderTable(columns, rows, { width })),
  } as unknown as Output;
  runTable(output, { runs, record: {} } as unknown as PlanDetail, NOW);
  return lines;
}

const bare = { level: undefined, turns: 0, tools: {}, tokens: 0, usd: undefined };

describe("the table of runs", () => {
  it("tells a run that resolves a conflict from the one that did its TODO, which was accepted", () => {
    const lines = linesOf(200, run(1, { about: "t" }), run(2, { about: "t", resolves: true }));
    assert.match(lines[1] ?? "", /^ +1 +worker +claude .* exit 0$/);
    assert.match(lines[2] ?? "", /^ +2 +worker, conflict +claude .* exit 0$/);
  });

  it("has what each run was, did, cost and came to", () => {
    const [head, first] = linesOf(200, run(1));
    assert.match(head ?? "", /^RUN +STAGE +AGENT +ATTEMPT +LEVEL +TURNS +TOOLS +TOKENS +COST +STARTED +TOOK +ENDED$/);
    assert.match(first ?? "", /^ +1 +worker +claude +1 +sandbox +12 +7 +123k +\$1\.50 +10m ago +5m +exit 0$/);
  });

  it("tells what kept a run in, and that the policy ended it", () => {
    const exit = {
      ...run(1).exit,
      reason: "policy",
      code: null,
      signal: "SIGTERM",
      error: "Write was refused 3 times",
    };
    const [, line] = linesOf(200, run(1, { level: "policy+sandbox", exit }));
    assert.match(line ?? "", / policy\+sandbox .* ended by the policy: Write was refused 3 times$/);
  });

  it("leaves out what no run tells", () => {
    const [head] = linesOf(200, run(1, bare), run(2, bare));
    assert.match(head ?? "", /^RUN +STAGE +AGENT +ATTEMPT +STARTED +TOOK +ENDED$/);
  });

  it("keeps cost and end in a narrow terminal, and no line is wider than that", () => {
    for (const width of [60, 70, 80, 90, 100, 120]) {
      const lines = linesOf(width, run(1), run(2, { exit: undefined, state: "interrupted" }));
      assert.match(lines[0] ?? "", /COST.*ENDED$/, String(width));
      assert.match(lines[2] ?? "", /interrupted$/, String(width));
      assert.ok(lines.every((line) => line.length <= width));
    }
  });

  it("tells what was not accepted", () => {
    const [, first, second] = linesOf(200, run(1), run(2, { attempt: 2 }));
    assert.match(first ?? "", /exit 0, not accepted$/);
    assert.match(second ?? "", /exit 0$/);
  });

  it("tells it also when a person let it be tried again, and not of what its provider failed", () => {
    const [, first, second, third] = linesOf(
      200,
      run(1, { attempt: 3, about: "a" }),
      run(2, { about: "a", errors: [{ kind: "rate-limit", message: "later" }] }),
      run(3, { about: "a" }),
      run(4, { about: "b" }),
    );
    assert.match(first ?? "", /exit 0, not accepted$/);
    for (const line of [second, third]) assert.match(line ?? "", /exit 0$/);
  });

  it("does not say it of a conflict that was resolved when the same TODO conflicts again", () => {
    const [, first] = linesOf(200, run(1, { about: "a", resolves: true }), run(2, { about: "a", resolves: true }));
    assert.match(first ?? "", /exit 0$/);
  });
});
