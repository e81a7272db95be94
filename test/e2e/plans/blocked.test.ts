import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { succeeds, untilIdle } from "../../testing/at-gate.ts";
import { makeProject, type Project } from "../../testing/project.ts";
import { thorough } from "../../testing/thorough.ts";

interface Told {
  readonly type: string;
  readonly severity: string;
  readonly context: { readonly planId: string; readonly reason: string; readonly hint?: string };
}

function told(project: Project): Told[] {
  const lines = readFileSync(join(project.authority, "bus", "events.jsonl"), "utf8").split("\n");
  const events = lines.filter((line) => line !== "").map((line) => (JSON.parse(line) as { data: Told }).data);
  return events.filter(({ type }) => type === "plan_blocked");
}

interface Notice {
  readonly type: string;
  readonly priority: string;
  readonly title: string;
  readonly message: string;
}

/** What people are told, on the bus of the repository or of a plan. */
function notices(project: Project, bus = join(project.authority, "bus")): Notice[] {
  const lines = readFileSync(join(bus, "actions.jsonl"), "utf8").split("\n");
  const actions = lines.filter((line) => line !== "").map((line) => JSON.parse(line).data.payload as Notice);
  return actions.filter(({ type }) => type === "notification");
}

test("a person is told of each run that the policy ended, and that the plan is blocked", async () => {
  const project = makeProject({
    config: { limits: { attemptsPerTodo: 2 }, notify: { channels: { here: { kind: "terminal" } } } },
  });
  // It leaves the note that its rules never were in force.
  const command = join(project.home, "opencode.sh");
  writeFileSync(command, "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  project.config({ agents: { test: { adapter: "opencode", command, sandbox: "none" } } });
  project.plan("shop", ["make one"]);
  const { signal } = await project.work({ PRLOOM_CRASH_AT: "verify:judged" });
  assert.equal(signal, "SIGKILL");
  const { stdout } = await project.work();
  const ended = notices(project, join(project.authority, "plans/shop/bus"));
  assert.deepEqual(
    ended.map(({ priority, title }) => [priority, title]),
    [
      ["warning", "The policy ended run 1 of shop"],
      ["warning", "The policy ended run 2 of shop"],
    ],
  );
  assert.match(ended[0]?.message ?? "", /did not load prloom's plugin[\s\S]*prloom logs shop/);
  assert.deepEqual(
    notices(project).map(({ title }) => title),
    ["Plan shop is blocked"],
  );
  assert.match(stdout, /The policy ended run 2 of shop/);
  assert.match(stdout, /Plan shop is blocked: TODO 1 failed after 2 attempts/);
  project.remove();
});

test("a plan that is blocked is an event with the reason, once each time, also over a kill", async () => {
  const project = makeProject({ config: { notify: { channels: { here: { kind: "terminal" } } } } });
  project.plan("shop", ["[say-blocked] make one"]);
  const { signal } = await project.work({ PRLOOM_CRASH_AT: "blocked:told" });
  assert.equal(signal, "SIGKILL");
  await untilIdle(project);
  await untilIdle(project);
  const [first, ...others] = told(project);
  const { blocked } = project.record("shop");
  assert.deepEqual(others, []);
  assert.equal(first?.severity, "warning");
  assert.deepEqual([first?.context.planId, first?.context.reason], ["shop", blocked?.reason]);
  await succeeds(project, "unblock", "shop");
  await succeeds(project, "block", "shop", "looks wrong");
  await untilIdle(project);
  assert.deepEqual(
    told(project).map(({ context }) => context.reason),
    [blocked?.reason, "looks wrong"],
  );
  const [notice, ...more] = notices(project);
  assert.deepEqual(
    [notice?.priority, notice?.title, more],
    ["action", "Plan shop is blocked", []],
    "not by the person",
  );
  assert.match(notice?.message ?? "", /prloom unblock shop/);
  project.remove();
});

test("a base branch that is not there is told once, with what to type, and found by doctor", thorough, async (t) => {
  const project = makeProject({ config: { baseBranch: "mian" } });
  t.after(() => project.remove());
  project.plan("shop", ["make one"]);
  const worked = await project.work();
  assert.equal([...worked.stdout.matchAll(/activate failed/g)].length, 1, worked.stdout);
  const { reason, hint } = project.record("shop").blocked ?? assert.fail("it is not blocked");
  assert.match(reason, /^The base branch mian does not exist\.$/);
  assert.match(hint ?? "", /Set `baseBranch` .*`prloom reload`\. Then `prloom unblock shop` tries again\./);
  const doctor = await project.cli(["doctor"]);
  assert.equal(doctor.code, 1);
  assert.match(doctor.stdout, /^✗ base branch: there is no branch mian\n {2}hint: Set `baseBranch`/m);
});

test("a plan that is blocked in a TODO is rebased in the way that the refusal names", thorough, async () => {
  const project = makeProject();
  project.plan("shop", ["[say-blocked] make one"]);
  await untilIdle(project);
  project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "A fix", "--allow-empty");
  writeFileSync(join(project.record("shop").worktree ?? "", "left"), "a part\n");
  const { stderr } = await project.cli(["rebase", "shop"]);
  assert.match(stderr, /^error: shop is blocked in the middle of a TODO\. \[plan-state\]$/m);
  const typed = [...stderr.matchAll(/`prloom ([^`]+)`/g)].map(([, line = ""]) => line);
  assert.deepEqual(typed, ["pause shop", "unblock shop --reset", "rebase shop", "resume shop"]);
  for (const line of typed) await succeeds(project, ...line.split(" "));
  assert.equal(project.git("rev-parse", "prloom/shop"), project.git("rev-parse", "main"));
  project.remove();
});

for (const { title, initCommand, file, fix } of [
  { title: "whose initCommand failed", initCommand: "sh setup.sh", file: "setup.sh", fix: "true\n" },
  {
    title: "in which initCommands left too many files",
    initCommand: "mkdir -p deps && cd deps && touch $(seq 1001)",
    file: ".gitignore",
    fix: "/prloom/.local/\n/deps/\n",
  },
]) {
  test(`a fix on the base reaches a plan ${title} with the command of the hint`, thorough, async () => {
    const project = makeProject({ config: { initCommands: [initCommand] } });
    project.plan("shop", ["make one"]);
    await untilIdle(project);
    writeFileSync(join(project.root, file), fix);
    project.git("add", file);
    project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "A fix");
    const command = /`git (-C [^`]+)`/.exec(project.record("shop").blocked?.hint ?? "")?.[1] ?? "";
    assert.match(command, /merge --ff-only main$/);
    project.git(...command.split(" "));
    await succeeds(project, "unblock", "shop");
    await untilIdle(project);
    assert.equal(project.record("shop").status, "review");
    assert.deepEqual(project.commits("shop"), ["make one"]);
    project.remove();
  });
}

test(
  "a script of an agent that was not committed is told of at the start, and reaches the plan in the way of the hint",
  thorough,
  async (t) => {
    const project = makeProject({ config: { limits: { attemptsPerTodo: 1 } } });
    t.after(() => project.remove());
    const script = `#!/bin/sh
if [ "$PRLOOM_STAGE" = designer ]; then printf '\\n## TODO\\n\\n- [ ] note\\n' >> "$PRLOOM_PLAN_FILE"; exit; fi
echo a > note && echo '{"outcome": "done"}' > "$PRLOOM_OUTCOME_FILE"
`;
    writeFileSync(join(project.root, "own.sh"), script, { mode: 0o755 });
    // One cannot be started, the other is a shell that finds no script.
    project.config({ agents: { test: { command: "./own.sh" }, shell: { command: "sh", args: ["own.sh"] } } });
    project.plan("shop", ["make one"]);
    project.plan("idea", []);
    project.plan("bank", ["make one"], { status: "queued", metadata: { agent: "shell" } });
    const { stderr } = await project.work();
    assert.match(stderr, /^warning: agent test: own\.sh is not in git, .* Commit it: git add own\.sh/m);
    project.git("add", "own.sh");
    project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "The agent");
    for (const id of ["shop", "idea", "bank"]) {
      const hint = project.record(id).blocked?.hint ?? "";
      assert.match(hint, /^own\.sh is not in the worktree of the plan.*`git add own\.sh && git commit`/);
      const typed = [...hint.matchAll(/`prloom ([^`]+)`/g)].slice(0, 2).map(([, line = ""]) => line);
      assert.deepEqual(typed, [`rebase ${id}`, `unblock ${id}`]);
      const [rebased] = [await succeeds(project, "rebase", id), await succeeds(project, "unblock", id)];
      assert.match(rebased, new RegExp(`^next: \`prloom unblock ${id}\` lets it go on\\.$`, "m"));
    }
    assert.doesNotMatch((await project.work()).stderr, /is not in git/);
    assert.deepEqual(
      ["shop", "idea", "bank"].map((id) => project.record(id).status),
      ["review", "review", "review"],
    );
  },
);

test("a rebase of a plan that could not begin tells what keeps it", thorough, async (t) => {
  const project = makeProject();
  t.after(() => project.remove());
  project.git("branch", "prloom/shop");
  project.plan("shop", ["make one"]);
  await untilIdle(project);
  const { stderr } = await project.cli(["rebase", "shop"]);
  assert.match(
    stderr,
    /^error: shop is queued: work on it has not begun\. .*\n {2}hint: Rename it .*prloom unblock shop/m,
  );
});
