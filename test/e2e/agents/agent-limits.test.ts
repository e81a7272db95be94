import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startDaemon } from "../../testing/daemon.ts";
import type { Project } from "../../testing/project.ts";
import { projectMaker } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

const STUB = fileURLToPath(new URL("../../testing/agents/stub-codex.mjs", import.meta.url));

async function appearsIn(file: string, words: string): Promise<void> {
  while (!existsSync(file) || !readFileSync(file, "utf8").includes(words)) await sleep(50);
}

/** An agent that speaks as Codex does. */
const codex = (behaviour: string): Record<string, unknown> => ({
  adapter: "codex",
  command: STUB,
  env: { BEHAVIOUR: behaviour },
});

describe("what agents may spend, and what happens when a provider says no", { concurrency: 2 }, () => {
  const fresh = projectMaker();

  const project = (config: Record<string, unknown>): Project => fresh({ config });

  /** What the stub was started with, in the order of its starts. */
  function starts(made: Project, planId: string, agent: string): { args: string[]; prompt: string }[] {
    const { uid } = made.record(planId);
    const places = [
      join(made.home, ".codex/sessions"),
      ...globSync(join(made.home, ".local/state/prloom/*/homes", uid, agent, "*/.codex/sessions")),
    ];
    const file = places.map((place) => join(place, "starts.jsonl")).find((place) => existsSync(place));
    if (file === undefined) return [];
    return readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  }

  test("a refused agent is left alone, and the next of the stage does the work at once", async () => {
    const made = project({
      agents: { first: codex("429"), second: codex("work") },
      stages: { default: ["first", "second"] },
    });
    made.plan("one", ["do it", "and this"]);
    const worked = await made.work();
    assert.equal(worked.code, 0, worked.stderr + worked.stdout);
    assert.match(worked.stdout, /first was refused \(rate-limit\).*going on with second/);
    assert.equal(made.record("one").status, "review", worked.stdout);
    assert.equal(starts(made, "one", "first").length, 1);
    assert.equal(made.record("one").spent?.tokens, 120);
    const pool = JSON.parse(readFileSync(join(made.authority, "agents.json"), "utf8"));
    assert.equal(pool.agents.first.kind, "rate-limit");
    assert.equal(pool.today.tokens, 120);
  });

  test("without another agent the plan waits, and no attempt is lost", thorough, async () => {
    const made = project({ agents: { only: codex("529 work") }, stages: { default: "only" } });
    made.plan("one", ["do it"], { status: "queued", metadata: { limits: { attemptsPerTodo: 1 } } });
    const worked = await made.work();
    assert.equal(worked.code, 0, worked.stderr);
    assert.match(worked.stdout, /only was refused \(overloaded\).*trying again at/);
    assert.equal(made.record("one").blocked, undefined);
    assert.equal(made.record("one").current?.attempt, 1);
    const { plans } = await made.status();
    assert.deepEqual(
      plans.map(({ planId, blocked }) => [planId, blocked]),
      [["one", undefined]],
    );
  });

  test("a refused login blocks with the program and what to type, and unblock tries again at once", async () => {
    const made = project({ agents: { only: codex("401 work") }, stages: { default: "only" } });
    made.plan("one", ["do it"]);
    await made.work();
    const { blocked } = made.record("one");
    assert.match(blocked?.reason ?? "", /Codex.*\(agent only\) is not logged in.*401/);
    assert.match(blocked?.hint ?? "", /codex login.*prloom doctor.*prloom unblock one/);
    assert.equal((await made.cli(["unblock", "one"])).code, 0);
    await made.work();
    assert.equal(made.record("one").status, "review");
  });

  test("a plan that has spent its budget is blocked, with the numbers, and goes on when it is raised", async () => {
    const made = project({
      agents: { only: codex("work") },
      stages: { default: "only" },
      limits: { budget: { tokens: 100 } },
    });
    made.plan("one", ["a", "b", "c"]);
    await made.work();
    assert.match(made.record("one").blocked?.reason ?? "", /budget is spent: 120 of 100 tokens/);
    assert.deepEqual(made.commits("one"), ["a", "b"]);
    made.config({ limits: { budget: { tokens: 1000 } } });
    await made.cli(["unblock", "one"]);
    await made.work();
    assert.equal(made.record("one").status, "review");
  });

  test("a day's budget holds for all plans, and none is blocked by it", thorough, async () => {
    const made = project({
      agents: { only: { ...codex("work"), price: { input: 100_000, output: 100_000 } } },
      stages: { default: "only" },
      limits: { dailyBudget: { usd: 5 }, maxRunningAgents: 1 },
    });
    made.plan("one", ["a"]);
    made.plan("two", ["a"]);
    const worked = await made.work();
    assert.equal(worked.code, 0);
    const done = ["one", "two"].filter((id) => made.record(id).status === "review");
    assert.equal(done.length, 1, worked.stdout);
    assert.match(worked.stdout, /\$6\.00 of \$5\.00 are spent today \(limits\.dailyBudget\)/);
  });

  test(
    "a second attempt goes on with the conversation; one that was forgotten starts from scratch",
    thorough,
    async () => {
      const made = project({ agents: { only: codex("no-tick no-tick lost work") }, stages: { default: "only" } });
      made.plan("one", ["do it", "and this"], { status: "queued", metadata: { limits: { attemptsPerTodo: 3 } } });
      const worked = await made.work();
      assert.equal(made.record("one").status, "review", worked.stdout);
      const all = starts(made, "one", "only");
      const isResumed = all.map(({ args }) => args.includes("resume"));
      // Two attempts, one that cannot go on, the third attempt, and the next TODO, which is another conversation.
      assert.deepEqual(isResumed, [false, true, true, false, false]);
      assert.match(all[1]?.prompt ?? "", /You go on with your work as worker.*not ticked/s);
      assert.match(worked.stdout, /does not know the conversation any more/);
      assert.equal(made.record("one").sessions, undefined);
    },
  );

  test("with `session: plan` the next TODO is told in the same conversation", thorough, async () => {
    const made = project({
      agents: { only: { ...codex("work"), session: "plan" } },
      stages: { default: "only" },
    });
    made.plan("one", ["do it", "and this"]);
    await made.work();
    const all = starts(made, "one", "only");
    assert.deepEqual(
      all.map(({ args }) => args.includes("resume")),
      [false, true],
    );
    assert.match(all[1]?.prompt ?? "", /Your TODO \(number 2\)/);
    assert.equal(made.record("one").spent?.tokens, 120);
  });

  test("a run that was interrupted goes on in its conversation, with its tree as it was", thorough, async () => {
    const made = project({ agents: { only: codex("hang work") }, stages: { default: "only" } });
    made.plan("one", ["do it"]);
    const daemon = await startDaemon(made);
    await daemon.said("one", /worker started/);
    // Its session is known as soon as its words are.
    await appearsIn(join(made.authority, "plans", "one", "runs", "1", "events.jsonl"), "I begin.");
    await daemon.end("SIGKILL");
    const shadows = (): string[] => globSync(join(made.authority, "plans", "*", "runs", "*", "shadow"));
    const before = shadows().length;
    await made.work();
    assert.deepEqual(shadows(), [], `${before} were there after the kill`);
    assert.equal(made.record("one").status, "review");
    const all = starts(made, "one", "only");
    assert.deepEqual(
      all.map(({ args }) => args.includes("resume")),
      [false, true],
    );
    assert.match(all[1]?.prompt ?? "", /interrupted from outside/);
    assert.match(made.git("show", "--stat", "prloom/one"), /half\.txt/);
  });

  test("`unblock --reset` and a person's untick begin a new conversation, too", thorough, async () => {
    const made = project({ agents: { only: codex("no-tick work") }, stages: { default: "only" } });
    made.plan("one", ["do it"], { status: "queued", metadata: { limits: { attemptsPerTodo: 1 } } });
    await made.work();
    assert.match(made.record("one").blocked?.reason ?? "", /failed after 1 attempt/);
    assert.equal((await made.cli(["unblock", "one", "--reset"])).code, 0);
    await made.work();
    const text = made.planText("one").replace("[x]", "[ ]");
    writeFileSync(join(made.home, "plan.md"), text);
    assert.equal((await made.cli(["edit", "one", "--file", join(made.home, "plan.md")])).code, 0);
    await made.work();
    const all = starts(made, "one", "only");
    assert.deepEqual(
      all.map(({ args, prompt }) => [args.includes("resume"), prompt.includes("interrupted")]),
      [
        [false, false],
        [false, false],
        [false, false],
      ],
    );
  });

  test("a refused login does not block while another agent may be waited for", thorough, async () => {
    const made = project({
      agents: { first: codex("429 work"), second: codex("401") },
      stages: { default: ["first", "second"] },
    });
    made.plan("one", ["do it"]);
    await made.work();
    assert.equal(made.record("one").blocked, undefined);
  });

  test("a program that is not there is no reason to stop while another agent is in the list", thorough, async () => {
    const made = project({
      agents: { gone: { adapter: "codex", command: "codex-that-is-not-there" }, there: codex("work") },
      stages: { default: ["gone", "there"] },
    });
    made.plan("one", ["do it", "and this"]);
    made.plan("designed", []);
    const worked = await made.work();
    assert.equal(made.record("one").status, "review", worked.stdout);
    assert.match(worked.stdout, /gone could not be started \(ENOENT.*going on with another agent/);
    assert.doesNotMatch(made.record("designed").blocked?.reason ?? "", /could not be started/);
  });

  test("an agent that answers once and is refused then is not asked again and again", thorough, async () => {
    const made = project({ agents: { only: codex("answers-429") }, stages: { default: "only" } });
    made.plan("one", ["do it"]);
    await made.work();
    const { agents } = JSON.parse(readFileSync(join(made.authority, "agents.json"), "utf8"));
    const until = new Date(Date.now() - 1000).toISOString();
    Object.assign(agents.only, { until, othersUntil: until, ends: { one: until } });
    const file = JSON.stringify({ schemaVersion: 1, agents, today: { day: "x", tokens: 0, usd: 0, ms: 0 } });
    writeFileSync(join(made.authority, "agents.json"), file);
    await made.work();
    const pool = JSON.parse(readFileSync(join(made.authority, "agents.json"), "utf8"));
    assert.equal(pool.agents.only.count, 2);
  });

  test("a run that used up its plan's minutes is not an attempt, and the budget is named", thorough, async () => {
    const made = project({
      agents: { only: codex("hang") },
      stages: { default: "only" },
      limits: { budget: { minutes: 0.02 }, attemptsPerTodo: 1 },
    });
    made.plan("one", ["do it"]);
    await made.work();
    assert.match(made.record("one").blocked?.reason ?? "", /Its budget is spent: \d+ of 0\.02 minutes/);
  });

  test("agents.<name>.maxRunning lets the others wait", thorough, async () => {
    const made = project({
      agents: { only: { ...codex("work"), maxRunning: 1 } },
      stages: { default: "only" },
      limits: { maxRunningAgents: 3 },
    });
    for (const id of ["one", "two", "three"]) made.plan(id, ["a"]);
    const worked = await made.work();
    for (const id of ["one", "two", "three"]) assert.equal(made.record(id).status, "review", worked.stdout);
    const times = ["one", "two", "three"]
      .map((id) => JSON.parse(made.runFile(id, 1, "exit.json")) as { startedAt: string; endedAt: string })
      .sort((a, b) => a.startedAt.localeCompare(b.startedAt));
    const inTurn = times.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]);
    assert.deepEqual(inTurn, inTurn.toSorted(), JSON.stringify(times));
  });
});
