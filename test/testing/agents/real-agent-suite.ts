import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startDaemon } from "../daemon.ts";
import type { ModelRequest } from "../model/request.ts";
import type { Script } from "../model/script.ts";
import { designs, fileOfTodo, forgetsTick, promptOf, triages, worksTodos } from "../model/stages.ts";
import { SEED_NOTE } from "../sample.ts";
import { thorough } from "../thorough.ts";
import { appears } from "./agent-scripts.ts";
import { type Bench, type BenchOptions, makeWorkshop, type RealAgent } from "./real-agent-bench.ts";

const GOOD: Script = [worksTodos()];
const ONE_ATTEMPT = { attemptsPerTodo: 1 };

/**
 * What every real agent program must do in prloom's hands, with a scripted model behind it. What can go wrong on the way
 * the ordinary run shows with stubs; `story` are options of the whole story.
 */
export function realAgentSuite(agent: RealAgent, story: { readonly skip?: string } = {}): void {
  describe(`${agent.program} through prloom (${SEED_NOTE})`, { concurrency: 2 }, () => {
    const workshop = makeWorkshop(agent);
    after(() => workshop.close());
    const trying = (what: string, options: BenchOptions & { skip?: string }, body: (bench: Bench) => Promise<void>) =>
      test(what, options.skip === undefined ? {} : { skip: options.skip }, async (t: TestContext) => {
        const bench = await workshop.bench(t, options);
        if (bench) await body(bench);
      });

    const whole = { script: WHOLE, ...story };
    trying("designs, works, is sent back, goes on with its conversation, and answers", whole, (bench) =>
      wholeStory(bench, agent),
    );
    trying("goes on after the dispatcher was ended and killed", { script: BUSY, ...thorough }, (bench) =>
      interrupted(bench, agent),
    );
    const keyless = { script: [{ steps: [{ fail: 401 }] }], limits: ONE_ATTEMPT, ...thorough };
    trying("a refused key blocks the plan", keyless, refusedKey);
    for (const fail of [429, 529]) {
      const script = [{ steps: [fail === 429 ? { fail, retryAfter: 1 } : { fail }] }];
      trying(`${fail}: waits, and loses no attempt`, { script, limits: ONE_ATTEMPT, ...thorough }, refused);
    }
    const patience = { ...ONE_ATTEMPT, runTimeout: `${agent.startSeconds + 6}s` };
    trying("is ended at its deadline", { script: RESTLESS, limits: patience, ...thorough }, (bench) =>
      endedAlone(bench, /longer than limits\.runTimeout/),
    );
    const quiet = { ...ONE_ATTEMPT, silenceTimeout: `${agent.startSeconds + 4}s` };
    trying("is ended when it is silent", { script: SILENT, limits: quiet, ...thorough }, (bench) =>
      endedAlone(bench, /silent for limits\.silenceTimeout/),
    );
    const little = { ...ONE_ATTEMPT, maxOutput: "1MB" };
    trying("may flood", { script: FLOOD, limits: little, ...thorough }, floods);
    trying("gets over a cut connection", { script: CUT, limits: ONE_ATTEMPT, ...thorough }, worksOne);
  });
}

const WHOLE: Script = [
  designs(["Make the first file", "Make the second file"]),
  forgetsTick(({ prompt }) => prompt.todoNumber === 2 && !prompt.refused),
  worksTodos(),
  triages("A good idea.", ["Make the third file"]),
];

async function wholeStory({ project, asked, model }: Bench, agent: RealAgent): Promise<void> {
  project.planFile("story", "## Title\n\nThree files\n\n## Objective\n\nThere are three files.\n");
  const first = await project.work();
  assert.equal(first.code, 0, first.stderr + first.stdout);
  assert.equal(project.record("story").status, "review", first.stdout);
  assert.deepEqual(project.commits("story"), ["Make the first file", "Make the second file"]);
  assert.match(project.planText("story"), /- \[x\] Make the first file\n- \[x\] Make the second file\n/);
  assert.equal(asked("designer").length, 3);
  // Sent back once, with all that was said before in sight, and nothing of another TODO.
  const again = asked("worker").filter(({ prompt }) => prompt.refused);
  assert.deepEqual([...new Set(again.map(({ prompt }) => prompt.todoNumber))], [2]);
  const forgot = first.stdout.includes("does not know the conversation any more; starting a new one");
  assert(!forgot || agent.forgets, first.stdout);
  if (!forgot) {
    assert.match(answersIn(again[0]), /I do TODO 2\.[\s\S]*I believe that I am done\./);
    assert(again.every(({ prompt }) => prompt.goesOn));
  }
  assert.doesNotMatch(answersIn(again[0]), /I do TODO 1\./);

  const comment = await project.cli(["comment", "story", "Could there be a third file?"]);
  assert.equal(comment.code, 0, comment.stderr);
  const second = await project.work();
  assert.equal(second.code, 0, second.stderr + second.stdout);
  assert.equal(project.record("story").status, "review", second.stdout);
  assert.match(asked("triage")[0]?.text ?? "", /Could there be a third file\?/);
  assert.deepEqual(project.commits("story").slice(2), ["Make the third file"]);
  for (const number of [1, 2, 3]) {
    assert.match(project.git("show", `prloom/story:${fileOfTodo(number)}`), /^Make the (first|second|third) file\n$/);
  }
  const { runs, spent } = project.record("story");
  // One that forgets is started once more, and told everything.
  assert.deepEqual([runs, spent?.runs], forgot ? [7, 7] : [6, 6]);
  assert((spent?.tokens ?? 0) > 0);
  assert.deepEqual(project.processes(), []);
  assert(
    model.requests.length > 0 && model.requests.every(({ path }) => path.startsWith("/v1")),
    "nothing else was asked of the model's host",
  );
  await isTold(project);
}

