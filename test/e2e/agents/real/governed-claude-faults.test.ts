import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { makeWorkshop } from "../../../testing/agents/real-agent-bench.ts";
import type { Script, ScriptStep } from "../../../testing/model/script.ts";
import { promptOf, tick } from "../../../testing/model/stages.ts";
import { thorough } from "../../../testing/thorough.ts";

const works = (...steps: readonly ScriptStep[]): Script => [
  { when: promptOf("worker"), steps: [...steps, tick, { say: "Done." }] },
];

/** Without a sandbox: what is proved is that the policy alone is enough. */
describe("Claude Code without its hooks", () => {
  const config = { adapter: "claude", sandbox: "none" };
  const workshops = [config, { ...config, args: ["--bare"] }].map((one) =>
    makeWorkshop({ program: "claude", config: one, startSeconds: 5 }),
  );
  const [usual, without] = workshops as [(typeof workshops)[0], (typeof workshops)[0]];
  after(async () => {
    for (const workshop of workshops) await workshop.close();
  });

  test("an argument of the user's switches them off: nothing is taken, and the person is told", thorough, async (t) => {
    const script = works({ shell: "echo x > src/form.txt" });
    const bench = await without.bench(t, { script, limits: { attemptsPerTodo: 1 } });
    if (!bench) return;
    const { project } = bench;
    project.plan("governed", ["Build the form"]);
    await project.work();
    assert.match(bench.blockedReason("governed"), /did not ask prloom's hooks.*--bare/);
    assert(!existsSync(join(project.worktree("governed"), "src/form.txt")));
    assert.deepEqual(project.commits("governed"), []);
  });

  test(
    "a policy and a graph that are torn under the run permit nothing more: they are known by then",
    thorough,
    async (t) => {
      const script = works(
        { shell: "git push origin HEAD" },
        { write: ".claude/mine.txt", content: "x" },
        { write: "src/form.txt", content: "x\n" },
      );
      const bench = await usual.bench(t, { script, limits: { attemptsPerTodo: 1 } });
      if (!bench) return;
      const { project, model, program } = bench;
      const command = join(project.home, "claude.sh");
      const folder = join(project.authority, "plans/governed/runs/1/governance");
      const tear = `for name in policy graph; do echo '{torn' > "${folder}/$name.json"; done`;
      writeFileSync(command, `#!/bin/sh\n${tear}\nexec ${program.command} "$@"\n`, { mode: 0o755 });
      const { real } = project.config().agents as { real: Record<string, unknown> };
      project.config({ agents: { real: { ...real, command } } });
      project.plan("governed", ["Build the form"]);
      const { stdout } = await project.work();
      assert.equal(project.record("governed").status, "review", stdout);
      const said = model.asked().at(-1)?.conversation.said ?? [];
      assert.equal(said.filter(({ text }) => /GOVERNANCE BLOCK/.test(text)).length, 2, JSON.stringify(said));
      assert.equal(readFileSync(join(folder, "policy.json"), "utf8"), "{torn\n");
      assert.equal(project.git("show", "--format=", "--name-only", "prloom/governed").trim(), "src/form.txt");
    },
  );

  test("a script of the agent's that would switch them off does not, in the middle of a run", thorough, async (t) => {
    const settings = JSON.stringify({ env: { CLAUDE_CODE_SIMPLE: "1" }, permissions: { allow: ["Bash", "Write"] } });
    // The program looks at its settings again a moment after they are other.
    const off = `mkdir -p "$HOME/.claude"; echo '${settings}' > "$HOME/.claude/settings.json"; sleep 4\n`;
    const script = works(
      { write: "src/off.sh", content: off },
      { shell: "sh src/off.sh" },
      { write: "src/form.txt", content: "echo x > opencode.json\n" },
      { shell: "sh src/form.txt" },
    );
    const bench = await usual.bench(t, { script, limits: { attemptsPerTodo: 1 } });
    if (!bench) return;
    const { project, model } = bench;
    project.plan("governed", ["Build the form"]);
    const { stdout } = await project.work();
    assert.equal(project.record("governed").status, "review", stdout);
    // Both follow from the hook after a call.
    assert(!existsSync(join(project.worktree("governed"), "opencode.json")), "what is protected is put back");
    assert.match(JSON.stringify(model.asked().at(-1)?.body), /this changed opencode\.json/);
    const { workPlans } = JSON.parse((await project.cli(["tasks", "governed", "--json"])).stdout);
    const tools = workPlans[0].tasks[0].checkpoints.map(({ tool }: { tool: string }) => tool);
    assert.deepEqual(tools, ["Write", "Write", "Bash"]);
  });
});
