import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { probePidNamespace } from "../../../../src/agents/runner/runner.ts";
import { processesIn } from "../../../testing/agents/agent-scripts.ts";
import { CLI } from "../../../testing/program.ts";
import { makeProject } from "../../../testing/project.ts";
import { inTerminal, NO_TERMINAL } from "../../../testing/terminal.ts";
import { thorough } from "../../../testing/thorough.ts";

const OUTLIVE = fileURLToPath(new URL("../../../testing/agents/outlive.pl", import.meta.url));
const project = makeProject({
  config: {
    agents: { w: { adapter: "command", command: "false", args: [], sandbox: "none" } },
    stages: { default: "w" },
    limits: { attemptsPerTodo: 1 },
  },
});
after(() => project.remove());

const canAttack = process.arch === "x64" && spawnSync("perl", ["-e", "1"]).status === 0;
const skip = NO_TERMINAL || (canAttack ? false : "the attack needs perl and x86_64");

test("what takes the namespace's init over in `prloom open` is gone when the person has left", {
  skip,
  ...thorough,
}, async (t) => {
  if (!(await probePidNamespace())) return t.skip("bubblewrap does not work here");
  project.plan("p", ["one"]);
  await project.work();
  const worktree = realpathSync(project.worktree("p"));
  const env = { PATH: process.env.PATH ?? "", HOME: project.home, XDG_RUNTIME_DIR: project.home, TERM: "xterm" };
  const person = inTerminal(`'${process.execPath}' '${CLI}' open p --shell`, {
    cwd: project.root,
    env: { ...env, SHELL: "/bin/sh" },
  });
  person.type(`exec perl '${OUTLIVE}' '${worktree}'`);
  await person.ended;
  assert(existsSync(join(worktree, "stays")));
  // Where the program's signal to its group reached `prloom open` itself, the next command that works on the plan notices.
  await project.work();
  assert.deepEqual(processesIn(worktree), []);
  const said = readFileSync(join(worktree, "said"), "utf8");
  if (said.startsWith("no ptrace")) return t.skip("this kernel lets no process be traced by another");
  assert.equal(said, "taken over");
});
