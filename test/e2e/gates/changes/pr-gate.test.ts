import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gateStates, killed, showPlan, succeeds, untilIdle, waitingAtGate } from "../../../testing/at-gate.ts";
import { makeProject, type Project } from "../../../testing/project.ts";
import { thorough } from "../../../testing/thorough.ts";

async function refused(project: Project, expected: RegExp, ...args: string[]): Promise<void> {
  const { code, stderr } = await project.cli(args);
  assert.equal(code, 1, args.join(" "));
  assert.match(stderr, expected);
}

/** A project whose plan, `shop`, is implemented and waits at the gate of its change request. */
function atPrGate(todos: readonly string[] = ["make one"], gates: object = {}): Promise<Project> {
  return waitingAtGate(todos, { gates: { plan: false, pr: true, ...gates } });
}

const lastPost = async (project: Project): Promise<string> => (await showPlan(project)).thread.at(-1)?.body ?? "";

/** Another commit on the plan's branch, by a person. */
function commitByHand(project: Project, name: string): void {
  const worktree = project.worktree("shop");
  writeFileSync(join(worktree, name), `${name}\n`);
  project.git("-C", worktree, "add", "--", name);
  project.git("-C", worktree, "-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", `Add ${name}`);
}

function commitOnMain(project: Project, name: string, text: string): void {
  writeFileSync(join(project.root, name), text);
  project.git("add", "--", name);
  project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", `Change ${name}`);
}

