import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { plain } from "../../../../src/cli/render/colour.ts";
import { planTableLines } from "../../../../src/cli/render/tables/plan-table.ts";
import { shortIds } from "../../../../src/cli/render/tables/short-ids.ts";
import { displayWidth } from "../../../../src/cli/render/tables/width.ts";
import { runningLines } from "../../../../src/cli/running/running-table.ts";
import type { ListedPlan } from "../../../../src/dispatcher/report/read.ts";

const AT = "2030-01-01T00:00:00.000Z";
const NOW = Date.parse(AT) + 180_000;
const terminal = (width: number) => ({ terminal: true, width: () => width, paint: plain });

function listed(planId: string, more: Partial<ListedPlan> = {}): ListedPlan {
  const times = { createdAt: AT, updatedAt: AT };
  const flags = { hidden: false, paused: false, location: "worktree" as const };
  return { planId, title: planId, status: "active", ...flags, ...times, progress: { total: 4, completed: 2 }, ...more };
}

const working = { state: "working", evidence: "", run: 1, agent: "claude" } as const;
const PLANS = [
  listed("add-a-login-page-for-customers", { activity: { ...working, last: "Bash npm test -- --watch=false" } }),
  listed("add-a-logout-page", { status: "review" }),
];

describe("the table of plans", () => {
  const at = (width: number) => planTableLines(terminal(width), PLANS, NOW);

  it("has everything at 120 columns", () => {
    assert.deepEqual(at(120), [
      "PLAN                            STATUS           TODO       CHANGED  DOES / WAITS FOR",
      "add-a-login-page-for-customers  active, working  2/4 ██░░░       3m  Bash npm test -- --watch=false",
      "add-a-logout-page               review           2/4 ██░░░       3m  your review: `prloom merge add-a-logout-page`",
    ]);
  });

  it("shortens ids at 80 columns, before the progress goes", () => {
    assert.deepEqual(at(80), [
      "PLAN                      STATUS           TODO  CHANGED  DOES / WAITS FOR",
      "add-a-login-page-for-cu…  active, working  2/4        3m  Bash npm test -- --wa…",
      "add-a-logout-page         review           2/4        3m  your review: `prloom …",
    ]);
  });

  it("still has the progress at 60 columns", () => {
    const lines = at(60);
    assert.deepEqual(lines, [
      "PLAN              STATUS           TODO  DOES / WAITS FOR",
      "add-a-login-pag…  active, working  2/4   Bash npm test -- -…",
      "add-a-logout-pa…  review           2/4   your review: `prlo…",
    ]);
    for (const line of lines) assert.ok(displayWidth(line) <= 60);
  });

  it("still has it where ids differ at their ends only", () => {
    const id = "improve-the-startup-time-of-the-settings-page-";
    const lines = planTableLines(terminal(60), [listed(`${id}01`), listed(`${id}02`), listed("a")], NOW);
    assert.deepEqual(lines, [
      "PLAN                      STATUS  TODO  WAITS FOR",
      "improve-the-sta…-page-01  active  2/4",
      "improve-the-sta…-page-02  active  2/4",
      "a                         active  2/4",
    ]);
  });

  it("says which plans a person has open, whatever else they wait for, and which are at a conflict", () => {
    const last = "Edit a.ts";
    const plans = [
      listed("a", { status: "review", opened: { pid: 7 } }),
      listed("b", { paused: true, opened: { pid: 8 }, activity: { ...working, last } }),
      listed("c", { status: "review", activity: { ...working, last, resolves: true } }),
    ];
    assert.deepEqual(planTableLines(terminal(120), plans, NOW).slice(1), [
      "a     review, open               2/4 ██░░░       3m  a person has it open (`prloom open`, process 7)",
      "b     active, paused, open       2/4 ██░░░       3m  a person has it open (`prloom open`, process 8)",
      "c     review, conflict, working  2/4 ██░░░       3m  Edit a.ts",
    ]);
  });

  it("shows what an agent says without letting it steer the terminal", () => {
    const last = "\u001b[2J\u202ehello\n".repeat(50);
    const [, line = ""] = planTableLines(terminal(100), [listed("a", { activity: { ...working, last } })], NOW);
    assert.doesNotMatch(line, /\p{Cc}|\u202e/u);
    assert.ok(displayWidth(line) <= 100);
  });

  it("says why a plan is blocked rather than what its agent did last", () => {
    const blocked = { reason: "no time", at: AT, cause: "person" as const };
    const [, line = ""] = planTableLines(
      terminal(100),
      [listed("a", { blocked, activity: { ...working, last: "Bash ls" } })],
      NOW,
    );
    assert.match(line, /blocked: no time$/);
  });
});

describe("the table of agents at work", () => {
  const plans = [
    {
      ...{ planId: "add-a-login-page-for-customers", run: 1, stage: "worker", agent: "claude", startedAt: AT },
      ...{ completed: 2, total: 4, last: "Bash npm test -- --watch=false\u0007" },
    },
  ];
  const at = (width: number) => runningLines(terminal(width), plans, NOW);

  it("has everything at 120 columns, the id without the agent at 80, and the progress at 60", () => {
    assert.equal(
      at(120)[1],
      "add-a-login-page-for-customers  2/4 ██░░░   3m  worker  claude  Bash npm test -- --watch=false\\u{7}",
    );
    assert.equal(at(80)[1], "add-a-login-page-for-customers  2/4    3m  worker  claude  Bash npm test -- --w…");
    assert.equal(at(60)[1], "add-a-login-page-for-cu…  2/4    3m  Bash npm test -- --wat…");
    assert.equal(at(50)[1], "add-a-login-pag…  2/4    3m  Bash npm test -- --w…");
  });
});

describe("short ids", () => {
  it("keep what tells them apart", () => {
    const ids = ["add-a-login-page-first", "add-a-login-page-second", "short", "other-plan-with-a-name"];
    assert.deepEqual(shortIds(ids, 8), ["add-a-login-page-f…", "add-a-login-page-s…", "short", "other-p…"]);
  });

  it("are whole where one begins with another", () => {
    assert.deepEqual(shortIds(["a-plan-name", "a-plan-name-2"], 4), ["a-plan-name", "a-plan-name-2"]);
  });
});
