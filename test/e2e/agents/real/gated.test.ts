import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { type Bench, makeWorkshop, type RealAgent } from "../../../testing/agents/real-agent-bench.ts";
import { showPlan, succeeds, untilIdle } from "../../../testing/at-gate.ts";
import type { Rule, Script, ScriptStep, ToolUse } from "../../../testing/model/script.ts";
import { designs, promptOf, worksTodos } from "../../../testing/model/stages.ts";
import { thorough } from "../../../testing/thorough.ts";

const GATES = { gates: { plan: true } };

/** Ways to change a file; which of the program's tools write and edit are is its own affair. */
const TRIES: readonly ToolUse[] = [
  { write: "src/new.txt", content: "x" },
  { edit: "README.md", from: "project", to: "house" },
  { shell: "echo x > src/shell.txt" },
  { shell: "sed -i s/project/house/ README.md" },
];

const DENIED = /GOVERNANCE BLOCK[\s\S]*A person has not approved the plan yet/;

interface Program {
  readonly name: string;
  readonly agent: RealAgent;
  readonly model?: string;
  /** Where it stands what was denied. */
  readonly facts: string;
}

const opencode: RealAgent = { program: "opencode", config: { adapter: "opencode" }, startSeconds: 12 };
const PROGRAMS: readonly Program[] = [
  { name: "OpenCode", agent: opencode, facts: join("agent", "facts.jsonl") },
  {
    name: "OpenCode with apply_patch",
    agent: opencode,
    model: "scripted/gpt-5-scripted",
    facts: join("agent", "facts.jsonl"),
  },
  {
    name: "Claude Code",
    agent: { program: "claude", config: { adapter: "claude" }, startSeconds: 5 },
    facts: "facts.jsonl",
  },
];

/** What tools brought in the last conversation of these, as the model was told it. */
function toldIn(asked: Bench["model"]["requests"]): string[] {
  const said = asked.at(-1)?.conversation.said ?? [];
  return said.flatMap(({ role, text }) => (role === "tool" ? [text] : []));
}

function deniedIn(bench: Bench, run: number, facts: string): string[] {
  const lines = bench.project.runFile("shop", run, facts).split("\n");
  const found = lines.filter((line) => line.includes('"denied"')).map((line) => JSON.parse(line) as { rule: string });
  return found.map(({ rule }) => rule);
}

function unchanged({ project }: Bench): void {
  const tree = project.worktree("shop");
  assert.equal(readFileSync(join(tree, "README.md"), "utf8"), "A project\n");
  for (const name of ["new.txt", "shell.txt"]) assert.equal(existsSync(join(tree, "src", name)), false, name);
  assert.equal(existsSync(join(project.authority, "plans", "shop", "runs", "1", "aside.patch")), false);
}

/** Has an agent run at each comment; returns the file with what it said. */
function eagerPlugin(project: Bench["project"], stage: string): string {
  mkdirSync(join(project.root, "plugins"));
  const said = join(project.home, "said");
  const code = `import { writeFileSync } from "node:fs";
    const tell = (words) => writeFileSync(${JSON.stringify(said)}, String(words?.message ?? words));
    export default () => ({ onEvent: (event, ctx) => ctx.runAgent("Change something.", { stage: "${stage}" }).then(tell, tell) });`;
  writeFileSync(join(project.root, "plugins", "eager.mjs"), code);
  project.config({ plugins: { eager: { module: "./plugins/eager.mjs" } } });
  return said;
}

