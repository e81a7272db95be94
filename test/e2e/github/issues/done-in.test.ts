import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeProject } from "../../../testing/project.ts";
import { thorough } from "../../../testing/thorough.ts";
import { publishingProject } from "../publishing-project.ts";

const MARKER = /\n\n<!-- prloom \S+ -->$/;

describe("a TODO that was asked for in a thread", { concurrency: 2 }, () => {
  it("is told there with its commit once that is published", thorough, async (t) => {
    const { project, pulls, work, ada, github, there } = await publishingProject(t, {
      bus: { retryMin: "20s", retryMax: "30s" },
    });
    project.plan("dark", ["make one"]);
    await work();
    const [pull] = pulls();
    assert(pull?.pull);
    // Comments before the first look at a pull request are not heard.
    await work();
    ada.comments(pull.number, "please make two");
    github.server.faults.add({ kind: "cut-before", on: /POST .*git-receive-pack/, times: 100 });
    await work();
    const told = () =>
      pull.comments.map(({ body }) => body.replace(MARKER, "")).filter((body) => body.startsWith("Done in"));
    const head = project.git("rev-parse", "prloom/dark").trim();
    assert.equal(project.record("dark").doneFor?.length, 1);
    assert.notEqual(there("prloom/dark"), head);
    assert.deepEqual(told(), [], "it is not there yet");
    github.server.faults.clear();
    await work();
    assert.equal(there("prloom/dark"), head);
    assert.deepEqual(told(), [`Done in ${head.slice(0, 12)}.`]);
    await work();
    assert.equal(told().length, 1);
    assert.deepEqual(project.record("dark").doneFor, []);
  });

  it("is told although the plan is done by then: a kill may come before the words", thorough, async (t) => {
    const project = makeProject();
    t.after(() => project.remove());
    project.plan("dark", ["make one"]);
    await project.work();
    const head = project.git("rev-parse", "prloom/dark").trim();
    assert.equal((await project.cli(["merge", "dark"])).code, 0);
    const [, todoId] = project.git("log", "-1", "--format=%(trailers:key=Prloom-Step,valueonly)", head).split("/");
    const record = project.record("dark");
    const doneFor = [{ todoId, attempt: 1, to: [{ target: "local", token: "dark" }] }];
    const file = join(project.authority, "plans", "dark", "state.json");
    writeFileSync(file, JSON.stringify({ ...record, doneFor }));
    await project.work();
    const { stdout } = await project.cli(["show", "dark"]);
    assert.equal(stdout.split(`Done in ${head.slice(0, 12)}.`).length, 2, stdout);
    assert.deepEqual(project.record("dark").doneFor, []);
  });

  it("is told in the local thread, once, also after a kill", thorough, async (t) => {
    const project = makeProject();
    t.after(() => project.remove());
    project.plan("dark", ["make one"]);
    await project.work();
    await project.cli(["comment", "dark", "please make two"]);
    await project.work({ PRLOOM_CRASH_AT: "done:told" });
    await project.work();
    const head = project.git("rev-parse", "prloom/dark").trim();
    const { stdout } = await project.cli(["show", "dark"]);
    assert.equal(stdout.split(`Done in ${head.slice(0, 12)}.`).length, 2, stdout);
  });
});
