import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { callOwner } from "../../../src/dispatcher/commands/owner.ts";
import { appears } from "../../testing/agents/agent-scripts.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { oneOf } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";
import { branch, commit, fresh, settled, write } from "../fixtures/checkouts.ts";

describe("prloom reload", () => {
  test("applies what tightens without a question, and what loosens with --yes", async () => {
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
    assert.match(tightened.stdout, /^checks, on disk: \["true","! grep broken work\.txt"\]$/m, "whole, however narrow");
    project.plan("bad", ["broken"]);
    assert.match(await settled(daemon, "bad"), /blocked:/);

    project.config({ checks: [] });
    const refused = await project.cli(["reload"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /checks less: checks\. \[reload-refused\]\n {2}hint: .*prloom reload --yes/);
    project.plan("worse", ["broken"]);
    assert.match(await settled(daemon, "worse"), /blocked:/, "nothing was applied");

    const taken = JSON.parse((await project.cli(["reload", "--yes", "--json"])).stdout);
    assert.deepEqual([taken.taken, taken.running, taken.changes.length], [true, true, 1]);
    project.plan("fine", ["broken"]);
    assert.match(await settled(daemon, "fine"), /in review/);
    assert.match((await project.cli(["reload"])).stdout, /^Nothing changes/);
    // A command of its own reads what was taken over, and not what it meant before.
    assert.deepEqual((await project.status()).pinned?.changes, []);
    await daemon.end();
  });

  test("reads of the prompts only those that have a meaning, however many a branch brings", thorough, async () => {
    const project = fresh();
    branch(project, "flood", () => {
      write(project, "prloom/large", "a".repeat(1024 * 1024));
      write(project, "prloom/prompts/worker.md", "Do {{todo}}");
      for (let at = 0; at < 500; at += 1) symlinkSync("../large", join(project.root, `prloom/prompts/${at}.md`));
    });
    assert.equal((await project.work()).code, 0);
    project.git("checkout", "-q", "flood");
    const { pinned } = await project.status();
    assert.deepEqual(
      pinned?.changes.map(({ key }) => key),
      ["prloom/prompts/worker.md"],
    );
  });

  test("applies only what was shown", async () => {
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

  test("on a stranger's branch takes over what it shows, and no package that the branch brings", thorough, async () => {
    const project = fresh({ config: { plugins: { pen: { module: "./prloom/plugins/pen.mjs" } } } });
    const marker = join(project.home, "owned");
    write(project, "node_modules/pad/index.js", "");
    write(project, ".gitignore", "/node_modules\n");
    write(project, "prloom/plugins/pen.mjs", 'import "pad"; export default () => ({ async beforeTodo() {} });');
    commit(project, "A plugin");
    branch(project, "stranger", () => {
      write(project, "prloom/plugins/node_modules/pad/index.js", `require("node:fs").writeFileSync("${marker}", "");`);
      project.config({ limits: { attemptsPerTodo: 1, stopGrace: "200ms", runTimeout: "1m" } });
    });
    assert.equal((await project.work()).code, 0);
    project.git("checkout", "-q", "stranger");
    assert.equal((await project.cli(["reload"])).code, 0);
    assert.match((await project.cli(["doctor"])).stdout, /changed after the dispatcher was started/);
    assert.equal((await project.cli(["poll"])).code, 1);
    assert(!existsSync(marker));
  });

  test(
    "without a dispatcher changes what commands work with; before the first start there is nothing to reload",
    thorough,
    async () => {
      const project = fresh();
      const early = await project.cli(["reload"]);
      assert.match(early.stderr, /\[reload-refused\]\n {2}hint: `prloom start`/);
      await project.work();
      project.config({ limits: { attemptsPerTodo: 1, stopGrace: "200ms", maxOpenPlans: 1 } });
      assert.match((await project.cli(["reload"])).stdout, /Taken over; no dispatcher is running/);
      assert.deepEqual((await project.status()).pinned?.changes, []);
    },
  );
});

test("a start is not held up by a module of the branch that never ends", { timeout: 60_000 }, async () => {
  const project = fresh();
  branch(project, "endless", () => {
    project.config({ plugins: { endless: { module: "./prloom/endless.mjs" } } });
    symlinkSync("/proc/self/pagemap", join(project.root, "prloom/endless.mjs"));
  });
  project.git("checkout", "-q", "endless");
  const { stderr } = await project.cli(["start", "--until-idle"]);
  assert.match(stderr, /^warning: you are on endless, .*; prloom\/endless\.mjs\./m);
  assert.match(stderr, /pagemap is not a regular file\. \[plugin-invalid\]/);
});

test("a first start tells of a file that a plugin imports and the branch changed", thorough, async () => {
  const project = fresh({ config: { plugins: { p: { module: "./plug/p.ts" } } } });
  write(project, "plug/p.ts", 'import { hooks } from "./hooks.ts";\nexport default () => hooks;\n');
  write(project, "plug/hooks.ts", "export const hooks = { onEvent() {} };\n");
  commit(project, "a plugin");
  branch(project, "other", () => write(project, "plug/hooks.ts", "export const hooks = { onEvent: () => {} };\n"));
  project.git("checkout", "-q", "other");
  assert.match((await project.work()).stderr, /^warning: you are on other, .* not what main has: plug\/hooks\.ts\. /m);
});

test(
  "a start says what the last one did not permit, and where the branch differs from the base branch",
  thorough,
  async () => {
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
      /^warning: you are on other, .* not what main has: checks: \["true"\] → \[\]; prloom\/prompts\/worker\.md\. If you do not mean that: .*git checkout main/m;
    assert.match(stderr, differs);
    const detached = await project.cli(["start", "--detach"]);
    assert.match(detached.stderr, differs);
    assert.equal((await project.cli(["stop"])).code, 0);
    assert.equal(JSON.parse(readFileSync(join(project.authority, "pinned.json"), "utf8")).branch, "other");
  },
);

test("a poll tells of a bridge that is in the config and was not taken over yet", thorough, async () => {
  const project = fresh();
  await project.work();
  project.config({ globalBridges: { hub: { module: "./prloom/hub.ts" } } });
  const { stdout } = await project.cli(["poll"]);
  assert.match(stdout, /There is no bridge to poll.*\nconfig: .*globalBridges\.hub.*`prloom start` applies it/);
});

for (const [what, spoil] of oneOf([
  ["broken", (file: string) => writeFileSync(file, "{ nonsense")],
  ["missing", (file: string) => rmSync(file)],
] as const)) {
  test(`a config that is ${what} does not prevent reading, pausing and stopping`, thorough, async () => {
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

test("a kill around the pin leaves the old one or the new one, whole", thorough, async () => {
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
  assert.equal((await project.work()).code, 0, "a start makes a new one");
  await appears(pinFile);
  assert.deepEqual((await project.status()).problems, []);
});