/** What was done is there to be read. */
async function isTold(project: Bench["project"]): Promise<void> {
  const shown = JSON.parse((await project.cli(["show", "story", "--json"])).stdout);
  assert.equal(
    shown.thread.some(({ body }: { body: string }) => body.includes("A good idea.")),
    true,
  );
  const logs = await project.cli(["logs", "story"]);
  assert.equal(logs.code, 0, logs.stderr);
  assert.match(logs.stdout, /It is done\./);
}

/** What the model itself said so far, as the program tells it. */
function answersIn(request: ModelRequest | undefined): string {
  const said = request?.conversation.said.filter(({ role }) => role === "assistant") ?? [];
  return said.map(({ text }) => text).join("\n");
}

/** Starts something that does not end, and waits for it; some programs do not run a `sleep` that is so long. */
const BUSY: Script = [{ steps: [{ shell: "tail -f /dev/null & echo yes > started.txt; tail -s 7 -f /dev/null" }] }];

async function interrupted({ project, model }: Bench, agent: RealAgent): Promise<void> {
  project.plan("busy", ["Make a file"]);
  for (const [round, signal] of (["SIGTERM", "SIGKILL"] as const).entries()) {
    const daemon = await startDaemon(project);
    await daemon.said("busy", /worker started/);
    const { worktree = "" } = project.record("busy");
    // The second time the file is there from the first: what counts is that the model was asked once more.
    await appears(join(worktree, "started.txt"));
    await asksFor(model, round + 1);
    await daemon.end(signal);
    while (project.processes().length > 0) await sleep(50);
  }
  model.follow(GOOD);
  const worked = await project.work();
  assert.equal(worked.code, 0, worked.stderr + worked.stdout);
  const { status, blocked } = project.record("busy");
  assert.deepEqual([status, blocked], ["review", undefined], worked.stdout);
  assert.deepEqual(project.commits("busy"), ["Make a file"]);
  const wentOn = JSON.stringify(model.asked().at(-1)?.body).includes("tail -s 7 -f");
  assert(wentOn || agent.forgets, "the conversation did not go on");
  assert.deepEqual(project.processes(), []);
}

async function asksFor(model: Bench["model"], count: number): Promise<void> {
  while (model.asked().length < count) await sleep(20);
}

async function refusedKey({ project, blockedReason, program, model }: Bench): Promise<void> {
  project.plan("keyless", ["Make a file"]);
  const worked = await project.work();
  assert.equal(worked.code, 0, worked.stderr);
  const reason = blockedReason("keyless");
  assert.match(reason, /not logged in|key was refused/);
  assert.match(reason, /prloom unblock keyless/);
  assert(reason.includes(program.version), `${reason}\nnames the version ${program.version}`);
  model.follow(GOOD);
  const unblocked = await project.cli(["unblock", "keyless"]);
  assert.equal(unblocked.code, 0, unblocked.stderr);
  await isWorked(project, "keyless");
}

async function refused({ project, model }: Bench): Promise<void> {
  project.plan("waiting", ["Make a file"]);
  const daemon = await startDaemon(project);
  await daemon.said("waiting", /real was refused \((rate-limit|overloaded)\).*trying again at/s);
  const { blocked, current } = project.record("waiting");
  assert.deepEqual([blocked, current?.attempt], [undefined, 1]);
  model.follow(GOOD);
  await daemon.said("waiting", /in review/);
  const { code, stdout } = await daemon.end();
  assert.equal(code, 0, stdout);
  assert.deepEqual(project.commits("waiting"), ["Make a file"]);
  assert.deepEqual(project.processes(), []);
}

async function isWorked(project: Bench["project"], id: string): Promise<void> {
  const worked = await project.work();
  assert.equal(worked.code, 0, worked.stderr);
  assert.equal(project.record(id).status, "review", worked.stdout);
  assert.deepEqual(project.commits(id), ["Make a file"]);
  assert.deepEqual(project.processes(), []);
}

/** Never the same command twice: programs that look for loops would end the run before its deadline. */
const RESTLESS: Script = [{ steps: [({ answers }) => ({ shell: `tail -f /dev/null & echo and on ${answers}` })] }];
const SILENT: Script = [{ steps: [{ shell: "tail -f /dev/null & echo begun" }, { hang: 3_600_000 }] }];

/** Ended by prloom with everything it had started, and the reason is on the plan. */
async function endedAlone({ project, blockedReason }: Bench, reason: RegExp): Promise<void> {
  project.plan("late", ["Make a file"]);
  const worked = await project.work();
  assert.equal(worked.code, 0, worked.stderr);
  assert.match(blockedReason("late"), reason);
  assert.deepEqual(project.processes(), []);
}

const FLOOD: Script = [
  {
    when: promptOf("worker"),
    steps: [{ flood: 5_000_000, shell: "yes flood | head -c 5000000" }, ...worksTodos().steps],
  },
];

async function floods(bench: Bench): Promise<void> {
  await worksOne(bench);
  const runDir = join(bench.project.authority, "plans", "one", "runs", "1");
  assert(existsSync(runDir));
  assert.equal(JSON.parse(bench.project.runFile("one", 1, "exit.json")).truncated, true);
}

const CUT: Script = [{ when: promptOf("worker"), steps: [{ drop: true, times: 1 }, ...worksTodos().steps] }];

async function worksOne({ project }: Bench): Promise<void> {
  project.plan("one", ["Make a file"]);
  await isWorked(project, "one");
}