describe("a change at its gate", { concurrency: 2 }, () => {
  it("is shown whole, and neither ready nor merged, until a person approves it; approving merges nothing", async () => {
    const project = await atPrGate();
    assert.equal(project.record("shop").status, "active");
    assert.equal(project.record("shop").changeRequest?.ready, false);
    const { gates, phase, thread } = await showPlan(project);
    const [gate] = gates;
    const head = project.git("rev-parse", "prloom/shop").trim();
    assert.deepEqual([phase, gate?.kind, gate?.head], ["pr_gate", "pr", head]);
    const post = thread.at(-1)?.body ?? "";
    assert.match(post, /^\*\*The change waits for your answer\*\*/);
    assert.match(post, /```markdown\n[\s\S]*- \[x\] make one[\s\S]*1 commit:[\s\S]*```diff\ndiff --git a\//);
    assert.match(await succeeds(project, "gates"), new RegExp(`shop +${gate?.gateId} +change`));
    await refused(project, /waits for an answer \(gate \w+\)/, "merge", "shop");
    await refused(project, /waits for an answer \(gate \w+\)/, "merge", "shop", "--force");
    assert.match(
      await succeeds(project, "approve", "shop"),
      /its change is marked ready, and then `prloom merge` merges it/,
    );
    await untilIdle(project);
    assert.equal(project.record("shop").status, "review");
    assert.equal(project.record("shop").changeRequest?.ready, true);
    assert.match(await lastPost(project), /^approved by .* \(cli\): the change is marked ready now/);
    assert.equal(project.git("log", "--format=%s", "main").includes("Merge"), false);
    await succeeds(project, "merge", "shop");
    assert.equal(project.record("shop").outcome, "merged");
    project.remove();
  });

  it(
    "is approved for its commit alone: another one is not merged, and is shown with what changed",
    thorough,
    async () => {
      const project = await atPrGate();
      await succeeds(project, "approve", "shop");
      await untilIdle(project);
      commitByHand(project, "by-hand.txt");
      await refused(project, /is for commit \w{8}, and the branch is at/, "merge", "shop", "--force");
      await untilIdle(project);
      assert.deepEqual(await gateStates(project), ["approved", "open"]);
      assert.match(await lastPost(project), /What changed since gate \w+:\n\n```diff[\s\S]*\+by-hand\.txt/);
      assert.equal(project.record("shop").status, "active");
      commitByHand(project, "more.txt");
      await refused(project, /it changed after gate \w+/, "approve", "shop");
      project.remove();
    },
  );

  it(
    "stays approved after a rebase that changed no patch, and is shown again after one that did",
    thorough,
    async () => {
      const project = await atPrGate();
      await succeeds(project, "approve", "shop");
      await untilIdle(project);
      commitOnMain(project, "elsewhere.txt", "else\n");
      assert.match(await succeeds(project, "rebase", "shop"), /rebased shop onto main/);
      const [gate] = (await showPlan(project)).gates;
      const head = project.git("rev-parse", "prloom/shop").trim();
      assert.match(gate?.amendments[0]?.by[0] ?? "", new RegExp(`^rebase from ${gate?.head} to ${head}`));
      await untilIdle(project);
      assert.deepEqual(await gateStates(project), ["approved"]);
      assert.equal(project.record("shop").status, "review");
      commitOnMain(project, "work.txt", "of a person\n");
      assert.match(await succeeds(project, "rebase", "shop"), /conflicts with main in: work\.txt/);
      await refused(project, /being worked on/, "merge", "shop", "--force");
      await untilIdle(project);
      assert.deepEqual(await gateStates(project), ["approved", "open"]);
      assert.match(await lastPost(project), /What changed since gate/);
      assert.equal(project.git("show", "prloom/shop:work.txt"), "of a person\nmake one\n");
      project.remove();
    },
  );

  it("goes back to triage with a person's words, and is shown again", thorough, async () => {
    const project = await atPrGate();
    await succeeds(project, "revise", "shop", "please add two");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["revised", "open"]);
    assert.equal(project.commits("shop").length, 2);
    assert.match(await lastPost(project), /2 commits:[\s\S]*What changed since gate/);
    project.remove();
  });

  it("is blocked when it is rejected, and shown again when it is unblocked", thorough, async () => {
    const project = await atPrGate();
    await succeeds(project, "reject", "shop", "--reason", "Not like this.");
    await untilIdle(project);
    assert.match(project.record("shop").blocked?.reason ?? "", /^Rejected by .*: Not like this\.$/);
    await succeeds(project, "unblock", "shop");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["rejected", "open"]);
    project.remove();
  });

  it(
    "makes room for the gate of its plan if that is edited while the change is about to be shown",
    thorough,
    async () => {
      const project = await waitingAtGate(["make one"], { gates: { pr: true } });
      await succeeds(project, "approve", "shop");
      await killed(project, "pr-gate:opened", "start", "--until-idle");
      const edited = join(project.home, "edited.md");
      writeFileSync(edited, project.planText("shop").replace("- [x] make one", "$&\n- [ ] make two"));
      await succeeds(project, "edit", "shop", "--file", edited);
      await untilIdle(project);
      await succeeds(project, "approve", "shop");
      await untilIdle(project);
      const { gates, phase } = await showPlan(project);
      assert.deepEqual(
        gates.map(({ kind, state }) => `${kind} ${state}`),
        ["plan approved", "plan approved", "pr revised", "pr open"],
      );
      assert.deepEqual([phase, project.commits("shop").length], ["pr_gate", 2]);
      project.remove();
    },
  );

  it("is answered also if its plan waited for an answer when that was switched off", thorough, async () => {
    const project = await waitingAtGate(["make one"], { gates: { pr: true } });
    project.config({ gates: { pr: true, advisory: true } });
    await untilIdle(project);
    assert.match(
      await succeeds(project, "approve", "shop"),
      /its change is marked ready, and then `prloom merge` merges it/,
    );
    await untilIdle(project);
    assert.equal(project.record("shop").status, "review");
    assert.deepEqual(await gateStates(project), ["revised", "approved"]);
    project.remove();
  });

  it("is taken back before it is merged: then it is not", thorough, async () => {
    const project = await atPrGate();
    await succeeds(project, "approve", "shop");
    await untilIdle(project);
    await succeeds(project, "comment", "shop", "/withdraw Wait.");
    await untilIdle(project);
    assert.deepEqual(await gateStates(project), ["withdrawn", "open"]);
    assert.equal(project.record("shop").status, "active");
    await refused(project, /waits for an answer/, "merge", "shop");
    project.remove();
  });

  it("is not merged by a plugin either, and the author of the comment is told why", thorough, async () => {
    const project = makeProject({ config: { gates: { pr: true, advisory: true } } });
    const code = `export default () => ({ onEvent(event, ctx) {
      if (event.body === "/merge") { ctx.markEventHandled(); ctx.emitMerge(event.replyTo, "merge"); }
    } });`;
    writeFileSync(join(project.root, "prloom", "merger.mjs"), code);
    project.config({ plugins: { merger: { module: "./prloom/merger.mjs" } } });
    project.plan("shop", ["make one"]);
    await untilIdle(project);
    await succeeds(project, "comment", "shop", "/merge");
    await untilIdle(project);
    assert.equal(project.record("shop").status, "active");
    assert.match(await lastPost(project), /waits for an answer \(gate \w+\)/);
    await succeeds(project, "approve", "shop");
    await untilIdle(project);
    await succeeds(project, "comment", "shop", "/merge");
    await untilIdle(project);
    assert.equal(project.record("shop").outcome, "merged");
    project.remove();
  });

  it("is not merged in the moment in which its approval was withdrawn", thorough, async () => {
    const project = await atPrGate();
    await succeeds(project, "approve", "shop");
    await untilIdle(project);
    await succeeds(project, "withdraw", "shop");
    await refused(project, /its approval was withdrawn/, "merge", "shop", "--force");
    project.remove();
  });

  it("comes after the gate of its plan, and each has its own answer", thorough, async () => {
    const project = await atPrGate(["make one"], { plan: true });
    assert.equal(project.record("shop").runs, 0);
    await succeeds(project, "approve", "shop");
    await untilIdle(project);
    const { gates } = await showPlan(project);
    assert.deepEqual(
      gates.map(({ kind, state }) => [kind, state]),
      [
        ["plan", "approved"],
        ["pr", "open"],
      ],
    );
    await succeeds(project, "comment", "shop", "approved");
    await untilIdle(project);
    assert.match(await lastPost(project), /To approve, write `\/approve \w+`/);
    await succeeds(project, "comment", "shop", `/approve ${gates[1]?.gateId}`);
    await untilIdle(project);
    assert.equal(project.record("shop").status, "review");
    project.remove();
  });

  it("may be switched on by a plan and a preset", thorough, async () => {
    const project = await atPrGate(["make one"], { pr: false });
    assert.equal(project.record("shop").status, "review");
    project.config({ presets: { careful: { gates: { pr: true } } } });
    project.plan("asks", ["make one"], { status: "queued", metadata: { gates: { pr: true } } });
    project.plan("preset", ["make one"], { status: "queued", metadata: { preset: "careful" } });
    await untilIdle(project);
    for (const id of ["asks", "preset"]) assert.deepEqual(await gateStates(project, id), ["open"], id);
    assert.equal(project.record("shop").status, "review");
    project.remove();
  });

  it("shows no part of a diff that is too long as if it were all", thorough, async () => {
    const project = await atPrGate();
    commitByHand(project, "small.txt");
    writeFileSync(join(project.worktree("shop"), "long.txt"), "0123456789\n".repeat(20_000));
    project.git("-C", project.worktree("shop"), "add", "long.txt");
    commitByHand(project, "another.txt");
    await untilIdle(project);
    const post = await lastPost(project);
    assert.match(
      post,
      /4 files changed\. The diff has \d+ KB, which is too long to be posted; `git diff \w+ \w+` shows/,
    );
    assert.match(post, /long\.txt \+20000 -0/);
    assert.ok(!post.includes("0123456789"));
    project.remove();
  });
});

/** Each effect from the gate to the ready change request; `finish:ready` is after the approval. */
const KILLS = ["pr-gate:opened", "gate:written", "gate:told", "gate:decided", "finish:ready"];

describe("a change at its gate that is killed", { concurrency: 2 }, () => {
  for (const point of KILLS)
    it(`at ${point}: one post, one notice, one answer, one ready change request`, thorough, async () => {
      const isAnswered = point === "gate:decided" || point === "finish:ready";
      const project = await atPrGate(["make one"], { pr: isAnswered });
      if (!isAnswered) {
        project.config({ gates: { pr: true, advisory: true } });
        await killed(project, point, "start", "--until-idle");
        await untilIdle(project);
      }
      if (point === "gate:decided") await killed(project, point, "approve", "shop");
      else await succeeds(project, "approve", "shop");
      if (point === "finish:ready") await killed(project, point, "start", "--until-idle");
      await untilIdle(project);
      const { gates, thread } = await showPlan(project);
      assert.deepEqual(
        gates.map(({ state, told }) => [state, told]),
        [["approved", "approved"]],
      );
      assert.equal(thread.filter(({ body }) => body.startsWith("**The change waits")).length, 1);
      assert.equal(thread.filter(({ body }) => body.startsWith("approved by")).length, 1);
      assert.deepEqual([project.record("shop").status, project.record("shop").changeRequest?.ready], ["review", true]);
      const events = readFileSync(join(project.authority, "bus", "events.jsonl"), "utf8").split("\n");
      for (const type of ["gate_opened", "gate_decided"])
        assert.equal(events.filter((line) => line.includes(`"${type}"`)).length, 1, type);
      project.remove();
    });
});
