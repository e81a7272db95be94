import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startDaemon } from "../../testing/daemon.ts";
import { projectMaker, succeeds } from "../../testing/projects.ts";
import { thorough } from "../../testing/thorough.ts";

const fresh = projectMaker();

test(
  "while initCommands run, the log names them, and status and logs say what the plan waits for",
  thorough,
  async () => {
    const project = fresh();
    const go = join(project.home, "go");
    project.config({ initCommands: [`until [ -e '${go}' ]; do sleep 0.05; done`] });
    project.plan("p", ["one"]);
    const daemon = await startDaemon(project);
    await daemon.said("p", /^preparing its worktree: until/);
    assert.match(await succeeds(project, "ls"), /^p .*its worktree is being made ready \(initCommands\)/m);
    assert.match((await project.cli(["logs", "p"])).stderr, /hint: It waits: its worktree is being made ready/);
    writeFileSync(go, "");
    await daemon.said("p", /in review/);
    await daemon.end();
  },
);
