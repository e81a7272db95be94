import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { projectMaker, succeeds } from "../../testing/projects.ts";

const fresh = projectMaker();

/** A port that is in use until the end of the test. */
async function inUse(t: { after(end: () => void): void }): Promise<number> {
  for (let port = 20_000; ; port += 10) {
    const server = createServer();
    const isOurs = await new Promise((resolve) => {
      server.once("error", () => resolve(false)).listen(port, () => resolve(true));
    });
    if (!isOurs) continue;
    t.after(() => server.close());
    return port;
  }
}

test("each open plan has ports of its own, in runs, checks and initCommands, and none that are in use", async (t) => {
  const from = await inUse(t);
  const note = (who: string, file = "ports.txt") => `echo "${who} $PRLOOM_PORT $PRLOOM_PORTS" >> ${file}`;
  const agent = `cat > /dev/null; ${note("agent")}; sed -i 's/- \\[ \\]/- [x]/' "$PRLOOM_PLAN_FILE"`;
  const project = fresh({
    config: {
      ports: { from },
      initCommands: [note("init", "init.txt")],
      checks: [note("check")],
      agents: { test: { command: "sh", args: ["-c", agent] } },
    },
  });
  project.plan("one", ["one"]);
  project.plan("two", ["two"]);
  await project.work();
  const ports = ["one", "two"].map((id) => project.record(id).firstPort ?? 0);
  assert.equal(new Set(ports.map((port) => Math.floor((port - from) / 10))).size, 2);
  for (const [at, id] of ["one", "two"].entries()) {
    const first = ports[at] ?? 0;
    assert.ok(first >= from && (first - from) % 10 === 0 && from !== first, `${first}`);
    const range = `${first}-${first + 9}`;
    const shown = JSON.parse(await succeeds(project, "show", id, "--json"));
    assert.equal(shown.ports, range);
    const said = project.git("show", `prloom/${id}:ports.txt`);
    assert.equal(readFileSync(join(project.worktree(id), "init.txt"), "utf8"), `init ${first} ${range}\n`);
    for (const who of ["agent", "check"]) assert.match(said, new RegExp(`^${who} ${first} ${range}$`, "m"));
  }
  // One that is done needs them no longer.
  await succeeds(project, "merge", "one");
  assert.equal(project.record("one").firstPort, undefined);
});
