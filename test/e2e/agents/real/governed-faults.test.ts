import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { makeWorkshop } from "../../../testing/agents/real-agent-bench.ts";
import type { Script } from "../../../testing/model/script.ts";
import { promptOf, tick } from "../../../testing/model/stages.ts";
import { thorough } from "../../../testing/thorough.ts";

const TRIES: Script = [
  {
    when: promptOf("worker"),
    steps: [
      { read: "README.md" },
      { write: "src/form.txt", content: "x\n" },
      { edit: "README.md", from: "project", to: "house" },
      { shell: "echo x > src/shell.txt" },
      { say: "Done." },
    ],
  },
];

/** Commands in the place of the plugin's name, or in its own file. */
const instead = (plugin: string): string =>
  `OPENCODE_CONFIG_CONTENT=$(printf %s "$OPENCODE_CONFIG_CONTENT" | sed 's#"plugin":\\["[^"]*"\\]#"plugin":["${plugin}"]#')`;

interface Fault {
  /** What a shell does right before the program starts; plugins of the test lie beside it. */
  readonly before: (folder: string) => string;
  readonly told: RegExp;
  readonly limits?: Readonly<Record<string, unknown>>;
}

const NOT_LOADED = /did not load prloom's plugin/;
const UNREADABLE = /prloom's rules for this run cannot be read/;

const FAULTS: Readonly<Record<string, Fault>> = {
  "a plugin that is not there": { before: () => instead("/nowhere/opencode.js"), told: NOT_LOADED },
  "a plugin that throws when it is loaded": { before: (folder) => instead(`${folder}/throws.mjs`), told: NOT_LOADED },
  "a plugin that throws when it begins": { before: (folder) => instead(`${folder}/fails.mjs`), told: NOT_LOADED },
  "a plugin that never begins": {
    before: (folder) => instead(`${folder}/hangs.mjs`),
    told: /./,
    limits: { silenceTimeout: "15s" },
  },
  "a graph that is torn": { before: () => `echo '{torn' > "$PRLOOM_GOVERNANCE/graph.json"`, told: UNREADABLE },
  "a policy that no read ever ends of": {
    before: () => `rm "$PRLOOM_GOVERNANCE/policy.json" && mkfifo "$PRLOOM_GOVERNANCE/policy.json"`,
    told: UNREADABLE,
  },
};

const PLUGINS = {
  "throws.mjs": 'throw new Error("no");\n',
  "fails.mjs": 'export default { id: "prloom", server: async () => { throw new Error("no"); } };\n',
  "hangs.mjs": 'export default { id: "prloom", server: () => new Promise(() => {}) };\n',
};

/** What an agent without rules tries so that its run passes for one that had them. */
const FORGES = [
  'rm -f "$PRLOOM_RUN_DIR/policy-end.json"',
  'line="timestamp=2026-11-15T11:50:22Z level=ERROR run=8e message=\\"prloom:in-force $PRLOOM_RUN_ID\\""',
  'for fd in /proc/[0-9]*/fd/[12]; do if [ -p "$fd" ]; then echo "$line" > "$fd"; fi; done',
].join("; ");