for (const { name, agent, model, facts } of PROGRAMS)
  describe(`${name} and a plan that is not approved`, () => {
    const workshop = makeWorkshop(agent);
    after(() => workshop.close());
    const tries: readonly ScriptStep[] = [{ read: "README.md" }, ...TRIES];
    const [, write = { say: "" }, done = { say: "" }] = designs(["Build the form"]).steps;
    const begin = async (t: Parameters<typeof workshop.bench>[0], script: Script, config: object = {}) => {
      const bench = await workshop.bench(t, {
        script,
        config: { ...GATES, ...config },
        limits: { attemptsPerTodo: 1 },
      });
      const { real } = (bench?.project.config().agents ?? {}) as { real: object };
      if (model !== undefined) bench?.project.config({ agents: { real: { ...real, model } } });
      return bench;
    };

    test("it writes nothing before the approval, by no tool, and then it does", thorough, async (t) => {
      const first: Rule = {
        when: promptOf("designer", ({ prompt }) => !prompt.goesOn),
        steps: [...tries, write, done],
      };
      const keeps = { shell: `printf '\\n## Decision Log\\n\\n- One form is enough.\\n' >> "$PRLOOM_PLAN_FILE"` };
      const again: Rule = { when: promptOf("designer"), steps: [...tries, keeps, done] };
      const bench = await begin(t, [first, again, worksTodos()]);
      if (!bench) return;
      const { project } = bench;
      project.planFile("shop", "## Title\n\nA form\n\n## Objective\n\nThere is a form.\n");
      await untilIdle(project);
      assert.match(project.planText("shop"), /- \[ \] Build the form/);
      const told = toldIn(bench.asked("designer"));
      assert.equal(told.filter((text) => DENIED.test(text)).length, TRIES.length, told.join("\n"));
      assert.deepEqual([...new Set(deniedIn(bench, 1, facts))], ["gate"]);
      unchanged(bench);
      const [gate] = (await showPlan(project)).gates;
      await succeeds(project, "revise", "shop", "Look again.");
      await untilIdle(project);
      assert.deepEqual(deniedIn(bench, 2, facts), Array(TRIES.length).fill("gate"));
      assert.ok(
        toldIn(bench.asked("designer")).some((text) => DENIED.test(text) && text.includes(`gate ${gate?.gateId}`)),
      );
      unchanged(bench);
      await succeeds(project, "approve", "shop");
      await untilIdle(project);
      assert.equal(project.record("shop").status, "review");
      assert.equal(project.git("show", "prloom/shop:todo-1.txt"), "Build the form\n");
    });

    test("neither does an agent that a plugin has run, whatever it is asked", thorough, async (t) => {
      const asked: readonly ScriptStep[] = [...tries, { say: "I tried." }];
      const bench = await begin(t, [{ when: /^Change something/, steps: asked }, worksTodos()]);
      if (!bench) return;
      const { project, model: asks } = bench;
      const said = eagerPlugin(project, "triage");
      project.plan("shop", ["Build the form"]);
      await untilIdle(project);
      await succeeds(project, "comment", "shop", "What about the tests?");
      await untilIdle(project);
      assert.match(readFileSync(said, "utf8"), /I tried/);
      const told = toldIn(asks.requests);
      assert.equal(told.filter((text) => DENIED.test(text)).length, TRIES.length, told.join("\n"));
      unchanged(bench);
    });

    test("a worker of a plugin is judged as well, and works where no TODO is open", thorough, async (t) => {
      const asked = [{ shell: "git push origin HEAD" }, { write: "src/new.txt", content: "x" }, { say: "I did." }];
      const bench = await begin(t, [{ when: /^Change something/, steps: asked }, worksTodos()], { gates: {} });
      if (!bench) return;
      const { project, model: asks } = bench;
      const said = eagerPlugin(project, "worker");
      project.plan("shop", ["Build the form"]);
      await untilIdle(project);
      assert.equal(project.record("shop").status, "review");
      await succeeds(project, "comment", "shop", "And the tests?");
      await project.work();
      assert.match(readFileSync(said, "utf8"), /I did/);
      const its = asks.requests.filter(({ conversation }) =>
        conversation.said.some(({ text }) => /Change something/.test(text)),
      );
      const [pushed = "", wrote = ""] = toldIn(its);
      assert.match(pushed, /GOVERNANCE BLOCK/);
      assert.doesNotMatch(wrote, /GOVERNANCE BLOCK/);
      assert.match(wrote, /success|wrote|created|updated/i);
    });
  });

describe("OpenCode with a formatter of the user's", () => {
  const workshop = makeWorkshop(opencode);
  after(() => workshop.close());

  test("does not run it on what a designer writes: it would load what lies beside that", thorough, async (t) => {
    const [, write = { say: "" }, done = { say: "" }] = designs(["Build the form"]).steps;
    const steps: readonly ScriptStep[] = [
      { write: "prloom/.local/evidence/settings.sh", content: "echo x > src/new.txt\n" },
      { write: "prloom/.local/evidence/notes.txt", content: "x\n" },
      { read: "src/new.txt" },
      write,
      done,
    ];
    const script: Script = [{ when: promptOf("designer"), steps }];
    const bench = await workshop.bench(t, { script, config: GATES, limits: { attemptsPerTodo: 1 } });
    if (!bench) return;
    const { project } = bench;
    const file = join(project.home, ".config", "opencode", "opencode.json");
    const command = ["sh", "-c", '. "$(dirname "$1")/settings.sh"', "sh", "$FILE"];
    const formatter = { own: { command, extensions: [".txt"] } };
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), formatter }));
    project.planFile("shop", "## Title\n\nA form\n\n## Objective\n\nThere is a form.\n");
    await untilIdle(project);
    assert.match(project.planText("shop"), /- \[ \] Build the form/);
    const told = toldIn(bench.asked("designer"));
    assert.match(told[1] ?? "", /Wrote file/);
    assert.match(told[2] ?? "", /not found/, told.join("\n"));
    unchanged(bench);
  });
});

for (const { name, agent } of PROGRAMS.filter(({ model }) => model === undefined))
  describe(`${name} whose conversation is compacted`, () => {
    const workshop = makeWorkshop(agent);
    after(() => workshop.close());

    test("still writes nothing before the approval", thorough, async (t) => {
      // More than fits into any conversation.
      const usage = { input: 1_990_000, output: 10 };
      const script: Script = [
        {
          when: /^CRITICAL: Respond with TEXT ONLY|^Here is the conversation so far/,
          steps: [{ say: "So far: nothing." }],
        },
        {
          when: /continued from a previous|Continue if you have next steps/,
          steps: [{ read: "README.md" }, ...TRIES, { say: "Over." }],
        },
        { when: promptOf("designer"), steps: [{ shell: "ls", usage }, { say: "It was not compacted." }] },
      ];
      const bench = await workshop.bench(t, { script, config: GATES, limits: { attemptsPerTodo: 1 } });
      if (!bench) return;
      bench.project.planFile("shop", "## Title\n\nA form\n\n## Objective\n\nThere is a form.\n");
      await bench.project.work();
      const told = toldIn(bench.model.requests);
      assert.equal(told.length, TRIES.length + 1, told.join("\n"));
      assert.equal(told.filter((text) => DENIED.test(text)).length, TRIES.length, told.join("\n"));
      unchanged(bench);
    });
  });
