import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { GateRecord } from "../../../../src/gate/gate-record.ts";
import { gateStates, showPlan } from "../../../testing/at-gate.ts";
import type { Issue } from "../../../testing/github/world.ts";
import { thorough } from "../../../testing/thorough.ts";
import { type PublishingProject, publishingProject } from "../../github/publishing-project.ts";

/** A plan without an issue, `dark`, whose change waits at its gate. */
async function atPull(t: TestContext, gates: object = {}): Promise<PublishingProject & { readonly pull: Issue }> {
  const made = await publishingProject(t, { gates: { pr: true, advisory: true, ...gates } });
  made.project.plan("dark", ["make one"]);
  await made.work();
  const [pull] = made.pulls();
  assert.ok(pull);
  return { ...made, pull };
}

const bodiesOf = ({ comments }: Issue): string[] => comments.map(({ body }) => body);
const lastOf = (pull: Issue): string => bodiesOf(pull).at(-1) ?? "";
const countOf = (pull: Issue, part: string): number => bodiesOf(pull).filter((body) => body.includes(part)).length;

async function newestGate({ project }: PublishingProject): Promise<GateRecord> {
  const gate = (await showPlan(project, "dark")).gates.at(-1);
  assert.ok(gate);
  return gate;
}

describe("a change on GitHub whose plan has no issue", { concurrency: 2 }, () => {
  it("is shown below its pull request, and approved there by a comment of a person who may", async (t) => {
    const made = await atPull(t);
    const { project, work, pull, ada, github, repository } = made;
    const { gateId, thread } = await newestGate(made);
    assert.deepEqual(thread?.target, "github-pr");
    assert.match(lastOf(pull), new RegExp(`^\\*\\*The change waits for your answer\\*\\* \\(gate ${gateId}`));
    assert.match(lastOf(pull), /```diff\ndiff --git a\/work\.txt[\s\S]*A comment by bot does not count/);
    github.person(repository, "eve").comments(pull.number, "approved");
    github.person(repository, "bot").comments(pull.number, "approved");
    ada.comments(pull.number, "approved", "some-app");
    ada.editsComment(ada.comments(pull.number, "no"), "approved");
    ada.reviews(pull.number, { state: "APPROVED", body: "LGTM" });
    await work();
    assert.deepEqual(await gateStates(project, "dark"), ["open"]);
    assert.equal(
      countOf(pull, "a review answers no gate, a comment in the thread does. To approve, write `approved`"),
      1,
    );
    assert.equal(countOf(pull, "prloom posts as bot as well"), 1);
    assert.equal(countOf(pull, "it was edited after it was written"), 1);
    ada.comments(pull.number, "approved");
    await work();
    assert.deepEqual(await gateStates(project, "dark"), ["approved"]);
    assert.equal(countOf(pull, "approved by ada (thread): the change is marked ready now"), 1);
    assert.deepEqual([pull.pull?.draft, pull.pull?.merged], [false, undefined]);
  });

  it(
    "is shown again below it where its post was edited, and an answer to that one does not count",
    thorough,
    async (t) => {
      const { project, work, pull, ada } = await atPull(t);
      const [post] = pull.comments;
      assert.ok(post);
      ada.editsComment(post, post.body.replace("make one", "make two"));
      ada.comments(pull.number, "approved");
      await work();
      assert.deepEqual(await gateStates(project, "dark"), ["revised", "open"]);
      assert.equal(countOf(pull, "It is shown again: the post of gate"), 1);
      assert.equal(pull.pull?.draft, true);
    },
  );

  it("does not count an answer that was edited or deleted before it was judged", thorough, async (t) => {
    for (const change of ["edit", "delete"] as const) {
      const { project, work, pull, ada, github } = await atPull(t);
      const answer = ada.comments(pull.number, "approved");
      let isDone = false;
      // What is read again before it counts comes after the look that heard it.
      github.server.onSeen = ({ method, path }) => {
        if (isDone || method !== "GET" || !path.endsWith(`/issues/${pull.number}/comments`)) return;
        isDone = true;
        if (change === "edit") ada.editsComment(answer, "not yet");
        else ada.deletesComment(pull.number, answer.id);
      };
      await work();
      assert.ok(isDone);
      assert.deepEqual(await gateStates(project, "dark"), ["open"]);
    }
  });

  it("tells a person who approves it in a review without words what counts, once", thorough, async (t) => {
    const { project, work, pull, ada } = await atPull(t);
    for (let time = 0; time < 2; time += 1) {
      ada.reviews(pull.number, { state: "APPROVED", body: "" });
      await work();
    }
    assert.deepEqual(await gateStates(project, "dark"), ["open"]);
    assert.equal(countOf(pull, "a review answers no gate"), 1);
    assert.equal(project.record("dark").runs, 1, "nothing is triaged");
  });

  it("waits for its pull request, and is shown there when that is open", thorough, async (t) => {
    const made = await publishingProject(t, { gates: { pr: true, advisory: true } });
    const { project, work, cli, pulls, github, ada } = made;
    github.server.faults.add({ kind: "error-before", on: /POST .*\/pulls$/, times: 1000 });
    project.plan("dark", ["make one"]);
    await work();
    assert.deepEqual(pulls(), []);
    assert.match((await cli("status")).stdout, /its change request is to be opened first/);
    assert.match((await cli("gates")).stdout, /No plan waits for an answer/);
    const { code, stderr } = await cli("approve", "dark");
    assert.equal(code, 1);
    assert.match(stderr, /it was not shown to anyone yet/);
    assert.deepEqual(JSON.parse((await cli("show", "dark", "--json")).stdout).thread, []);
    github.server.faults.clear();
    await work();
    const [pull] = pulls();
    assert.ok(pull);
    assert.equal(countOf(pull, "The change waits for your answer"), 1);
    ada.comments(pull.number, "/reject Not like this.");
    await work();
    assert.match(project.record("dark").blocked?.reason ?? "", /^Rejected by ada: Not like this\.$/);
  });

  it("is shown in the local thread where there is nothing to publish", thorough, async (t) => {
    const made = await publishingProject(t, { gates: { pr: true, advisory: true } });
    const { project, work, pulls } = made;
    project.planFile("dark", "## Title\n\nPlan dark\n\n## TODO\n\n- [x] make one\n");
    await work();
    assert.deepEqual(pulls(), []);
    assert.match((await showPlan(project, "dark")).thread.at(-1)?.body ?? "", /The change waits for your answer/);
  });

  it("shows an edit of its plan there as well, once it has a pull request", thorough, async (t) => {
    const made = await publishingProject(t, { gates: { plan: true, advisory: true } });
    const { project, work, cli, pulls } = made;
    project.plan("dark", ["make one"]);
    await work();
    assert.equal((await newestGate(made)).thread?.target, "local");
    await cli("approve", "dark");
    await work();
    const edited = join(project.home, "edited.md");
    writeFileSync(edited, project.planText("dark").replace("- [x] make one", "$&\n- [ ] make two"));
    assert.equal((await cli("edit", "dark", "--file", edited)).code, 0);
    await work();
    const [pull] = pulls();
    assert.ok(pull);
    assert.equal(countOf(pull, "The plan waits for your answer"), 1);
    made.ada.comments(pull.number, "approved");
    await work();
    assert.equal(project.commits("dark").length, 2);
  });

  const points = ["pr-gate:opened", "server:told", "server:seen", "gate:told", "gate:posted", "gate:decided"];
  for (const point of points) {
    it(`${point}: one post, one confirmation, one notification, over a kill`, thorough, async (t) => {
      const made = await publishingProject(t, { gates: { pr: true, advisory: true } });
      const { project, work, pulls, ada } = made;
      project.plan("dark", ["make one"]);
      const isAnswer = point === "gate:decided";
      if (!isAnswer) assert.equal((await work({ PRLOOM_CRASH_AT: point })).signal, "SIGKILL");
      await work();
      const [pull, ...others] = pulls();
      assert.deepEqual([pull !== undefined, others], [true, []]);
      assert.ok(pull);
      ada.comments(pull.number, "approved");
      if (isAnswer) assert.equal((await work({ PRLOOM_CRASH_AT: point })).signal, "SIGKILL");
      await work();
      assert.deepEqual(await gateStates(project, "dark"), ["approved"]);
      assert.equal(countOf(pull, "The change waits for your answer"), 1);
      assert.equal(countOf(pull, "approved by ada (thread)"), 1);
      const actions = readFileSync(join(project.authority, "plans", "dark", "bus", "actions.jsonl"), "utf8").split(
        "\n",
      );
      const notices = actions.filter((line) => line.includes('"type":"notification"'));
      assert.equal(notices.length, 1);
      assert.match(notices[0] ?? "", /shows it \(gate \w+\)\. http\S+\/acme\/app\/pull\/\d+ Answer with/);
      assert.equal(pull.pull?.draft, false);
    });
  }
});