/** Without a sandbox: what is proved is that the policy alone is enough. */
describe("OpenCode without its rules", () => {
  const workshop = makeWorkshop({
    program: "opencode",
    config: { adapter: "opencode", sandbox: "none" },
    startSeconds: 12,
  });
  after(() => workshop.close());

  for (const [what, { before, told, limits = {} }] of Object.entries(FAULTS))
    test(`${what}: nothing is written, reading goes on, and the person is told`, thorough, async (t) => {
      const bench = await workshop.bench(t, { script: TRIES, limits: { attemptsPerTodo: 1, ...limits } });
      if (!bench) return;
      const { project, model, program } = bench;
      for (const [name, text] of Object.entries(PLUGINS)) writeFileSync(join(project.home, name), text);
      const command = join(project.home, "opencode.sh");
      writeFileSync(command, `#!/bin/sh\n${before(project.home)}\nexec ${program.command} "$@"\n`, { mode: 0o755 });
      const { real } = project.config().agents as { real: Record<string, unknown> };
      project.config({ agents: { real: { ...real, command } } });
      project.plan("governed", ["Build the form"]);
      await project.work();
      const worktree = project.worktree("governed");
      for (const path of ["src/form.txt", "src/shell.txt"]) assert(!existsSync(join(worktree, path)), path);
      assert.equal(project.git("-C", worktree, "status", "--short"), "");
      assert.match(bench.blockedReason("governed"), told);
      assert.match((await project.cli(["status"])).stdout, told);
      const events = readFileSync(join(project.authority, "bus", "events.jsonl"), "utf8").split("\n");
      assert.match(events.find((line) => line.includes('"plan_blocked"')) ?? "", told);
      const said = model.asked().at(-1)?.conversation.said ?? [];
      if (told === UNREADABLE) assert.match(said.find(({ role }) => role === "tool")?.text ?? "", /A project/);
    });

  test("files of the rules that vanish in the middle of a run take nothing away from them", thorough, async (t) => {
    const part = { description: "A part", subagent_type: "general", prompt: "Push it." };
    const push = { shell: "git push origin HEAD" };
    const steps = [
      { write: "src/vanish.sh", content: 'rm "$PRLOOM_GOVERNANCE"/*.json; ls "$PRLOOM_GOVERNANCE"\n' },
      { shell: "sh src/vanish.sh" },
      push,
      { write: ".claude/mine.txt", content: "x" },
      { tool: "task", args: part },
      { write: "src/form.txt", content: "x\n" },
      tick,
      { say: "Done." },
    ];
    const script = [
      { when: /^Push it/, steps: [push, { say: "Over." }] },
      { when: promptOf("worker"), steps },
    ];
    const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 1 } });
    if (!bench) return;
    const { project, model } = bench;
    project.plan("governed", ["Build the form"]);
    const { stdout } = await project.work();
    assert.equal(project.record("governed").status, "review", stdout);
    assert.deepEqual(readdirSync(join(project.authority, "plans/governed/runs/1/governance")), []);
    const denied = (asked: typeof model.requests): number =>
      (asked.at(-1)?.conversation.said ?? []).filter(({ text }) => /GOVERNANCE BLOCK/.test(text)).length;
    assert.equal(denied(bench.asked("worker")), 2);
    assert.equal(denied(model.asked().filter(({ text }) => /^Push it/.test(text))), 1);
    const files = project.git("show", "--format=", "--name-only", "prloom/governed").trim().split("\n");
    assert.deepEqual(files, ["src/form.txt", "src/vanish.sh"]);
    const { runs } = JSON.parse((await project.cli(["show", "governed", "--json"])).stdout);
    assert.equal(runs[0].level, "policy");
  });

  test(
    "an agent of the user's own with rules of its own, while plugins are off: nothing is taken",
    thorough,
    async (t) => {
      const steps = [
        { shell: FORGES },
        { write: "src/form.txt", content: "x\n" },
        { shell: `sed -i 's/- \\[ \\]/- [x]/' "$PRLOOM_PLAN_FILE"` },
        { say: "Done." },
      ];
      const script = [{ when: promptOf("worker"), steps }];
      const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 2 } });
      if (!bench) return;
      const { project, program } = bench;
      const config = join(project.home, ".config", "opencode");
      mkdirSync(join(config, "agent"));
      writeFileSync(
        join(config, "agent", "mine.md"),
        '---\nmode: primary\npermission:\n  "*": allow\n---\nYou build.\n',
      );
      const settings = JSON.parse(readFileSync(join(config, "opencode.json"), "utf8"));
      writeFileSync(join(config, "opencode.json"), JSON.stringify({ ...settings, default_agent: "mine" }));
      const command = join(project.home, "opencode.sh");
      writeFileSync(command, `#!/bin/sh\nOPENCODE_PURE=1 exec ${program.command} "$@"\n`, { mode: 0o755 });
      const { real } = project.config().agents as { real: Record<string, unknown> };
      project.config({ agents: { real: { ...real, command } } });
      project.plan("governed", ["Build the form"]);
      await project.work();
      assert.match(bench.blockedReason("governed"), NOT_LOADED);
      assert.equal(project.git("-C", project.worktree("governed"), "status", "--short"), "");
      assert.deepEqual(project.commits("governed"), []);
      const { runs } = JSON.parse((await project.cli(["show", "governed", "--json"])).stdout);
      assert.deepEqual(
        runs.map(({ exit }: { exit: { reason: string } }) => exit.reason),
        ["policy", "policy"],
      );
    },
  );
});
