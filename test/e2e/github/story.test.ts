import assert from "node:assert/strict";
import { after, describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { installProgram } from "../../testing/agents/programs.ts";
import { makeWorkshop, type RealAgent } from "../../testing/agents/real-agent-bench.ts";
import { outcomeOf, type StoryOutcome } from "../../testing/github-story/outcome.ts";
import { planFiles } from "../../testing/github-story/plan-files.ts";
import { playStory, type StoryPlace, type StoryWords } from "../../testing/github-story/story.ts";
import type { Rule } from "../../testing/model/script.ts";
import { promptOf, worksTodos, writesResult } from "../../testing/model/stages.ts";
import { finished } from "../../testing/project.ts";
import { type Random, seededRandom } from "../../testing/random.ts";
import { SEED, SEED_NOTE } from "../../testing/sample.ts";
import { THOROUGH, thorough } from "../../testing/thorough.ts";
import { type PublishingProject, publishingProject } from "./publishing-project.ts";

const WORDS: StoryWords = {
  title: "Add a dark mode",
  body: "We want it dark.\n\n## Tasks\n\n- [ ] make one\n- [ ] make two\n",
  remarks: [
    { path: "work.txt", line: 1, body: "please make three" },
    { path: "work.txt", line: 2, body: "please make four" },
  ],
  check: { name: "build", log: "error: one is not two\n" },
};

const CONFIG = {
  triggers: [{ on: "issue.labeled", label: "prloom", do: "queue" }],
  gates: { plan: true, advisory: true },
  bus: { gatherReviews: "1s" },
};

/** Whatever happens on the way. */
const OUTCOME: StoryOutcome = {
  issue: [
    "ada: approved",
    "bot: **The plan waits for your answer** (gate …, …). It is advisory: the agent is asked to wait, and nothing keeps it from writing.",
    "bot: **prloom** works on this as the plan ….",
    "bot: **prloom**: this is done, and merged: …",
    // Where it was approved people see what the approval was extended by.
    "bot: Will do 2.",
    "bot: approved by ada (thread): it is implemented now (gate …)",
  ],
  pull: [],
  threads: [
    ["bob: please make three", "bot: Will do 2.", "bot: Done in …."],
    ["bob: please make four", "bot: Added to the plan:", "bot: Done in …."],
  ],
  reviews: ["bob CHANGES_REQUESTED", "bob APPROVED"],
  commits: ["make one", "make two", "make three", "make four", "make build pass"],
  ...{ pulls: 1, drafts: 1, state: "merged", plan: "done merged" },
};

/**
 * Where the author of one remark cannot be looked up at once, that remark is taken up later than the other: two answers instead of one, and
 * the other order.
 */
function howeverGathered({ commits, issue, threads, ...rest }: StoryOutcome): StoryOutcome {
  const taken = (line: string): string => line.replace(/^bot: (?:Will do \d\.|Added to the plan:)$/, "bot: taken up");
  const told = issue.map(taken);
  return {
    ...rest,
    commits: commits.toSorted(),
    issue: told.filter((line, at) => line !== "bot: taken up" || told.indexOf(line) === at),
    threads: threads.map((lines) => lines.map(taken)),
  };
}

type Work = (made: PublishingProject) => Promise<void>;

const calmly: Work = async ({ work }) => void (await work());

/** The dispatcher is killed as often as this while it works, and then may finish. */
function killed(kills: number, random: Random): Work {
  let left = kills;
  return async (made) => {
    if (left === 0 || random.chance(0.2)) return calmly(made);
    const child = made.project.spawnCli(["start", "--until-idle"], { GITHUB_TOKEN: made.token });
    const ended = finished(child);
    await Promise.race([ended, sleep(random.between(300, 4000))]);
    if (child.kill("SIGKILL")) left -= 1;
    await ended;
  };
}

interface Way {
  /** A project with another agent, whose words fit what that one does. */
  readonly agent?: { readonly make: Making; readonly words: StoryWords; readonly config: object };
  readonly work?: Work;
  /** The share of calls to GitHub that fail. */
  readonly failing?: number;
  readonly seed?: number;
}

type Making = Parameters<typeof publishingProject>[2];

async function played(
  t: TestContext,
  { work = calmly, failing = 0, seed = SEED, agent }: Way = {},
): Promise<StoryOutcome> {
  const made = await publishingProject(t, { ...CONFIG, ...agent?.config }, agent?.make);
  const { github, repository, project } = made;
  repository.permissions.set(github.world.user("bob"), "write");
  let acts = 0;
  const tell: StoryPlace["tell"] = (who, what) => {
    t.diagnostic(`${who} ${what}`);
    // What was before the first look is not heard, so that one is to succeed.
    if (acts === 0) github.server.faults.failShare(failing, seed);
    acts += 1;
  };
  const place: StoryPlace = {
    ...{ github, repository, plans: planFiles(project.root), tell },
    work: () => work(made),
  };
  return outcomeOf(place, await playStory(place, agent?.words ?? WORDS));
}

const SEEDS = THOROUGH ? [1, 2, 3, 4, 5].map((more) => SEED + more) : [SEED];

describe(`from an issue to a merged pull request (${SEED_NOTE})`, { concurrency: 2 }, () => {
  it("with an agent of one's own", thorough, async (t) => {
    assert.deepEqual(await played(t), OUTCOME);
  });

  for (const seed of SEEDS)
    it(`the same under kills of the dispatcher (seed ${seed})`, async (t) => {
      const work = killed(THOROUGH ? 40 : 6, seededRandom(seed));
      assert.deepEqual(await played(t, { work }), OUTCOME);
    });

  for (const seed of SEEDS)
    it(`the same with a GitHub of which a fifth of the calls fail (seed ${seed})`, thorough, async (t) => {
      assert.deepEqual(howeverGathered(await played(t, { failing: 0.2, seed })), howeverGathered(OUTCOME));
    });
});

/** Answers as the other agent does: one TODO for each remark. */
const TRIAGES: Rule = {
  when: promptOf("triage"),
  steps: [
    ({ text }) => {
      const asked = [...new Set(text.match(/github-review-comment-\d+/g))];
      const todos = ["make three", "make four"].map((todo, index) => ({ text: todo, events: [asked[index]] }));
      return writesResult({ reply_markdown: "Will do 2.", todos, rebase_requested: false });
    },
    { say: "I have answered." },
  ],
};

const REAL: readonly RealAgent[] = [
  { program: "claude", config: { adapter: "claude" }, startSeconds: 5 },
  { program: "opencode", config: { adapter: "opencode" }, startSeconds: 12 },
];

for (const agent of REAL)
  describe(`from an issue to a merged pull request with ${agent.program}`, () => {
    const workshop = makeWorkshop(agent);
    after(() => workshop.close());

    it("is held to the gate, and does the same", thorough, async (t) => {
      const program = await installProgram(agent.program);
      if ("missing" in program) return t.skip(program.missing);
      const make: Making = async ({ config = {} }) => {
        const bench = await workshop.bench(t, { script: [TRIAGES, worksTodos()], config });
        assert(bench);
        return bench.project;
      };
      const remarks = WORDS.remarks.map(({ body }) => ({ path: "todo-1.txt", line: 1, body }));
      const config = { gates: { plan: true } };
      const outcome = await played(t, { agent: { make, words: { ...WORDS, remarks }, config } });
      const shown = "bot: **The plan waits for your answer** (gate …, …). Nothing is implemented before.";
      assert.deepEqual(outcome, { ...OUTCOME, issue: OUTCOME.issue.with(1, shown) });
    });
  });
