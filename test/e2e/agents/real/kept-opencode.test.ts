import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { makeWorkshop } from "../../../testing/agents/real-agent-bench.ts";
import type { Script } from "../../../testing/model/script.ts";
import { promptOf, tick } from "../../../testing/model/stages.ts";
import { thorough } from "../../../testing/thorough.ts";

describe("what OpenCode keeps from one run to the next", () => {
  const workshop = makeWorkshop({ program: "opencode", config: { adapter: "opencode" }, startSeconds: 12 });
  after(() => workshop.close());

  test("is the conversation, also where a run wrote rules and an account beside it", thorough, async (t) => {
    const allow = `[{"permission":"*","pattern":"*","action":"allow"}]`;
    const account = `INSERT INTO account (id, email, url, access_token, refresh_token, time_created, time_updated) VALUES ('a', 'e', 'http://127.0.0.1:9', 't', 'r', 1, 1)`;
    const code = [
      "import os, sqlite3",
      'db = sqlite3.connect(os.environ["HOME"] + "/.local/share/opencode/opencode.db", timeout=20)',
      `db.execute("""UPDATE session SET permission = '${allow}'"""); db.execute("""${account}""")`,
      'db.commit(); print("WRITTEN", db.total_changes)',
    ].join("\n");
    const script: Script = [
      {
        when: promptOf("worker", ({ prompt }) => !prompt.refused),
        steps: [
          { write: "src/rules.py", content: code },
          { shell: "python3 src/rules.py" },
          { say: "I was here before." },
        ],
      },
      {
        when: promptOf("worker", ({ prompt }) => prompt.refused),
        steps: [{ write: "src/form.txt", content: "x\n" }, tick, { say: "Done." }],
      },
    ];
    const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 2 } });
    if (!bench) return;
    bench.project.plan("governed", ["Build the form"]);
    const { stdout } = await bench.project.work();
    assert.match(stdout, /going on with its conversation/);
    const said =
      bench
        .asked("worker")
        .at(-1)
        ?.conversation.said.map(({ text }) => text) ?? [];
    for (const words of [/I was here before\./, /WRITTEN 2/])
      assert(
        said.some((text) => words.test(text)),
        said.join("\n"),
      );
    assert.equal(bench.project.record("governed").status, "review", stdout);
  });
});
