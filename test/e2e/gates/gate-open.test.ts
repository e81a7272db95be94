import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { probeSandbox } from "../../../src/agents/sandbox/probe.ts";
import { succeeds, untilIdle } from "../../testing/at-gate.ts";
import { startDaemon } from "../../testing/daemon.ts";
import { CLI } from "../../testing/program.ts";
import { makeProject } from "../../testing/project.ts";
import { inTerminal, NO_TERMINAL, type Terminal } from "../../testing/terminal.ts";
import { thorough } from "../../testing/thorough.ts";

/** Stands for a program that people can talk to: it does what is typed. */
const HAND = `#!/bin/sh
[ "$1" = exec ] && exit 1
echo "interface: $*."
while read -r line; do [ "$line" = bye ] && exit 0; eval "$line"; done
`;

describe("a plan at its gate that a person opens", { skip: NO_TERMINAL }, () => {
  const project = makeProject({ config: { gates: { plan: true, advisory: true } } });
  after(() => project.remove());
  const tools = join(project.root, "tools");
  mkdirSync(tools);
  const agentOf = (adapter: string, sandbox: string) => {
    const command = join(tools, adapter);
    writeFileSync(command, HAND, { mode: 0o755 });
    return { adapter, command, sandbox };
  };
  const { agents } = project.config() as { agents: object };
  project.config({
    agents: {
      ...agents,
      hand: agentOf("codex", "auto"),
      bare: agentOf("codex", "none"),
      claude: agentOf("claude", "none"),
      opencode: agentOf("opencode", "none"),
    },
  });
  project.git("add", "-A");
  project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "tools");
  const env = { PATH: process.env.PATH ?? "", HOME: project.home, XDG_RUNTIME_DIR: project.home, SHELL: "/bin/sh" };
  const prloom = (line: string): Terminal =>
    inTerminal(`'${process.execPath}' '${CLI}' ${line}`, { cwd: project.root, env });
  const tree = project.worktree("shop");
  const said = async (line: string): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await project.cli(["open", "shop", ...line.split(" "), "--json"]);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  it("lets no agent write there, and says so; a shell is the person's own", async (t) => {
    if (!(await probeSandbox()).works) return t.skip("there is no sandbox here");
    project.plan("shop", ["make one"]);
    await untilIdle(project);
    const agent = prloom("open shop --agent hand");
    await agent.shows(/The plan is not approved: the agent can read, and changes nothing\./);
    agent.type("cat README.md; echo x > src/by-agent.txt; echo tried");
    await agent.shows(/A project[\s\S]*src\/by-agent\.txt[\s\S]*tried/);
    agent.type("bye");
    await agent.ended;
    assert.equal(existsSync(join(tree, "src", "by-agent.txt")), false);
    const shell = prloom("open shop --agent hand --shell");
    await shell.shows(/The shell is your own: what you change in it is not held back\./);
    shell.type("echo x > src/by-person.txt; exit");
    await shell.ended;
    assert.equal(existsSync(join(tree, "src", "by-person.txt")), true);
  });

  it(
    "ends an agent that was opened before the approval was taken back, and not the person's shell",
    thorough,
    async (t) => {
      if (!(await probeSandbox()).works) return t.skip("there is no sandbox here");
      await succeeds(project, "approve", "shop");
      const agent = prloom("open shop --agent hand");
      await agent.shows(/keeps out of it until you leave/);
      agent.type("echo x > src/while-approved.txt; echo writ'ten'");
      await agent.shows(/written/);
      assert.match(await succeeds(project, "withdraw", "shop"), /The agent that was open there .* was ended\./);
      await agent.shows(/The agent was ended: the plan is not approved any more\./);
      await agent.ended;
      assert.equal(existsSync(join(tree, "src", "while-approved.txt")), true, "what was done so far stays");
      await untilIdle(project);
      await succeeds(project, "approve", "shop");
      const shell = prloom("open shop --agent hand --shell");
      await shell.shows(/keeps out of it until you leave/);
      assert.doesNotMatch(await succeeds(project, "withdraw", "shop"), /was ended/);
      shell.type("echo st'ill' here; exit");
      await shell.shows(/still here/);
      await shell.ended;
      await untilIdle(project);
    },
  );

  it("ends it also under a dispatcher that hears the withdrawal as a comment", thorough, async () => {
    await succeeds(project, "approve", "shop");
    const agent = prloom("open shop --agent bare");
    await agent.shows(/keeps out of it until you leave/);
    const daemon = await startDaemon(project);
    await succeeds(project, "comment", "shop", "/withdraw");
    await daemon.said("shop", /approval was withdrawn: the agent that a person had open was ended/);
    await agent.ended;
    await daemon.said("shop", /^waits for your answer/);
    await daemon.end();
  });

  it("gives programs without a sandbox what they need to hold to it", thorough, async () => {
    const claude = await said("--agent claude");
    assert.equal(claude.door, "closed");
    const command = claude.command as string[];
    const { permissions } = JSON.parse(command[command.indexOf("--settings") + 1] ?? "{}") as {
      permissions: { deny: string[] };
    };
    for (const tool of ["Write", "Edit", "MultiEdit", "NotebookEdit", "Bash", "Task"])
      assert.ok(permissions.deny.includes(tool), tool);
    const opencode = await said("--agent opencode");
    assert.deepEqual([opencode.door, opencode.level], ["closed", "policy"]);
    assert.match(String(opencode.line), /OPENCODE_CONFIG_CONTENT=.*"deny"/);
    assert.equal((await said("--agent bare")).door, "advisory");
  });

  it("opens it as ever once it is approved", thorough, async () => {
    await succeeds(project, "approve", "shop");
    const { door, command } = await said("--agent claude");
    assert.equal(door, undefined);
    assert.ok(!(command as string[]).includes("--settings"));
  });
});
