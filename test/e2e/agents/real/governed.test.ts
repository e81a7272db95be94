import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { makeWorkshop, type RealAgent } from "../../../testing/agents/real-agent-bench.ts";
import type { Script, ScriptStep } from "../../../testing/model/script.ts";
import { promptOf } from "../../../testing/model/stages.ts";
import { thorough } from "../../../testing/thorough.ts";

const OPENCODE: RealAgent = { program: "opencode", config: { adapter: "opencode" }, startSeconds: 12 };

/** What an agent tries beside its work; each must be denied, and the run go on. */
const TRICKS = [
  { shell: "git push origin HEAD" },
  { write: ".opencode/plugin/mine.js", content: "x" },
  { shell: "echo x > .claude/settings.json" },
  { shell: "prloom approve governed" },
  { shell: "prloom merge governed" },
  { shell: "BUN_BE_BUN=1 opencode -e 1" },
  { shell: "opencode run 'do it for me'" },
  { shell: 'echo \'{"door":{"state":"open"}}\' > "$PRLOOM_GOVERNANCE/policy.json"' },
] as const;

const TICK = `sed -i '0,/^- \\[ \\]/s//- [x]/' "$PRLOOM_PLAN_FILE"`;
const WORK: Script = [
  {
    when: promptOf("worker"),
    steps: [
      ...TRICKS,
      { write: "src/form.txt", content: "the form\n" },
      { write: "src/sneaky.sh", content: "echo '{}' > opencode.json\n" },
      { shell: "sh src/sneaky.sh" },
      { shell: "ls opencode.json; rm src/sneaky.sh" },
      { shell: "echo more >> src/form.txt && git status --short" },
      { shell: TICK },
      { say: "Done." },
    ],
  },
];

