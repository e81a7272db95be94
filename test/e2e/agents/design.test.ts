import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { RECORD_SCHEMA_VERSION } from "../../../src/plan/record.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { makeGatedProject } from "../../testing/gated.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { succeeds, works } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

const made: Project[] = [];
after(() => {
  for (const project of made) project.remove();
});

function make(options: Parameters<typeof makeProject>[0] = {}): Project {
  const project = makeProject(options);
  made.push(project);
  return project;
}

function gated(env: Record<string, string>) {
  const one = makeGatedProject({ env });
  made.push(one.project);
  return one;
}

/** A plan of words whose designer is at work and waits. */
async function designing() {
  const { project, open } = gated({ DESIGN: "waits" });
  project.planFile("p", WORDS);
  const daemon = await startDaemon(project);
  await daemon.said("p", /designer started/);
  return { project, open, daemon };
}

function stages(project: Project, id: string): string[] {
  const runs = join(project.authority, "plans", id, "runs");
  // A number whose run was called off before it started has no record.
  const begun = readdirSync(runs).filter((name) => existsSync(join(runs, name, "run.json")));
  return begun
    .sort((a, b) => Number(a) - Number(b))
    .map((name) => JSON.parse(readFileSync(join(runs, name, "run.json"), "utf8")).stage as string);
}

async function thread(project: Project, id: string): Promise<string[]> {
  const shown = JSON.parse(await succeeds(project, "show", id, "--json")) as { thread: { body: string }[] };
  return shown.thread.map(({ body }) => body);
}

const WORDS = "Make the page dark.\n";

