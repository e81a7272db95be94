import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { callOwner } from "../../src/dispatcher/owner.ts";
import { appears } from "../testing/agent-scripts.ts";
import { type Daemon, startDaemon } from "../testing/daemon.ts";
import { makeProject, type Project, type ProjectOptions, TEST_AGENT } from "../testing/project.ts";

const projects: Project[] = [];
after(() => {
  for (const project of projects) project.remove();
});

function fresh(options: ProjectOptions = {}): Project {
  const project = makeProject({ ...options, config: { limits: { attemptsPerTodo: 1 }, ...options.config } });
  projects.push(project);
  return project;
}

function write(project: Project, path: string, text: string): void {
  mkdirSync(dirname(join(project.root, path)), { recursive: true });
  writeFileSync(join(project.root, path), text, { mode: 0o755 });
}

function commit(project: Project, message: string): void {
  project.git("add", "-A");
  project.git("-c", "user.name=Person", "-c", "user.email=person@localhost", "commit", "-qm", message);
}

/** A branch with something else on it; main is checked out again afterwards. */
function branch(project: Project, name: string, change: () => void): void {
  project.git("checkout", "-q", "-b", name);
  change();
  commit(project, name);
  project.git("checkout", "-q", "main");
}

const settled = async (daemon: Daemon, plan: string): Promise<string> =>
  (await daemon.said(plan, /in review|blocked:/)).text;

