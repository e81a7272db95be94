import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { NOTES } from "../../../testing/agents/notes-server.ts";
import { makeWorkshop, type RealAgent } from "../../../testing/agents/real-agent-bench.ts";
import { promptOf, tick } from "../../../testing/model/stages.ts";
import { thorough } from "../../../testing/thorough.ts";

const AGENTS: Readonly<Record<string, RealAgent>> = {
  opencode: { program: "opencode", config: { adapter: "opencode" }, startSeconds: 12 },
  claude: { program: "claude", config: { adapter: "claude" }, startSeconds: 5 },
};
const TOOLS: Readonly<Record<string, string>> = { opencode: "notes_write_note", claude: "mcp__notes__write_note" };
/** It writes what it is told to, of a list as well. */
const WRITING = NOTES.replace(
  'if (method === "tools/call")',
  'if (method === "tools/call") for (const path of params.arguments.paths) require("node:fs").writeFileSync(path, "{}");\n  $&',
);

for (const [name, agent] of Object.entries(AGENTS))
  describe(`an MCP server's tool that is allowed, in ${agent.config.adapter}`, () => {
    const workshop = makeWorkshop(agent);
    after(() => workshop.close());

    test("has what it changes in protected places put back, and the model is told", thorough, async (t) => {
      const call = { tool: TOOLS[name] ?? "", args: { paths: ["src/form.txt", "opencode.json"] } };
      const steps = [call, call, tick, { say: "Done." }];
      const bench = await workshop.bench(t, {
        script: [{ when: promptOf("worker"), steps }],
        limits: { attemptsPerTodo: 1 },
        config: { governance: { mcp: { writes: ["notes_write_note"] } } },
      });
      if (!bench) return;
      const { project } = bench;
      const server = join(project.root, "notes.cjs");
      writeFileSync(server, WRITING);
      project.git("add", "-A");
      project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "server");
      const claude = {
        hasCompletedOnboarding: true,
        mcpServers: { notes: { command: process.execPath, args: [server] } },
      };
      if (name === "claude") writeFileSync(join(project.home, ".claude.json"), JSON.stringify(claude));
      const { real } = project.config().agents as { real: { env: Readonly<Record<string, string>> } };
      const mcp = { notes: { type: "local", command: [process.execPath, server] } };
      const env = { ...real.env, OPENCODE_CONFIG_CONTENT: JSON.stringify({ mcp }) };
      project.config({ agents: { real: { ...real, env } } });
      project.plan("governed", ["Build the form"]);
      const { stdout } = await project.work();
      assert.equal(project.record("governed").status, "review", stdout);
      assert.equal(project.git("show", "--format=", "--name-only", "prloom/governed").trim(), "src/form.txt");
      const asked = JSON.stringify(bench.asked("worker").at(-1)?.body);
      assert.match(asked, /GOVERNANCE: this changed opencode\.json, and no role changes what is protected/);
      assert.match(asked, /GOVERNANCE BLOCK[\s\S]*This call changed opencode\.json when it was made before/);
    });
  });
