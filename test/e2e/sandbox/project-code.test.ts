import assert from "node:assert/strict";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { probeSandbox } from "../../../src/agents/sandbox/probe.ts";
import { projectMaker } from "../../testing/projects.ts";

/** Stands for OpenCode: it looks at what that would load from the repository, and ticks. */
const PROGRAM = `#!/bin/sh
cat > /dev/null
ls -A .opencode > listing.txt
cat opencode.json >> listing.txt
sed -i 's/- \\[ \\]/- [x]/' "$PRLOOM_PLAN_FILE"
# As the plugin does in the real OpenCode: the rules are in force.
echo "prloom:in-force $PRLOOM_RUN_ID"
`;

const fresh = projectMaker();
let works = false;
before(async () => {
  works = (await probeSandbox()).works;
});

async function seenBy(agent: Record<string, unknown>): Promise<string> {
  const project = fresh();
  const program = join(project.root, "..", "opencode");
  writeFileSync(program, PROGRAM);
  chmodSync(program, 0o755);
  mkdirSync(join(project.root, ".opencode", "plugin"), { recursive: true });
  writeFileSync(join(project.root, ".opencode", "plugin", "theirs.js"), "throw 1\n");
  writeFileSync(join(project.root, "opencode.json"), '{"plugin": ["./theirs.js"]}\n');
  project.git("add", "-A");
  project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-qm", "Settings of an agent program");
  project.config({ agents: { test: { adapter: "opencode", command: program, ...agent } } });
  project.plan("one", ["look"]);
  const worked = await project.work();
  assert.equal(project.record("one").status, "review", worked.stdout + worked.stderr);
  // What was hidden is not taken for deleted.
  assert.match(project.git("show", "prloom/one:opencode.json"), /theirs/);
  assert.match(project.git("ls-tree", "-r", "--name-only", "prloom/one"), /^\.opencode\/plugin\/theirs\.js$/m);
  return project.git("show", "prloom/one:listing.txt");
}

test("a repository's code for the agent program is out of its sight", async (t) => {
  if (!works) return t.skip("bubblewrap does not work here");
  assert.equal(await seenBy({}), "");
});

test("... unless the config allows it", async (t) => {
  if (!works) return t.skip("bubblewrap does not work here");
  assert.match(await seenBy({ projectSettings: true }), /plugin\n.*theirs\.js/s);
});
