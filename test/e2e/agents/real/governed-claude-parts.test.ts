import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { makeWorkshop } from "../../../testing/agents/real-agent-bench.ts";
import type { Script, ScriptStep, ToolUse } from "../../../testing/model/script.ts";
import { promptOf, tick } from "../../../testing/model/stages.ts";
import { thorough } from "../../../testing/thorough.ts";

const DONE: readonly ScriptStep[] = [tick, { say: "Done." }];

describe("tasks and their parts in Claude Code", () => {
  const workshop = makeWorkshop({ program: "claude", config: { adapter: "claude" }, startSeconds: 5 });
  after(() => workshop.close());

  test(
    "a task that waits is denied with the chain, and each sub-agent has what it was called and its part, two levels down",
    thorough,
    async (t) => {
      const start = (subagent_type: string, prompt: string): ToolUse => ({
        tool: "Agent",
        args: { description: "A part", subagent_type, prompt },
      });
      const does = (prompt: string, ...steps: readonly ScriptStep[]) => ({
        when: new RegExp(`^${prompt}`),
        steps: [...steps, { say: "Over." }],
      });
      const terms = {
        action: "assign",
        to: "executor",
        name: "Docs",
        expectedOutput: "a change",
        tools: ["read", "edit", "delegate"],
      };
      const assigned: ScriptStep = ({ results }) =>
        start("general-purpose", `Part ${/tn-\w+/.exec(results.at(-1) ?? "")?.[0]}`);
      const first = (todo: number) => promptOf("worker", ({ prompt }) => prompt.todoNumber === todo);
      const startNext: ScriptStep = ({ results }) => ({
        tool: "mcp__prloom__govern_task",
        args: { action: "start", node: /(\S+): Test it/.exec(results.at(-1) ?? "")?.[1] },
      });
      const script: Script = [
        does("Look", { write: "src/looked.txt", content: "x\n" }, { shell: "echo x > src/looked.txt" }),
        does("Below", { read: "README.md" }, { shell: "ls" }),
        does("Part", { shell: "npm test" }, { write: "src/part.txt", content: "x\n" }, start("Explore", "Below it.")),
        does("Do it", { write: "src/general.txt", content: "x\n" }, start("Explore", "Look deeper.")),
        {
          when: first(1),
          steps: [
            { tool: "mcp__prloom__govern_task", args: { action: "status" } },
            startNext,
            { do: [start("Explore", "Look."), start("general-purpose", "Do it.")] },
            { tool: "mcp__prloom__govern_delegate", args: terms },
            assigned,
            ...DONE,
          ],
        },
        { when: first(2), steps: [{ write: "src/test.txt", content: "x\n" }, ...DONE] },
      ];
      const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 1 } });
      if (!bench) return;
      const { project, model } = bench;
      project.plan("governed", ["Build the form", "Test it"]);
      const { stdout } = await project.work();
      assert.equal(project.record("governed").status, "review", stdout);
      const said = model.asked().findLast(({ prompt }) => prompt.todoNumber === 1)?.conversation.said ?? [];
      const [, denied = ""] = said.flatMap(({ role, text }) => (role === "tool" ? [text] : []));
      assert.match(
        denied,
        /GOVERNANCE BLOCK[\s\S]*It waits for [\s\S]*CHAIN STATUS[\s\S]*← BLOCKING[\s\S]*← YOUR TASK/,
      );
      const files = project.git("show", "--format=", "--name-only", "prloom/governed~1").trim();
      assert.equal(files, "src/general.txt", JSON.stringify(said));
      const { delegations } = JSON.parse((await project.cli(["tasks", "governed", "--json"])).stdout);
      assert.deepEqual(
        delegations.map(({ to, tools }: { to: string; tools: string[] }) => [to, tools.join()]).toSorted(),
        [
          ["executor", ""],
          ["executor", "read,edit,delegate"],
          ["investigator", ""],
          ["investigator", ""],
          ["investigator", "read,edit,delegate"],
        ],
      );
      assert(
        delegations.every(({ result }: { result?: string }) => /Over\./.test(result ?? "")),
        "what each brought back",
      );
      const below = model.asked().filter(({ text }) => /^Below/.test(text));
      const refused = below.at(-1)?.conversation.said.filter(({ text }) => /which this task does not have/.test(text));
      assert.equal(refused?.length, 1, "the one call with another tool than those of the part");
      const children = model.asked().filter(({ text }) => /^(Look|Part|Do it|Below)/.test(text));
      assert(children.every(({ body }) => /HANDED OVER by executor/.test(JSON.stringify(body))));
    },
  );

  test("a TODO that another was put in front of stays in hand in its next attempt", thorough, async (t) => {
    const isFor = (todo: string, isAgain: boolean) =>
      promptOf("worker", ({ prompt }) => prompt.todo === todo && prompt.refused === isAgain);
    const tickForm: ScriptStep = { shell: `sed -i '/Build the form/s/\\[ \\]/[x]/' "$PRLOOM_PLAN_FILE"` };
    const form = { write: "src/form.txt", content: "x\n" } as const;
    const script: Script = [
      { when: isFor("Build the form", true), steps: [form, tickForm, { say: "Done." }] },
      {
        when: isFor("Build the form", false),
        steps: [{ shell: "until [ -e src/edited ]; do sleep 0.1; done" }, { say: "Not done yet." }],
      },
      { when: isFor("First of all", false), steps: [{ write: "src/first.txt", content: "x\n" }, ...DONE] },
    ];
    const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 2 } });
    if (!bench) return;
    const { project, model } = bench;
    project.plan("governed", ["Build the form"]);
    const working = project.work();
    await model.waitFor(({ prompt }) => prompt.stage === "worker");
    const file = join(project.home, "plan.md");
    writeFileSync(file, project.planText("governed").replace("- [ ]", "- [ ] First of all\n- [ ]"));
    assert.equal((await project.cli(["edit", "governed", "--file", file])).code, 0);
    writeFileSync(join(project.worktree("governed"), "src", "edited"), "");
    const { stdout } = await working;
    assert.equal(project.record("governed").status, "review", stdout);
    const files = (commit: string) => project.git("show", "--format=", "--name-only", commit).trim().split("\n");
    assert.deepEqual(files("prloom/governed~1"), ["src/edited", "src/form.txt"]);
    assert.deepEqual(files("prloom/governed"), ["src/first.txt"]);
  });

  test(
    "a sub-agent that is recalled while it works is ended, and what it was about to do is not done",
    thorough,
    async (t) => {
      const assign = { action: "assign", to: "executor", name: "The docs", expectedOutput: "a change" };
      const idIn = (results: readonly string[]): string => /tn-\w+/.exec(results.join("\n"))?.[0] ?? "";
      const recall = (delegation: string) => ({ action: "recall", delegation, reason: "Not now." });
      const part = (prompt: string) => ({ description: "A part", subagent_type: "general-purpose", prompt });
      const startAndRecall: ScriptStep = ({ results }) => ({
        do: [
          { tool: "Agent", args: part(`Write it, for ${idIn(results)}.`) },
          { tool: "mcp__prloom__govern_delegate", args: recall(idIn(results)) },
        ],
      });
      const steps = [
        { tool: "mcp__prloom__govern_delegate", args: assign },
        startAndRecall,
        { write: "src/form.txt", content: "x\n" },
        ...DONE,
      ];
      const late = { shell: "sleep 600; echo x > src/late.txt" };
      const script: Script = [
        { when: /^Write it/, steps: [late, { say: "Over." }] },
        { when: promptOf("worker"), steps },
      ];
      const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 1, silenceTimeout: "30s" } });
      if (!bench) return;
      const { project } = bench;
      project.plan("governed", ["Build the form"]);
      const { stdout } = await project.work();
      assert.equal(project.record("governed").status, "review", stdout);
      const { delegations, workPlans } = JSON.parse((await project.cli(["tasks", "governed", "--json"])).stdout);
      const states = [...delegations, ...workPlans[0].tasks].map(({ state, status }) => state ?? status);
      assert.deepEqual(states, ["recalled", "completed", "planned"]);
      assert.equal(project.git("show", "--format=", "--name-only", "prloom/governed").trim(), "src/form.txt");
    },
  );

  test(
    "a secret that a prompt mentions is not read by the program itself, nor one for a sub-agent",
    thorough,
    async (t) => {
      const part = { description: "A part", subagent_type: "general-purpose", prompt: "Look at @.env." };
      const script: Script = [
        { when: /^Look at/, steps: [{ say: "Over." }] },
        {
          when: promptOf("worker"),
          steps: [{ tool: "Agent", args: part }, { write: "src/form.txt", content: "x\n" }, ...DONE],
        },
      ];
      const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 1 } });
      if (!bench) return;
      const { project, model } = bench;
      for (const name of [".env", ".env.local"]) writeFileSync(join(project.root, name), "KEY=not-for-models\n");
      project.git("add", "-fA");
      project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "secrets");
      project.plan("governed", ["Build the form as in @.env.local"]);
      const { stdout } = await project.work();
      assert.equal(project.record("governed").status, "review", stdout);
      const asked = model.asked().map(({ body }) => JSON.stringify(body));
      assert(asked.some((body) => body.includes("as in @.env.local")));
      assert(!asked.some((body) => body.includes("not-for-models")));
    },
  );

  test(
    "nor one that a CLAUDE.md of the agent's own names, where the repository's settings count",
    thorough,
    async (t) => {
      const config = { adapter: "claude", projectSettings: true };
      const trusting = makeWorkshop({ program: "claude", config, startSeconds: 5 });
      t.after(() => trusting.close());
      const steps: readonly ScriptStep[] = [
        { write: "src/CLAUDE.md", content: "Notes.\n\n@../.env\n@more.md\n" },
        { write: "src/more.md", content: "More notes.\n" },
        { read: "src/form.txt" },
        ...DONE,
      ];
      const bench = await trusting.bench(t, {
        script: [{ when: promptOf("worker"), steps }],
        limits: { attemptsPerTodo: 1 },
      });
      if (!bench) return;
      const { project, model } = bench;
      writeFileSync(join(project.root, ".env"), "KEY=not-for-models\n");
      writeFileSync(join(project.root, "src", "form.txt"), "A form.\n");
      writeFileSync(join(project.root, "CLAUDE.md"), "Rules of this house.\n\n@.env\n");
      project.git("add", "-fA");
      project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "files");
      project.plan("governed", ["Build the form"]);
      const { stdout } = await project.work();
      assert.equal(project.record("governed").status, "review", stdout);
      const asked = model.asked().map(({ body }) => JSON.stringify(body));
      assert(asked.some((body) => body.includes("Rules of this house")));
      assert(!asked.some((body) => body.includes("not-for-models")));
    },
  );
});
