import assert from "node:assert/strict";
import { test } from "node:test";
import { projectMaker } from "../../../testing/projects.ts";
import { thorough } from "../../../testing/thorough.ts";

const fresh = projectMaker();

test("a rebase that a comment asks for is told of, in the log and in the thread", thorough, async () => {
  const project = fresh();
  const { agents } = project.config() as { agents: { test: object } };
  const answer = JSON.stringify({ reply_markdown: "Will do.", todos: [], rebase_requested: true });
  const triage = { adapter: "command", command: "sh", args: ["-c", `echo '${answer}' > "$PRLOOM_RESULT_FILE"`] };
  project.config({
    agents: { ...agents, triage: { ...triage, sandbox: "none" } },
    stages: { default: "test", triage: "triage" },
  });
  project.plan("p", ["one"]);
  await project.work();
  for (const [moves, told, thread] of [
    [true, /triaged 1 comment into 0 TODOs; rebased/, /The branch is rebased: it stands at [0-9a-f]{8} now\./],
    [false, /; there was nothing to rebase/, /There is nothing to rebase/],
  ] as const) {
    if (moves)
      project.git("-c", "user.name=P", "-c", "user.email=p@localhost", "commit", "-q", "--allow-empty", "-m", "x");
    await project.cli(["comment", "p", "please rebase"]);
    assert.match((await project.work()).stdout, told);
    assert.match((await project.cli(["show", "p"])).stdout, thread);
  }
});
