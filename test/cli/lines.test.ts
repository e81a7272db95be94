import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Output } from "../../src/cli/output.ts";
import { chosen } from "../../src/cli/plan-names.ts";
import { visiblePatch } from "../../src/cli/reading/diff.ts";
import { busState } from "../../src/cli/render/bus-state.ts";
import type { Paint } from "../../src/cli/render/colour.ts";
import { paintFor } from "../../src/cli/render/colour.ts";
import { timeUntil } from "../../src/cli/render/time.ts";
import { errorLines } from "../../src/cli/report-error.ts";
import { plainProgress } from "../../src/cli/running/progress-view.ts";
import { PrloomError } from "../../src/kernel/errors.ts";

const NOW = Date.parse("2030-01-01T00:00:00.000Z");
const at = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString();

function collecting(): Output & { readonly lines: string[] } {
  const lines: string[] = [];
  return {
    lines,
    json: false,
    terminal: false,
    width: () => 80,
    paint: paintFor(process.stdout, { NO_COLOR: "1" }),
    line: (text = "") => void lines.push(text),
    table: () => assert.fail("no table"),
    data: () => undefined,
    note: () => assert.fail("no note"),
  };
}

describe("lines for people", () => {
  it("a hint of several lines is several lines, and still cannot steer the terminal", () => {
    const error = new PrloomError(
      "plugin-invalid",
      "It has no hooks.",
      "Write it like this:\n  a();\n\u001b[2J\n\nend\n",
    );
    assert.deepEqual(errorLines(error, ["start"]), [
      "error: It has no hooks. [plugin-invalid]",
      "  hint: Write it like this:",
      "      a();",
      "    \\u{1b}[2J",
      "",
      "    end",
    ]);
  });

  it("progress of several lines is printed wholly, the rest indented", () => {
    const output = collecting();
    plainProgress(output).show({
      at: at(0),
      planId: "one",
      level: "bad",
      text: "not used: it has 2 mistakes\n1:2 a\n3:4 b\n",
    });
    assert.deepEqual(output.lines, [`${at(0)}  one  not used: it has 2 mistakes`, "    1:2 a", "    3:4 b"]);
  });

  it("a beginning that only one plan has names it, one that several have names them", () => {
    const ids = ["card-1-aaaa", "card-2-bbbb", "card-2-cccc", "card-22-dddd", "card-2-eeee", "login"];
    assert.equal(chosen("card-1", ids), "card-1-aaaa");
    assert.throws(
      () => chosen("card-2-", ids),
      /"card-2-" may be any of 3 plans: card-2-bbbb, card-2-cccc, card-2-eeee\./,
    );
    assert.equal(chosen("logon", ids), undefined);
    // As a narrow terminal shows them.
    assert.deepEqual([chosen("log…", ids), chosen("card-2…cccc", ids)], ["login", "card-2-cccc"]);
  });

  it("a patch keeps its tabs and cannot steer the terminal", () => {
    const patch = "@@ -1 +1 @@\n-\told\n+\tnew\u001b[2J\r\n";
    const marked: Paint = (style, text) => `<${style} ${text}>`;
    const expected = "<cyan @@ -1 +1 @@>\n<red -\told>\n<green +\tnew\\u{1b}[2J\\r>\n";
    assert.equal(visiblePatch(patch, marked), expected);
  });

  it("tells when a wait is over", () => {
    const times = [-5, 0, 0.2, 4, 119.5, 121, 7200, 7201, 1_184_000].map((seconds) => timeUntil(at(seconds), NOW));
    assert.deepEqual(times, [
      "now",
      "now",
      "in 1 s",
      "in 4 s",
      "in 120 s",
      "in 3 min",
      "in 120 min",
      "in 3 h",
      "in 14 days",
    ]);
    assert.equal(timeUntil("?", NOW), "now");
  });

  it("bridges that fail, and the first five that wait", () => {
    const output = collecting();
    const wait = (n: number) => {
      const reason = "later\nmore";
      return { record: `e${n}`, planId: "p", handler: "onEvent:x", reason, attempts: 0, since: at(-9), until: at(n) };
    };
    const records = [4, 5, 6, 7, 8, 9].map(wait);
    const failing = [
      { bridge: "tracker", since: at(-185), error: "GET /issues: 503\nbody" },
      { bridge: "chat", planId: "p", since: at(-5), error: "no" },
    ];
    const deferred = { count: 70, oldestMs: 9000, records };
    const ignored = { count: 0, comments: [] };
    busState(output, { bridges: { failing }, deferred, ignored, dead: { count: 0, letters: [] } }, NOW);
    assert.deepEqual(output.lines, [
      "bridge tracker: failing for 3m: GET /issues: 503",
      "bridge chat for p: failing for 5s: no",
      "deferred: 70 records to be tried again, the oldest waiting for 9s",
      ...[4, 5, 6, 7, 8].map((n) => `  e${n} of p  onEvent:x: later; next try in ${n} s`),
      "  … and 65 more: `prloom status --json`",
    ]);
  });

  it("comments that were ignored in the last seven days", () => {
    const day = 24 * 60 * 60;
    const told = (...days: number[]) => {
      const output = collecting();
      const comments = days.map((ago, n) => {
        const reason = `ann${n} has no rights`;
        return { planId: "p", id: `c${n}`, author: "ann", kind: "stranger" as const, reason, at: at(-ago * day) };
      });
      const nothing = { bridges: { failing: [] }, deferred: { count: 0, oldestMs: 0, records: [] } };
      busState(output, { ...nothing, dead: { count: 0, letters: [] }, ignored: { count: 9, comments } }, NOW);
      return output.lines;
    };
    assert.deepEqual(told(8, 30), []);
    assert.deepEqual(told(6, 8), [
      "ignored: 1 comment by authors who may not write to the repository (`prloom show <plan>` lists them)",
      "  p  ann0 has no rights, 6d ago",
    ]);
  });
});
