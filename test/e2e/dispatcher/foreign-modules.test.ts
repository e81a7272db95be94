import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { branch, commit, fresh, write } from "../fixtures/checkouts.ts";

const PLUGIN = "prloom/plugins/pen.mjs";
const plugins = { pen: { module: `./${PLUGIN}` } };

describe("before the first start", () => {
  test("doctor and poll run nothing of a stranger's branch, and what is one's own as ever", async () => {
    const project = fresh();
    const marker = join(project.home, "owned");
    write(project, "lib/ink.mjs", "export default 1;");
    write(project, PLUGIN, 'import "../../lib/ink.mjs"; export default () => ({ async beforeTodo() {} });');
    project.config({ plugins });
    commit(project, "A plugin");
    // The module and the config stay as they are.
    branch(project, "helper", () =>
      write(project, "lib/ink.mjs", `import { writeFileSync } from "node:fs"; writeFileSync("${marker}", "");`),
    );
    project.git("checkout", "-q", "helper");
    assert.match((await project.cli(["doctor"])).stdout, /never started here.* were not tried/);
    const polled = await project.cli(["poll"]);
    assert.equal(polled.code, 1);
    assert.match(polled.stderr, /\[pin-changed\]/);
    assert(!existsSync(marker));
    project.git("checkout", "-q", "--detach", "main");
    assert.match((await project.cli(["doctor"])).stdout, /plugins and bridges: 1 can be loaded/);
  });

  test("a variable in a stranger's config counts; a config that was not committed is one's own", async () => {
    const project = fresh();
    const marker = join(project.home, "owned");
    const code = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(marker)}, "");`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(code)}`;
    const claude = { adapter: "claude", command: process.execPath };
    const withAgent = (agent: object) => project.config({ agents: { claude: agent }, stages: { default: "claude" } });
    branch(project, "variable", () => withAgent({ ...claude, env: { NODE_OPTIONS } }));
    branch(project, "own", () => write(project, "src/a.txt", "other\n"));
    project.git("checkout", "-q", "variable");
    assert.match((await project.cli(["doctor"])).stdout, /never started here.* were not tried/);
    assert(!existsSync(marker));
    project.git("checkout", "-q", "own");
    withAgent(claude);
    const { stdout } = await project.cli(["doctor"]);
    assert.match(stdout, /agent claude:/);
    assert.doesNotMatch(stdout, /were not tried/);
  });
});

test("a thread that fails while a plugin is loaded is the plugin's fault, not a bug in prloom", async () => {
  const project = fresh({ config: { plugins } });
  const start = 'import { Worker } from "node:worker_threads"; new Worker(new URL("./ink.mjs", import.meta.url));';
  const load = "await new Promise((resolve) => setTimeout(resolve, 60_000).unref());";
  write(project, PLUGIN, `${start} ${load} export default () => ({ async beforeTodo() {} });`);
  write(project, "prloom/plugins/ink.mjs", 'throw new Error("out of ink");');
  commit(project, "A plugin");
  for (const command of [["doctor"], ["start", "--until-idle"]]) {
    const { code, stderr } = await project.cli(command);
    assert.equal(code, 1);
    assert.match(stderr, /outside of its call: Error: out of ink \[plugin-failed\]/);
    assert.doesNotMatch(stderr, /bug in prloom/);
  }
});
