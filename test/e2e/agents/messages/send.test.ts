import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startDaemon } from "../../../testing/daemon.ts";
import { makeGatedProject } from "../../../testing/gated.ts";
import { makeProject, type Project } from "../../../testing/project.ts";
import { story } from "../../../testing/story.ts";
import { thorough } from "../../../testing/thorough.ts";

const STUB = fileURLToPath(new URL("../../../testing/agents/stub-codex.mjs", import.meta.url));

/** The runs of a plan whose prompt has these words, and how often. */
function told(project: Project, id: string, words: string): Record<number, number> {
  const runs = readdirSync(join(project.authority, "plans", id, "runs"))
    .map(Number)
    .filter(Number.isInteger);
  const counts = runs.map((run) => [run, project.runFile(id, run, "prompt.md").split(words).length - 1] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** Where `prloom show` says that the only message to a plan's agent is. */
async function place(project: Project, id: string): Promise<string | undefined> {
  const shown = await project.cli(["show", id]);
  assert.equal(shown.code, 0, shown.stderr);
  const { messages } = JSON.parse((await project.cli(["show", id, "--json"])).stdout);
  assert.equal(messages.length, 1);
  const found = /\(to its agent: (.+)\)/.exec(shown.stdout)?.[1];
  assert.equal(found?.split(" ")[0], messages[0].state);
  return found;
}

describe("with a dispatcher", () => {
  const { project, open, halfWay } = makeGatedProject();
  // Its gate lies where a sandbox shows nothing.
  const { test: agent } = project.config().agents as Record<string, object>;
  project.config({ agents: { test: { ...agent, sandbox: "none" } } });
  after(() => project.remove());
  const step = story("one plan, from its first agent to its merge");

  step("an agent that takes no messages gets it with its next turn, once, across kill -9", async () => {
    project.plan("p", ["[waits] first", "second", "[waits] third", "fourth"]);
    const daemon = await startDaemon(project);
    await halfWay(daemon, "p");
    const sent = await project.cli(["send", "p", "the", "blue", "one"], { GIT_AUTHOR_NAME: "x" });
    assert.equal(sent.code, 0, sent.stderr);
    assert.equal(sent.stdout, "waits for the agent's next turn: test takes no messages while it works.\n");
    const { thread } = JSON.parse((await project.cli(["show", "p", "--json"])).stdout);
    assert.deepEqual(
      thread.map((entry: { body: string }) => entry.body),
      ["the blue one"],
    );
    assert.equal(await place(project, "p"), "waits for the next turn");
    await daemon.end("SIGKILL");
    assert.deepEqual(told(project, "p", "the blue one"), {});
    // The cut-off run is made again (run 2) and has it; the gate is shut, so it is cut off as well.
    const second = await startDaemon(project);
    await second.said("p", /worker started \(run 2/);
    assert.deepEqual(told(project, "p", "> the blue one"), { 2: 1 });
    assert.equal(await place(project, "p"), "given with run 2");
    await second.end("SIGKILL");
    assert.equal(await place(project, "p"), "waits for the next turn");
    open("p");
    const worked = await project.work();
    assert.equal(project.record("p").status, "review", worked.stdout);
    // Run 2 was thrown away with its tree; run 3 did the TODO, and no later one is told again.
    assert.deepEqual(told(project, "p", "the blue one"), { 2: 1, 3: 1 });
    assert.equal(await place(project, "p"), "reached run 3");
    assert.equal(project.commits("p").length, 4);
  });

  step("in review it waits, the plan stays as it is, and the answer tells what to type instead", async () => {
    const daemon = await startDaemon(project);
    const sent = await project.cli(["send", "p", "one more thing", "--json"]);
    const { delivery, why, hint, eventId, author } = JSON.parse(sent.stdout);
    assert.equal(delivery, "waits");
    assert.equal(why, "the plan is in review, and no turn is due");
    assert.match(hint, /prloom comment p "/);
    assert.equal(typeof author, "string");
    assert.equal(project.record("p").status, "review");
    // Neither triage nor a merge is in its way.
    const { runs } = project.record("p");
    const events = await project.cli(["events", "p", "--json"]);
    const types = JSON.parse(events.stdout).map(({ data }: { data: { type: string; id: string } }) => data);
    assert.equal(types.find((event: { id: string }) => event.id === eventId).type, "agent_message");
    const merged = await project.cli(["merge", "p"]);
    assert.equal(merged.code, 0, merged.stderr);
    assert.match(merged.stdout, /^never delivered: .+ sent its agent: one more thing\n/m);
    assert.doesNotMatch(merged.stdout, /the blue one/);
    assert.equal(project.record("p").runs, runs);
    const late = await project.cli(["send", "p", "too late"]);
    assert.equal(late.code, 1);
    assert.match(late.stderr, /p is done; no agent works on it/);
    await daemon.end();
  });
});

describe("without a dispatcher", () => {
  const project = makeProject();
  after(() => project.remove());
  const step = story("plans of one project");

  step("one that no agent got is named when its plan ends by a merge by hand", thorough, async () => {
    project.plan("by-hand", ["one"]);
    await project.work();
    assert.equal((await project.cli(["send", "by-hand", "one more\nthing"])).code, 0);
    project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "merge", "-q", "--no-ff", "prloom/by-hand");
    const ended = await project.work();
    assert.equal(project.record("by-hand").outcome, "merged");
    assert.match(ended.stdout, /by-hand +never delivered: .+ sent its agent: one more$/m);
  });

  step("it is on record and the first turn gets it; the words may come from a file", async () => {
    project.plan("p", ["one", "two"]);
    const file = join(project.home, "words.md");
    writeFileSync(file, "mind the\n# heading\n");
    const sent = await project.cli(["send", "p", "--file", file]);
    assert.equal(sent.code, 0, sent.stderr);
    assert.match(sent.stdout, /^waits for the agent's next turn: no dispatcher is running\.\n {2}hint: `prloom start`/);
    await project.work();
    assert.equal(project.record("p").status, "review");
    assert.deepEqual(told(project, "p", "> mind the\n> # heading"), { 1: 1 });
  });

  test("the agent that does the work in the end gets it, and none gets it twice", thorough, async () => {
    const codex = (behaviour: string) => ({ adapter: "codex", command: STUB, env: { BEHAVIOUR: behaviour } });
    const agents = { first: codex("answers-429"), second: codex("work") };
    const made = makeProject({ config: { agents, stages: { default: ["first", "second"] } } });
    after(() => made.remove());
    made.plan("p", ["one", "two"]);
    await made.cli(["send", "p", "use blue"]);
    assert.equal(await place(made, "p"), "waits for the next turn", "no dispatcher has looked at it yet");
    const worked = await made.work();
    assert.match(worked.stdout, /first was refused.+going on with second/);
    assert.equal(made.record("p").status, "review", worked.stdout);
    assert.deepEqual(told(made, "p", "> use blue"), { 1: 1, 2: 1 });
    assert.equal(await place(made, "p"), "reached run 2");
    writeFileSync(join(made.authority, "plans", "p", "messages.json"), "{ torn");
    const shown = await made.cli(["show", "p"]);
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /^note: .+messages\.json cannot be read: .+ move it away/m);
  });

  step("a plugin sees it first, and what that handles is not sent", thorough, async () => {
    writeFileSync(join(project.root, "quiet.mjs"), QUIET);
    project.config({ plugins: { quiet: { module: "./quiet.mjs" } } });
    project.git("add", "-A");
    project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "plugin");
    project.plan("q", ["one"]);
    const daemon = await startDaemon(project);
    await daemon.said("q", /in review|finished|ready/i);
    const handled = await project.cli(["send", "q", "/mine", "secret"]);
    assert.equal(handled.stdout, "taken by the plugin quiet; the agent does not get it.\n");
    const later = await project.cli(["send", "q", "/later", "word"]);
    assert.equal(later.stdout.split("\n")[0], "waits for the agent's next turn: quiet put it off.");
    await daemon.end();
    project.git("rm", "-q", "--cached", "quiet.mjs");
  });

  step("what cannot be sent says why", thorough, async () => {
    const cases: [string[], RegExp][] = [
      [["send", "nobody", "x"], /There is no plan "nobody"/],
      [["send", "p", "  "], /The message is empty/],
      [["send", "p", "x", "--file", join(project.home, "words.md")], /either from the command line or/],
      [["send", "p", "x".repeat(40_000)], /longer than 32 KB/],
    ];
    for (const [args, message] of cases) {
      const { code, stderr } = await project.cli(args);
      assert.notEqual(code, 0);
      assert.match(stderr, message);
    }
    const inside = await project.cli(["send", "p", "x"], { PRLOOM_RUN_ID: "u/1" });
    assert.match(inside.stderr, /agents cannot change plans/);
  });
});

const QUIET = `
export default () => ({
  onEvent(event, ctx) {
    if (event.type !== "agent_message") return;
    if (event.body.startsWith("/mine")) ctx.markEventHandled(event.id);
    if (event.body.startsWith("/later")) ctx.markEventDeferred(event.id, "not yet", 60000);
  },
});
`;
