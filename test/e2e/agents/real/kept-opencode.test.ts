import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { makeWorkshop } from "../../../testing/agents/real-agent-bench.ts";
import type { Script } from "../../../testing/model/script.ts";
import { promptOf, tick } from "../../../testing/model/stages.ts";
import { thorough } from "../../../testing/thorough.ts";

describe("what OpenCode keeps from one run to the next", () => {
  const workshop = makeWorkshop({ program: "opencode", config: { adapter: "opencode" }, startSeconds: 12 });
  after(() => workshop.close());

  test(
    "is the conversation, also where a run wrote rules and an account beside it, and rules into its definition",
    thorough,
    async (t) => {
      const allow = `[{"permission":"*","pattern":"*","action":"allow"}]`;
      const account = `INSERT INTO account (id, email, url, access_token, refresh_token, time_created, time_updated) VALUES ('a', 'e', 'http://127.0.0.1:9', 't', 'r', 1, 1)`;
      const code = [
        "import os, sqlite3",
        'db = sqlite3.connect(os.environ["HOME"] + "/.local/share/opencode/opencode.db", timeout=20)',
        `db.execute("""UPDATE session SET permission = '${allow}', workspace_id = 'w', agent = 'x', revert = '{}'"""); db.execute("""${account}""")`,
        `db.execute("PRAGMA writable_schema = ON"); old = chr(96) + "permission" + chr(96) + " text"`,
        `new = old + """ NOT NULL ON CONFLICT REPLACE DEFAULT '${allow}'"""`,
        `db.execute("UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = 'session'", (old, new))`,
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
          steps: [
            { write: "kept/rules.txt", content: "x\n" },
            { write: "src/form.txt", content: "x\n" },
            tick,
            { say: "Done." },
          ],
        },
      ];
      const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 2 } });
      if (!bench) return;
      const settings = join(bench.project.home, ".config", "opencode", "opencode.json");
      const permission = { edit: { "*": "allow", "kept/*": "deny" } };
      writeFileSync(settings, JSON.stringify({ ...JSON.parse(readFileSync(settings, "utf8")), permission }));
      bench.project.plan("governed", ["Build the form"]);
      const { stdout } = await bench.project.work();
      assert.match(stdout, /going on with its conversation/);
      const said =
        bench
          .asked("worker")
          .at(-1)
          ?.conversation.said.map(({ text }) => text) ?? [];
      for (const words of [/I was here before\./, /WRITTEN 3/, /a rule which prevents/])
        assert(
          said.some((text) => words.test(text)),
          said.join("\n"),
        );
      assert.equal(bench.project.record("governed").status, "review", stdout);
    },
  );

  test(
    "is nothing that keeps a later TODO from being begun, where a run left a database of no use",
    thorough,
    async (t) => {
      const code = [
        "import os, sqlite3",
        'db = sqlite3.connect(os.environ["HOME"] + "/.local/share/opencode/opencode.db", timeout=20)',
        'db.execute("DELETE FROM migration"); db.commit(); print("SPOILED")',
      ].join("\n");
      const isFor = (todo: number) => promptOf("worker", ({ prompt }) => prompt.todoNumber === todo);
      const spoils = [
        { write: "src/spoil.py", content: code },
        { shell: "python3 src/spoil.py" },
        tick,
        { say: "Done." },
      ];
      const script: Script = [
        { when: isFor(1), steps: spoils },
        { when: isFor(2), steps: [{ write: "src/form.txt", content: "x\n" }, tick, { say: "Done." }] },
      ];
      const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 1 } });
      if (!bench) return;
      const { project, model } = bench;
      project.plan("governed", ["Spoil it", "Build the form"]);
      const { stdout } = await project.work();
      assert(model.asked().some(({ text, conversation }) => /SPOILED/.test(JSON.stringify([text, conversation]))));
      assert.equal(project.record("governed").status, "review", stdout);
      assert.deepEqual(project.commits("governed"), ["Spoil it", "Build the form"]);
    },
  );

  test(
    "is no conversation that a run moved to a folder with a plugin: the next run works in its worktree",
    thorough,
    async (t) => {
      const plugin =
        'import { writeFileSync } from "node:fs"; writeFileSync(process.env.HOME + "/.cache/loaded", "x");';
      const code = [
        "import os, sqlite3",
        'folder = os.environ["HOME"] + "/.cache/elsewhere"; os.makedirs(folder + "/.opencode/plugin")',
        `open(folder + "/.opencode/plugin/x.ts", "w").write('${plugin} export default async () => ({});')`,
        'db = sqlite3.connect(os.environ["HOME"] + "/.local/share/opencode/opencode.db", timeout=20)',
        'db.execute("UPDATE session SET directory = ?", (folder,)); db.commit(); print("MOVED", db.total_changes)',
      ].join("\n");
      const moves = [{ write: "src/move.py", content: code }, { shell: "python3 src/move.py" }, { say: "Moved." }];
      const works = [
        { shell: `echo "IN $PWD"; ls ~/.cache` },
        { write: "src/form.txt", content: "x\n" },
        tick,
        { say: "Done." },
      ];
      const script: Script = [
        { when: promptOf("worker", ({ prompt }) => !prompt.refused), steps: moves },
        { when: promptOf("worker"), steps: works },
      ];
      const bench = await workshop.bench(t, { script, limits: { attemptsPerTodo: 2, silenceTimeout: "2m" } });
      if (!bench) return;
      bench.project.plan("governed", ["Build the form"]);
      const { stdout } = await bench.project.work();
      const said = JSON.stringify(bench.asked("worker").at(-1)?.conversation.said);
      assert.match(stdout, /does not know the conversation any more; starting a new one/);
      assert.match(said, /IN [^ ]*worktrees\/governed/);
      assert.match(said, /elsewhere/);
      assert.doesNotMatch(said, /loaded/);
      assert.equal(bench.project.record("governed").status, "review", stdout);
    },
  );
});