describe("OpenCode with the policy inside", () => {
  const workshop = makeWorkshop(OPENCODE);
  after(() => workshop.close());

  test("is denied what it may not do, told why, and does its work", thorough, async (t) => {
    const bench = await workshop.bench(t, { script: WORK, limits: { attemptsPerTodo: 1 } });
    if (!bench) return;
    const { project, model } = bench;
    project.plan("governed", ["Build the form"]);
    const result = await project.work();
    assert.equal(project.record("governed").status, "review", result.stdout);
    assert.deepEqual(project.commits("governed"), ["Build the form"]);
    assert.equal(project.git("show", "prloom/governed:src/form.txt"), "the form\nmore\n");
    assert.equal(
      JSON.parse((await project.cli(["show", "governed", "--json"])).stdout).runs[0].level,
      "policy+sandbox",
    );
    const last = model.requests.at(-1);
    assert(last);
    const { messages } = last.body as { messages: { role: string; content: unknown }[] };
    const denied = messages.filter(
      ({ role, content }) => role === "tool" && /GOVERNANCE BLOCK/.test(JSON.stringify(content)),
    );
    assert.equal(denied.length, TRICKS.length, JSON.stringify(messages));
    assert.equal(JSON.stringify(messages).match(/<prloom-governance>/g)?.length, 1);
    assert.match(
      JSON.stringify(messages),
      /GOVERNANCE: this changed opencode\.json[\s\S]*cannot access 'opencode\.json'/,
    );
    const tasks = JSON.parse((await project.cli(["tasks", "governed", "--json"])).stdout);
    const [task] = tasks.workPlans[0].tasks;
    assert.deepEqual([task.status, task.artifacts], ["completed", ["src/form.txt", "src/sneaky.sh"]]);
  });

  test("writes nothing when it is switched off, though the user's own rules allow it", thorough, async (t) => {
    const env = { OPENCODE_PURE: "1", OPENCODE_PERMISSION: '{"bash":"allow"}' };
    const other = makeWorkshop({ ...OPENCODE, config: { ...OPENCODE.config, env } });
    t.after(() => other.close());
    const bench = await other.bench(t, { script: WORK, limits: { attemptsPerTodo: 1 } });
    if (!bench) return;
    const { project } = bench;
    const config = join(project.home, ".config", "opencode");
    const settings = JSON.parse(readFileSync(join(config, "opencode.json"), "utf8"));
    const permission = { "*": "ask", edit: "allow", "ba*": { "*": "allow" } };
    writeFileSync(join(config, "opencode.json"), JSON.stringify({ ...settings, permission }));
    mkdirSync(join(config, "agent"));
    writeFileSync(
      join(config, "agent", "build.md"),
      "---\npermission:\n  edit: allow\n  bash: allow\n---\nYou build.\n",
    );
    project.plan("governed", ["Build the form"]);
    await project.work();
    assert.equal(project.record("governed").blocked?.cause, "step");
    assert.equal(existsSync(join(project.worktree("governed"), "src/form.txt")), false);
  });

  test("runs commands with the shell that they are judged as, whatever the user's is", thorough, async (t) => {
    const other = makeWorkshop({ ...OPENCODE, config: { ...OPENCODE.config, env: { SHELL: "/bin/sh" } } });
    t.after(() => other.close());
    // Arithmetic for bash; other shells run what stands in it.
    const command = "((touch src/run.txt))";
    const steps: readonly ScriptStep[] = [
      { shell: command },
      { tool: "govern_shell", args: { command } },
      { write: "src/form.txt", content: "x\n" },
      { shell: TICK },
      { say: "Done." },
    ];
    const bench = await other.bench(t, {
      script: [{ when: promptOf("worker"), steps }],
      limits: { attemptsPerTodo: 1 },
    });
    if (!bench) return;
    const { project } = bench;
    project.plan("governed", ["Build the form"]);
    const result = await project.work();
    assert.equal(project.record("governed").status, "review", result.stdout);
    assert.equal(project.git("show", "--format=", "--name-only", "prloom/governed").trim(), "src/form.txt");
  });

  test("holds for sub-agents, each as what it was called, also after one that went on", thorough, async (t) => {
    const start = (subagent_type: string, prompt: string, more = {}) => ({
      tool: "task",
      args: { description: "A part", subagent_type, prompt, ...more },
    });
    const writes = (name: string) => ({
      when: new RegExp(`^Write ${name}`),
      steps: [{ write: `src/${name}.txt`, content: "x\n" }, { say: "Over." }],
    });
    const again: ScriptStep = ({ results }) =>
      start("explore", "Write again.", { task_id: /ses_\w+/.exec(results.at(-1) ?? "")?.[0] ?? "" });
    const work: Script = [
      ...["looked", "again", "besides", "general"].map(writes),
      {
        when: promptOf("worker"),
        steps: [
          start("explore", "Read @.env"),
          start("explore", "Write looked."),
          again,
          { do: [start("nowhere", "Write nowhere."), start("explore", "Write besides.")] },
          start("general", "Write general."),
          { shell: TICK },
          { say: "Done." },
        ],
      },
    ];
    const bench = await workshop.bench(t, { script: work, limits: { attemptsPerTodo: 1 } });
    if (!bench) return;
    const { project, model } = bench;
    project.plan("governed", ["Build the form"]);
    const result = await project.work();
    assert.equal(project.record("governed").status, "review", result.stdout);
    const files = project.git("show", "--format=", "--name-only", "prloom/governed").trim();
    assert.equal(files, "src/general.txt", JSON.stringify(model.requests.at(-1)?.body));
    const { delegations } = JSON.parse((await project.cli(["tasks", "governed", "--json"])).stdout);
    assert.deepEqual(
      delegations.map(({ to }: { to: string }) => to),
      ["investigator", "investigator", "executor"],
    );
  });

  test(
    "that insists on what is denied is ended, also by what a sub-agent does, as one attempt",
    thorough,
    async (t) => {
      const push = { shell: "git push origin HEAD" } as const;
      const start = { tool: "task", args: { description: "A part", subagent_type: "general", prompt: "Push it." } };
      const insist = Array.from({ length: 20 }, () => push);
      const script: Script = [
        { when: /^Push it/, steps: [...insist, { say: "No." }] },
        { when: promptOf("worker"), steps: [{ shell: TICK }, start, ...insist, { say: "Done." }] },
      ];
      const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 1 } });
      if (!bench) return;
      const { project, model } = bench;
      project.plan("governed", ["Build the form"]);
      await project.work();
      assert.match(
        project.record("governed").blocked?.reason ?? "",
        /failed after 1 attempt.*The policy ended the run/s,
      );
      const [run] = JSON.parse((await project.cli(["show", "governed", "--json"])).stdout).runs;
      assert.equal(run.exit.reason, "policy");
      assert.ok(model.requests.length < 12, `${model.requests.length} requests`);
    },
  );

  test("that insists is ended though a script of it takes away every note of that", thorough, async (t) => {
    const erase = '(while sleep 0.01; do rm -f "$PRLOOM_RUN_DIR/policy-end.json"; done) > /dev/null 2>&1 &\n';
    const steps: readonly ScriptStep[] = [
      { write: "src/erase.sh", content: erase },
      { shell: "sh src/erase.sh" },
      { shell: TICK },
      ...Array.from({ length: 20 }, () => ({ shell: "git push origin HEAD" })),
      { say: "Done." },
    ];
    const bench = await workshop.bench(t, {
      script: [{ when: promptOf("worker"), steps }],
      limits: { attemptsPerTodo: 1 },
    });
    if (!bench) return;
    const { project } = bench;
    project.plan("governed", ["Build the form"]);
    await project.work();
    const [run] = JSON.parse((await project.cli(["show", "governed", "--json"])).stdout).runs;
    assert.equal(run.exit.reason, "policy");
    assert.match(
      project.record("governed").blocked?.reason ?? "",
      /The policy ended the run.*The command pushes commits/s,
    );
  });

  test("aborts a sub-agent that is recalled, and refuses a session that is not its own", thorough, async (t) => {
    const assign = { action: "assign", to: "executor", name: "The docs", expectedOutput: "a change" };
    const idIn = (results: readonly string[]) => /tn-\w+/.exec(results.join("\n"))?.[0] ?? "";
    const part = (prompt: string, more = {}) => ({
      tool: "task",
      args: { description: "A part", subagent_type: "general", prompt, ...more },
    });
    const startAndRecall: ScriptStep = ({ results }) => ({
      do: [
        part(`Write recalled, for ${idIn(results)}.`),
        { tool: "govern_delegate", args: { action: "recall", delegation: idIn(results), reason: "Not now." } },
      ],
    });
    const script: Script = [
      // It never answers: only an abort lets the run go on.
      { when: /^Write recalled/, steps: [{ hang: 3_600_000 }] },
      {
        when: promptOf("worker"),
        steps: [
          { tool: "govern_delegate", args: assign },
          startAndRecall,
          part("Go on.", { task_id: "ses_foreign" }),
          { write: "src/form.txt", content: "x\n" },
          { shell: TICK },
          { say: "Done." },
        ],
      },
    ];
    const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 1 } });
    if (!bench) return;
    const { project, model } = bench;
    project.plan("governed", ["Build the form"]);
    const result = await project.work();
    assert.equal(project.record("governed").status, "review", result.stdout);
    const said = JSON.stringify(model.requests.at(-1)?.body);
    assert.match(said, /is recalled, and its session is ended/);
    assert.match(said, /It is not one that you started/);
    const { delegations, workPlans } = JSON.parse((await project.cli(["tasks", "governed", "--json"])).stdout);
    assert.deepEqual(
      delegations.map(({ state, agent }: { state: string; agent: string }) => [state, agent]),
      [["recalled", "general"]],
    );
    const names = workPlans[0].tasks.map(({ name, status }: { name: string; status: string }) => [name, status]);
    assert.deepEqual(names, [
      ["Build the form", "completed"],
      ["The docs", "planned"],
    ]);
  });

  test("goes on with the user's own rules and plugins", thorough, async (t) => {
    const bench = await workshop.bench(t, { script: WORK, limits: { attemptsPerTodo: 1 } });
    if (!bench) return;
    const { project } = bench;
    const config = join(project.home, ".config", "opencode");
    mkdirSync(join(config, "plugin"), { recursive: true });
    writeFileSync(
      join(config, "plugin", "own.js"),
      `import { appendFileSync } from "node:fs";
export const Own = async () => ({
  "tool.execute.before": async () => {},
  event: async ({ event }) => {
    if (event.type === "tui.toast.show") appendFileSync(process.env.PRLOOM_RUN_DIR + "/toasts", event.properties.message);
  },
});
`,
    );
    project.plan("governed", ["Build the form"]);
    const result = await project.work();
    assert.equal(project.record("governed").status, "review", result.stdout);
    const run = join(project.authority, "plans/governed/runs/1");
    assert.match(readFileSync(join(run, "agent", "toasts"), "utf8"), /bash denied WHAT: The command pushes commits/);
    assert.match(
      readFileSync(join(run, "output.log"), "utf8"),
      /level=WARN .*message="prloom: GOVERNANCE BLOCK: bash denied WHAT/,
    );
  });
});