/** What another branch does, and what must not come of it while a dispatcher runs. */
describe("a checkout changes nothing for a dispatcher that runs", () => {
  test("one without checks: broken work is still refused, and the change is told", async () => {
    const project = fresh({ config: { checks: ["! grep broken work.txt"] } });
    branch(project, "careless", () => project.config({ checks: [] }));
    const daemon = await startDaemon(project);
    project.git("checkout", "-q", "careless");
    const told = await daemon.said(undefined, /differs from what the dispatcher works with/);
    assert.match(told.text, /checks: \["! grep broken work\.txt"\] → \[\]\. `prloom reload` takes it over/);
    project.plan("bad", ["broken"]);
    assert.match(await settled(daemon, "bad"), /blocked:/);
    assert.deepEqual(project.commits("bad"), []);
    const { pinned } = await project.status();
    assert.deepEqual(
      pinned?.changes.map(({ key, loosens }) => [key, loosens]),
      [["checks", true]],
    );
    assert.match((await project.cli(["status"])).stdout, /^config: what is checked out differs .*checks/m);
    project.git("checkout", "-q", "main");
    await daemon.said(undefined, /again what the dispatcher works with/);
    await daemon.end();
  });

  test("a stranger's command without a sandbox is not run, and work starts from the branch of the start", async () => {
    const project = fresh();
    const marker = join(project.home, "owned");
    branch(project, "stranger", () => {
      const evil = { command: "sh", args: ["-c", `touch ${marker}`], sandbox: "none" };
      project.config({ agents: { test: evil }, initCommands: [`touch ${marker}`], checks: [`touch ${marker}`] });
      write(project, "src/a.txt", "evil\n");
    });
    const daemon = await startDaemon(project);
    project.git("checkout", "-q", "stranger");
    await daemon.said(undefined, /differs from what the dispatcher works with/);
    project.plan("good", ["one"]);
    assert.match(await settled(daemon, "good"), /in review/);
    assert(!existsSync(marker));
    assert.equal(project.record("good").baseBranch, "main");
    assert.equal(project.git("show", "prloom/good:src/a.txt"), "a\n");
    // Nor by a command that a person types meanwhile and after it.
    await daemon.end();
    assert.equal((await project.cli(["status"])).code, 0);
    assert.equal((await project.cli(["merge", "good"])).code, 0);
    assert(!existsSync(marker));
  });

  test("other prompts are not used", async () => {
    const project = fresh();
    write(project, "prloom/prompts/worker.md", "PINNED {{todo}} {{planFile}}");
    commit(project, "A prompt");
    branch(project, "other", () => write(project, "prloom/prompts/worker.md", "EVIL {{todo}}"));
    const daemon = await startDaemon(project);
    project.git("checkout", "-q", "other");
    await daemon.said(undefined, /prloom\/prompts\/worker\.md/);
    project.plan("good", ["one"]);
    assert.match(await settled(daemon, "good"), /in review/);
    assert.match(project.runFile("good", 1, "prompt.md"), /^PINNED one/);
    await daemon.end();
  });

  test("a module runs as it was loaded, one that it imports later as it was, and one that nobody named not at all", async () => {
    const project = fresh({ config: { plugins: { pen: { module: "./prloom/plugins/pen.mjs" } } } });
    const notes = join(project.home, "notes");
    const pen = (word: string) => `
      import { appendFileSync } from "node:fs";
      import { base } from "./base.mjs";
      export default () => ({
        async beforeTodo() {
          const { late } = await import("./late.mjs");
          const other = await import("./" + ["un", "named"].join("") + ".mjs").then((m) => m.word, (e) => e.message);
          appendFileSync(${JSON.stringify(notes)}, "${word} " + base + " " + late + " " + other + "\\n");
        },
      });`;
    const files = (word: string) => {
      write(project, "prloom/plugins/pen.mjs", pen(word));
      write(project, "prloom/plugins/base.mjs", `export const base = "${word}";`);
      write(project, "prloom/plugins/late.mjs", `import { deep } from "./deep.mjs"; export const late = deep;`);
      write(project, "prloom/plugins/deep.mjs", `export const deep = "${word}";`);
      write(project, "prloom/plugins/unnamed.mjs", `export const word = "${word}";`);
    };
    files("mine");
    commit(project, "A plugin");
    branch(project, "other", () => files("evil"));
    const daemon = await startDaemon(project);
    project.git("checkout", "-q", "other");
    const told = await daemon.said(undefined, /prloom\/plugins\/pen\.mjs/);
    assert.match(told.text, /`prloom stop`, then `prloom start`, takes it over/);
    project.plan("good", ["one"]);
    assert.match(await settled(daemon, "good"), /in review/);
    const [line = ""] = readFileSync(notes, "utf8").split("\n");
    assert.match(line, /^mine mine mine \S*unnamed\.mjs changed after the dispatcher was started\. `prloom stop`/);
    const refused = await project.cli(["reload", "--yes"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /\[reload-refused\]\n {2}hint: `prloom stop`, then `prloom start`/);
    // To look after one's things on the stranger's branch runs nothing of it either.
    const before = readFileSync(notes, "utf8");
    await daemon.end();
    write(
      project,
      "prloom/plugins/pen.mjs",
      `import { appendFileSync } from "node:fs"; appendFileSync("${notes}", "!");`,
    );
    assert.match((await project.cli(["doctor"])).stdout, /another branch than at the last start is checked out/);
    assert.equal((await project.cli(["poll"])).code, 1);
    assert.equal(readFileSync(notes, "utf8"), before);
  });

  test("a plan that comes with a branch is not worked on", async () => {
    const project = fresh();
    branch(project, "gift", () => {
      project.plan("gift", ["do as I say"]);
      project.git("add", "-f", "prloom/.local/inbox");
    });
    const daemon = await startDaemon(project);
    project.git("checkout", "-q", "gift");
    assert.match(await settled(daemon, "gift"), /blocked: .*part of the branch that is checked out/);
    assert.equal(project.record("gift").runs, 0);
    project.plan("own", ["one"]);
    assert.match(await settled(daemon, "own"), /in review/);
    await daemon.end();
  });

  test("a program of the checkout is run only as it was", async () => {
    const project = fresh();
    const marker = join(project.home, "owned");
    const tool = join(project.root, "tools", "agent.sh");
    write(project, "tools/agent.sh", `#!/bin/sh\nexec "${process.execPath}" "${TEST_AGENT}"\n`);
    project.config({ agents: { test: { command: tool, sandbox: "none" } } });
    commit(project, "A tool");
    branch(project, "other", () => write(project, "tools/agent.sh", `#!/bin/sh\ntouch ${marker}\n`));
    const daemon = await startDaemon(project);
    project.git("checkout", "-q", "other");
    await daemon.said(undefined, /tools\/agent\.sh/);
    project.plan("good", ["one"]);
    await daemon.said("good", /tools\/agent\.sh is not what it was when the dispatcher was started/);
    project.git("checkout", "-q", "main");
    assert.match(await settled(daemon, "good"), /in review/);
    assert(!existsSync(marker));
    await daemon.end();
  });
});

describe("prloom reload", () => {
  test("takes over what tightens without a question, and what loosens with --yes", async () => {
    const project = fresh({ config: { checks: ["true"] } });
    const daemon = await startDaemon(project);
    project.config({
      checks: ["true", "! grep broken work.txt"],
      limits: { attemptsPerTodo: 1, stopGrace: "200ms", maxOpenPlans: 2 },
    });
    const tightened = await project.cli(["reload"]);
    assert.equal(tightened.code, 0, tightened.stderr);
    assert.match(
      tightened.stdout,
      /checks .*\nlimits\.maxOpenPlans +20 +2\b[\s\S]*The dispatcher works with this from now on/,
    );
    project.plan("bad", ["broken"]);
    assert.match(await settled(daemon, "bad"), /blocked:/);

    project.config({ checks: [] });
    const refused = await project.cli(["reload"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /checks less: checks\. \[reload-refused\]\n {2}hint: .*prloom reload --yes/);
    project.plan("worse", ["broken"]);
    assert.match(await settled(daemon, "worse"), /blocked:/, "nothing was taken over");

    const taken = JSON.parse((await project.cli(["reload", "--yes", "--json"])).stdout);
    assert.deepEqual([taken.taken, taken.running, taken.changes.length], [true, true, 1]);
    project.plan("fine", ["broken"]);
    assert.match(await settled(daemon, "fine"), /in review/);
    assert.match((await project.cli(["reload"])).stdout, /^Nothing changes/);
    await daemon.end();
  });

  test("takes over only what was shown", async () => {
    const project = fresh({ config: { checks: ["true"] } });
    const daemon = await startDaemon(project);
    project.config({ review: "off", limits: { attemptsPerTodo: 1, stopGrace: "200ms", maxOpenPlans: 2 } });
    const { digest } = (await callOwner(project.root, "reload", {})) as { digest: string };
    project.config({ checks: [] });
    await assert.rejects(callOwner(project.root, "reload", { digest }), { code: "reload-stale" });
    const { pinned } = await project.status();
    assert(
      pinned?.changes.some(({ key }) => key === "checks"),
      "the old one is in force",
    );
    await daemon.end();
  });

  test("without a dispatcher changes what commands work with; before the first start there is nothing to reload", async () => {
    const project = fresh();
    const early = await project.cli(["reload"]);
    assert.match(early.stderr, /\[reload-refused\]\n {2}hint: `prloom start`/);
    await project.work();
    project.config({ limits: { attemptsPerTodo: 1, stopGrace: "200ms", maxOpenPlans: 1 } });
    assert.match((await project.cli(["reload"])).stdout, /Taken over; no dispatcher is running/);
    assert.deepEqual((await project.status()).pinned?.changes, []);
  });
});

test("a start says what the last one did not permit, and where the branch differs from the base branch", async () => {
  const project = fresh({ config: { checks: ["true"] } });
  assert.equal((await project.work()).stderr, "");
  branch(project, "other", () => {
    project.config({ checks: [] });
    write(project, "prloom/prompts/worker.md", "Do {{todo}}");
  });
  project.git("checkout", "-q", "other");
  const { stderr } = await project.work();
  assert.match(
    stderr,
    /^warning: this start permits what the last one did not, or checks less: .*checks: \["true"\] → \[\]/m,
  );
  const differs =
    /^warning: you are on other, .* not what main has: checks: \["true"\] → \[\]; prloom\/prompts\/worker\.md$/m;
  assert.match(stderr, differs);
  const detached = await project.cli(["start", "--detach"]);
  assert.match(detached.stderr, differs);
  assert.equal((await project.cli(["stop"])).code, 0);
  assert.equal(JSON.parse(readFileSync(join(project.authority, "pinned.json"), "utf8")).branch, "other");
});

for (const [what, spoil] of [
  ["broken", (file: string) => writeFileSync(file, "{ nonsense")],
  ["missing", (file: string) => rmSync(file)],
] as const) {
  test(`a config that is ${what} keeps nobody from reading, pausing and stopping`, async () => {
    const project = fresh();
    const file = join(project.root, "prloom", "config.json");
    const good = readFileSync(file);
    project.plan("one", ["[hang] one"]);
    spoil(file);
    const works = async (...args: string[]) => {
      const { code, stderr } = await project.cli(args);
      assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
    };
    const all = async () => {
      for (const name of ["show", "events", "pause", "resume", "hide", "unhide"]) await works(name, "one");
      await works("comment", "one", "words");
      await works("block", "one", "because");
      const { stdout, code } = await project.cli(["status"]);
      assert.equal(code, 0);
      assert.match(stdout, /^problem: prloom\/config\.json: .*(mistake|There is no prloom\/config\.json)/m);
      assert.match((await project.cli(["doctor"])).stdout, /config\.json/);
      assert.equal((await project.cli(["start", "--until-idle"])).code, 1);
      await works("stop");
    };
    // Before the first start there is no pin to work with.
    await all();
    writeFileSync(file, good);
    await project.cli(["unblock", "one"]);
    const daemon = await startDaemon(project);
    await daemon.said("one", /worker started/);
    spoil(file);
    await daemon.said(undefined, /config\.json changed and is not used/);
    await works("pause", "one");
    await works("logs", "one");
    assert.equal((await project.cli(["reload", "--yes"])).code, 1);
    await works("stop");
    await daemon.ended;
    await all();
  });
}

test("a kill around the pin leaves the old one or the new one, whole", async () => {
  const project = fresh({ config: { checks: ["true"] } });
  const pinFile = join(project.authority, "pinned.json");
  assert.equal((await project.work({ PRLOOM_CRASH_AT: "pin:before" })).signal, "SIGKILL");
  assert(!existsSync(pinFile));
  await project.work();
  const first = readFileSync(pinFile, "utf8");
  project.config({ checks: [] });
  assert.equal((await project.work({ PRLOOM_CRASH_AT: "pin:before" })).signal, "SIGKILL");
  assert.equal(readFileSync(pinFile, "utf8"), first);
  assert.equal((await project.work({ PRLOOM_CRASH_AT: "pin:after" })).signal, "SIGKILL");
  assert.notEqual(readFileSync(pinFile, "utf8"), first);
  assert.deepEqual((await project.status()).pinned?.changes, []);
  writeFileSync(pinFile, first.replace("true", "evil"));
  const { problems } = await project.status();
  assert.match(problems[0]?.reason ?? "", /pinned\.json cannot be used/, "one that was changed is not used");
  assert.equal((await project.work()).code, 0, "a start makes it anew");
  await appears(pinFile);
  assert.deepEqual((await project.status()).problems, []);
});
