import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { type GatedProject, makeGatedProject } from "../../testing/gated.ts";
import { projectMaker, succeeds } from "../../testing/projects.ts";
import { oneOf } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";

describe("what narrows what a run may do ends it, and that is no attempt:", { concurrency: 2 }, () => {
  const fresh = projectMaker();
  const gated = (): GatedProject => makeGatedProject({ config: { limits: { attemptsPerTodo: 1 } } }, fresh);

  test("pause --now, until resume", async () => {
    const { project, open, halfWay } = gated();
    project.plan("cut", ["[waits] one"]);
    const daemon = await startDaemon(project);
    await halfWay(daemon, "cut");
    assert.match(await succeeds(project, "pause", "cut", "--now"), /is paused, and nothing of it is at work any more/);
    assert.deepEqual(
      project.processes().filter((line) => line.includes("test-agent")),
      [],
    );
    const { current, paused } = project.record("cut");
    assert.deepEqual([paused, current?.attempt, current?.stage], [true, 1, "running"]);
    open("cut");
    await succeeds(project, "resume", "cut");
    await daemon.said("cut", /in review/);
    await daemon.end("SIGTERM");
    assert.deepEqual(project.commits("cut"), ["[waits] one"]);
    assert.equal(project.git("show", "prloom/cut:half.txt"), "half of [waits] one\n");
  });

  test("pause --now during a check, which begins again after resume only", thorough, async () => {
    const { project } = gated();
    const [begun, go] = ["begun.log", "go"].map((name) => join(project.root, "..", name));
    project.config({ checks: [`echo x >> ${begun}; until test -e ${go}; do sleep 0.1; done`] });
    project.plan("cut", ["one"]);
    const daemon = await startDaemon(project);
    await appears(begun ?? "");
    assert.match(await succeeds(project, "pause", "cut", "--now"), /nothing of it is at work any more/);
    const { current } = project.record("cut");
    assert.deepEqual([current?.stage, current?.attempt, project.commits("cut")], ["running", 1, []]);
    assert.equal(readFileSync(begun ?? "", "utf8"), "x\n");
    writeFileSync(go ?? "", "");
    await succeeds(project, "resume", "cut");
    await daemon.said("cut", /in review/);
    await daemon.end("SIGTERM");
    assert.deepEqual(project.commits("cut"), ["one"]);
  });

  test("pause without it lets the agent end", thorough, async () => {
    const { project, open, halfWay } = gated();
    project.plan("cut", ["[waits] one", "two"]);
    const daemon = await startDaemon(project);
    await halfWay(daemon, "cut");
    assert.match(await succeeds(project, "pause", "cut"), /cut is paused\n$/);
    open("cut");
    await daemon.said("cut", /committed/);
    await daemon.end("SIGTERM");
    assert.equal(project.record("cut").runs, 1);
  });

  test("an edit that gives its TODO other paths, and one that takes the TODO away", async () => {
    for (const [id, change] of oneOf([
      ["paths", (text: string) => text.replace("one\n", "one\n  paths: work.txt half.txt\n")],
      ["gone", (text: string) => text.replace("- [ ] [waits] one\n", "- [ ] two\n")],
    ] as const)) {
      const { project, open, halfWay } = gated();
      project.plan(id, ["[waits] one"]);
      const daemon = await startDaemon(project);
      await halfWay(daemon, id);
      const file = join(project.home, "plan.md");
      writeFileSync(file, change(project.planText(id)));
      await succeeds(project, "edit", id, "--file", file);
      await daemon.said(id, /ending its agent: its TODO changed/);
      open(id);
      await daemon.said(id, /in review/);
      await daemon.end("SIGTERM");
      assert.equal(project.record(id).status, "review");
      const words = id === "gone" ? "two\n" : "[waits] one\n";
      assert.equal(project.git("show", `prloom/${id}:work.txt`), words, readFileSync(file, "utf8"));
    }
  });

  test("an edit that takes the TODO away while its run is being prepared", thorough, async () => {
    const project = fresh({ sandbox: "auto" });
    project.plan("gone", ["one"]);
    const daemon = await startDaemon(project);
    const { socket } = JSON.parse(readFileSync(join(project.authority, "daemon.json"), "utf8"));
    // No command line is quick enough.
    const control = connect(socket);
    await once(control, "connect");
    await daemon.said("gone", /TODO 1: one/);
    const args = { plan: "gone", text: project.planText("gone").replace("- [ ] one", "- [ ] two") };
    control.write(`${JSON.stringify({ command: "edit", args })}\n`);
    await once(control, "data");
    control.destroy();
    await daemon.said("gone", /in review/);
    const { stdout } = await daemon.end("SIGTERM");
    assert.doesNotMatch(stdout, /while the agent worked/);
    assert.deepEqual(project.commits("gone"), ["two"]);
  });
});