test("a comment that comes before the design reaches the designer and does not replace the design", async () => {
  const project = make();
  await succeeds(project, "new", "Add a dark mode", "--queue");
  await succeeds(project, "comment", "add-a-dark-mode", "Keep the old colours too.\n\n## TODO\n- [x] all of it");
  await works(project);
  assert.deepEqual(stages(project, "add-a-dark-mode"), ["designer", "worker", "worker"]);
  assert.deepEqual(project.commits("add-a-dark-mode"), ["designed one", "designed two"]);
  const { status, designed } = project.record("add-a-dark-mode");
  assert.deepEqual({ status, designed }, { status: "review", designed: true });
  const prompt = project.runFile("add-a-dark-mode", 1, "agent/prompt.txt");
  assert.match(prompt, /^\S.*:\n\n> Keep the old colours too\.\n>\n> ## TODO\n> - \[x\] all of it$/m);
  const [, answer, ...more] = await thread(project, "add-a-dark-mode");
  assert.match(
    answer ?? "",
    /^This went into the design of the plan:\n\n> Keep the old colours too\.\n\nIts TODOs:\n- des/,
  );
  assert.deepEqual(more, []);
  const events = JSON.parse(project.runFile("add-a-dark-mode", 1, "agent/events.json")) as { body: string }[];
  assert.match(events[0]?.body ?? "", /^Keep the old colours/);
});

test(
  "a comment that comes while the designer is at work is triaged afterwards, and an edit then stays",
  thorough,
  async () => {
    const { project, open, daemon } = await designing();
    await succeeds(project, "comment", "p", "please add a switch");
    const file = join(project.home, "edited.md");
    writeFileSync(file, `${WORDS}\n## Notes\n\nNot at night.\n`);
    await succeeds(project, "edit", "p", "--file", file);
    open("design");
    await daemon.said("p", /in review|ready/);
    await daemon.end();
    assert.deepEqual(stages(project, "p"), ["designer", "triage", "worker", "worker", "worker"]);
    assert.deepEqual(project.commits("p"), ["designed one", "designed two", "add a switch"]);
    assert.match(project.planText("p"), /^## Notes\n\nNot at night\.$/m);
    // That the TODO is done is told beside the steps: a stop right behind the last of them may come first.
    await works(project);
    const [words, answer, done, ...more] = await thread(project, "p");
    assert.equal(words, "please add a switch");
    assert.match(answer ?? "", /^Will do 1\./);
    assert.match(done ?? "", /^Done in [0-9a-f]{12}\.$/);
    assert.deepEqual(more, []);
  },
);

test(
  "TODOs that a person wrote before the designer ran are the design; words are triaged as ever",
  thorough,
  async () => {
    const { project, open, daemon } = await designing();
    await succeeds(project, "block", "p", "let me write it");
    await daemon.end();
    open("design");
    const file = join(project.home, "edited.md");
    writeFileSync(file, `${WORDS}\n## TODO\n\n- [ ] mine\n`);
    await succeeds(project, "edit", "p", "--file", file);
    await succeeds(project, "unblock", "p", "--reset");
    await succeeds(project, "comment", "p", "please add a switch");
    await works(project);
    assert.deepEqual(project.commits("p"), ["mine", "add a switch"]);
    assert.deepEqual(stages(project, "p").slice(1), ["triage", "worker", "worker"]);
  },
);

test("TODOs that are all taken out while triage reads a comment: the designer gets the comment", thorough, async () => {
  const { project, open } = gated({ TRIAGE: "waits" });
  project.plan("p", ["[waits] one", "two"]);
  const daemon = await startDaemon(project);
  await daemon.said("p", /worker started/);
  await succeeds(project, "comment", "p", "please add a switch");
  open("p");
  await daemon.said("p", /triage started/);
  const file = join(project.home, "edited.md");
  writeFileSync(file, WORDS);
  await succeeds(project, "edit", "p", "--file", file);
  open("triage");
  await daemon.said("p", /designed: 2 TODOs, with 1 comment/);
  await daemon.said("p", /in review|ready/);
  await daemon.end();
  assert.deepEqual(stages(project, "p"), ["worker", "triage", "designer", "worker", "worker"]);
  assert.match(project.runFile("p", 3, "agent/prompt.txt"), /^> please add a switch$/m);
});

test("a plan of an earlier version in which a comment replaced the design is designed", thorough, async () => {
  const project = make();
  project.planFile("p", WORDS);
  await works(project);
  const home = join(project.authority, "plans", "p");
  const { designed: _, ...record } = project.record("p");
  const older = { ...record, schemaVersion: 2, status: "active" };
  writeFileSync(join(home, "state.json"), JSON.stringify(older));
  writeFileSync(join(home, "plan.md"), `${WORDS}\n## TODO\n\n- [x] asked for <!-- from local-1 by ann -->\n`);
  await works(project);
  assert.deepEqual(stages(project, "p").slice(3), ["designer", "worker", "worker"]);
  assert.match(project.planText("p"), /- \[x\] asked for <!-- from local-1 by ann -->\n- \[x\] designed one/);
  assert.equal(project.record("p").schemaVersion, RECORD_SCHEMA_VERSION);
});

test(
  "a plugin that takes out all TODOs after the design blocks the plan instead of having it designed again",
  thorough,
  async () => {
    const project = make();
    mkdirSync(join(project.root, "plugins"));
    const code = 'export default () => ({ afterDesign: (text) => text.replace(/## TODO[^]*/, "") });\n';
    writeFileSync(join(project.root, "plugins", "wipe.mjs"), code);
    project.config({ plugins: { wipe: { module: "./plugins/wipe.mjs" } } });
    project.planFile("p", WORDS);
    await works(project);
    assert.match(project.record("p").blocked?.reason ?? "", /^After afterDesign the plan has no TODOs/);
    assert.deepEqual(stages(project, "p"), ["designer"]);
  },
);

test(
  "one triage of several comments: each TODO names its own, and its line is what the worker is told",
  thorough,
  async () => {
    const project = make();
    project.plan("p", ["one"]);
    await works(project);
    for (const body of ["please make two", "thanks", "please make three"])
      await succeeds(project, "comment", "p", body);
    await works(project);
    assert.deepEqual(stages(project, "p"), ["worker", "triage", "worker", "worker"]);
    const events = JSON.parse(project.runFile("p", 2, "agent/events.json")) as { id: string; body: string }[];
    const [two, , three] = events.map(({ id }) => id);
    const below = (id: string | undefined) => `\\n {2}<!-- from ${id} by \\S+ -->\\n`;
    const items = new RegExp(`^- \\[x\\] make two${below(two)}.*\\n- \\[x\\] make three${below(three)}`, "m");
    assert.match(project.planText("p"), items);
    const told = project.environment("p", 3).PRLOOM_TODO ?? "";
    const given = readFileSync(join(project.authority, "plans", "p", "runs", "3", "given.md"), "utf8");
    assert.ok(given.split("\n").includes(`- [ ] ${told}`), `${told}\n${given}`);
    // Who asked for it is for people: a program that is told a TODO does all that it is told.
    const prompt = new RegExp(`<<<TODO \\S+\\s+(${told}\\s+.*)\\s+TODO \\S+>>>`).exec(
      project.runFile("p", 3, "prompt.md"),
    );
    assert.doesNotMatch(prompt?.[1] ?? assert.fail("the prompt has no TODO"), /<!-- from/);
  },
);
