import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import fc from "fast-check";
import { planTextFor } from "../../../src/cli/changing/plan-text.ts";
import { PrloomError } from "../../../src/kernel/errors.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import { samples } from "../../testing/sample.ts";
import { thorough } from "../../testing/thorough.ts";
import { testRepository } from "../fixture.ts";

const repository = testRepository();
after(() => repository.close());
const inbox = join(repository.root, "prloom", ".local", "inbox");
const textOf = (id: string) => readFileSync(join(inbox, `${id}.md`), "utf8");

async function made(args: readonly string[], input?: string) {
  const { code, stdout, stderr } = await repository.run(
    ["new", ...args, "--json"],
    input === undefined ? {} : { input },
  );
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as { plan: string; status: string; todos: number };
}

describe("new", { concurrency: 2 }, () => {
  it("makes a draft out of a title, with no record beside it", async () => {
    assert.equal((await made(["Add", "a", "login", "page"])).plan, "add-a-login-page");
    assert.equal(parsePlan(textOf("add-a-login-page")).title, "Add a login page");
    assert.ok(!existsSync(join(inbox, "add-a-login-page.json")));
  });

  it("takes no file whose letters it would lose", async () => {
    const file = join(repository.root, "latin1.md");
    writeFileSync(file, Buffer.from("# Déjà vu\n", "latin1"));
    const { code, stderr } = await repository.run(["new", "--file", file]);
    assert.equal(code, 2);
    assert.match(stderr, /latin1\.md is not text in UTF-8: save it as that/);
  });

  it("opens the editor when it is told nothing, and makes nothing of what was not written", async () => {
    const editor = (command: string) => ({ env: { EDITOR: command } });
    const write = `f() { printf '# From the editor\\n\\n## TODO\\n\\n- [ ] one\\n' > "$1"; }; f`;
    const { code, stdout } = await repository.run(["new", "--queue"], editor(write));
    assert.equal(code, 0);
    assert.match(stdout, /^from-the-editor {2}From the editor {2}\(queued\)\n.*\n {2}1 TODO$/m);
    for (const nothing of ["true", `f() { : > "$1"; }; f`]) {
      const none = await repository.run(["new"], editor(nothing));
      assert.deepEqual([none.code, none.stdout], [0, "No plan was made: nothing was written.\n"]);
    }
    const untitled = await repository.run(["new"], editor(`f() { echo 'just words' > "$1"; }; f`));
    assert.equal(untitled.code, 1);
    const kept = /Your version is in (\S+) \[plan-invalid\]\n {2}hint: Type: prloom new "what to do" --file (\S+)/.exec(
      untitled.stderr,
    );
    assert.ok(kept && kept[1] === kept[2], untitled.stderr);
    assert.equal(readFileSync(kept[1] ?? "", "utf8"), "just words\n");
    assert.equal((await repository.run(["new"])).code, 2, "without an editor it is called wrongly");
  });

  it("notes an order that cannot be, with what to type", async () => {
    const input =
      "# Circular\n\nafter: loop-one\n\n## TODO\n\n- [ ] a\n  after: 9\n- [ ] b\n  after: 3\n- [ ] c\n  after: 2\n";
    const { stdout } = await repository.run(["new", "--stdin"], { input });
    assert.match(stdout, /^ {2}note: TODO 1 is after TODO 9, and there is no TODO 9\.$/m);
    assert.match(stdout, /^ {2}note: TODO 3 waits for itself/m);
    assert.match(stdout, /^ {2}note: "after: loop-one" has no effect outside of a TODO\. .* `## Depends on`\.$/m);
    assert.match(stdout, /^ {2}hint: `prloom edit circular` changes its text\.$/m);
  });

  it("warns of plans that wait for each other, and says where", thorough, async () => {
    await made(["Loop one", "--depends-on", "loop-two"]);
    const { stdout } = await repository.run(["new", "Loop two", "--depends-on", "loop-one"]);
    assert.match(
      stdout,
      /^ {2}warning: it waits for itself: loop-two → loop-one → loop-two; prloom\/\.local\/inbox\/loop-two\.json has its `dependsOn`\.$/m,
    );
    const self = await repository.run(["new", "--stdin"], { input: "# Selfish\n\n## Depends on\n\n- selfish\n" });
    assert.match(
      self.stdout,
      /^ {2}warning: it waits for itself: selfish → selfish; `prloom edit selfish` changes its `## Depends on`\.$/m,
    );
  });

  it("is shown with metadata that has no effect because of how it is written", thorough, async () => {
    await made(["Slips", "--queue"]);
    const metadata = { gate: true, depends_on: ["x"], Limit: {}, tracker_key: "T-1", agentic: true };
    writeFileSync(join(inbox, "slips.json"), JSON.stringify({ status: "queued", metadata }));
    const { problems } = JSON.parse((await repository.run(["show", "slips", "--json"])).stdout);
    assert.deepEqual(problems, [
      "The plan's metadata.gate has no effect; did you mean metadata.gates?",
      "The plan's metadata.depends_on has no effect; did you mean metadata.dependsOn?",
      "The plan's metadata.Limit has no effect; did you mean metadata.limits?",
    ]);
  });

  it("writes what it is told about the plan into the record", async () => {
    const result = await made([
      "Wishes",
      "--queue",
      "--agent",
      "test",
      "--model",
      "m",
      "--branch",
      "feature/x",
      "--depends-on",
      "a",
      "--depends-on",
      "b",
    ]);
    assert.equal(result.status, "queued");
    assert.deepEqual(JSON.parse(readFileSync(join(inbox, "wishes.json"), "utf8")), {
      status: "queued",
      metadata: { agent: "test", model: "m", branch: "feature/x", dependsOn: ["a", "b"] },
    });
  });

  it("refuses a branch that exists, and warns of a plan that does not", async () => {
    const taken = await repository.run(["new", "x", "--branch", "main"]);
    assert.equal(taken.code, 1);
    assert.match(taken.stderr, /\[branch-exists\]\n {2}hint: Choose another `--branch`/);
    await made(["x", "--id", "database"]);
    const { stdout } = await repository.run(["new", "Waits", "--depends-on", "databse", "--depends-on", "database"]);
    assert.match(stdout, /warning: it waits for "databse", .* Did you mean `database`\?$/m);
    assert.doesNotMatch(stdout, /waits for "database"/);
    assert.match(
      stdout,
      /^ {2}warning: it starts only when .*; prloom\/\.local\/inbox\/waits\.json has its `dependsOn`\.$/m,
    );
    const short = await repository.run(["new", "Waits too", "--depends-on", "datab", "--depends-on", "database,x"]);
    assert.match(short.stdout, /it waits for "datab", .* Did you mean `database`\?$/m);
    assert.match(short.stdout, /it waits for "database,x", .* Name each one by itself: `--depends-on <plan> --dep/);
  });

  it("makes TODOs, also of odd texts", async () => {
    const texts = ["first", "- [x] not ticked", "## not a heading", "two lines\nwith context"];
    const result = await made(["Todos", ...texts.flatMap((text) => ["--todo", text])]);
    assert.equal(result.todos, texts.length);
    const { todos } = parsePlan(textOf("todos"));
    assert.deepEqual(
      todos.map(({ state }) => state),
      texts.map(() => "open"),
    );
    assert.equal(todos[3]?.context.trim(), "with context");
  });

  it("gives the second plan of a title another id", async () => {
    assert.equal((await made(["Twice"])).plan, "twice");
    assert.equal((await made(["Twice"])).plan, "twice-2");
  });

  it("finds an id for a title without Latin letters", thorough, async () => {
    assert.match((await made(["日本語のタイトル"])).plan, /^plan(-\d+)?$/);
  });

  it("cannot be led out of the inbox by a title", async () => {
    assert.equal((await made(["../../etc"])).plan, "etc");
    assert.deepEqual(
      readdirSync(inbox).filter((name) => name.startsWith("etc")),
      ["etc.md"],
    );
  });

  for (const id of ["../../etc", "Upper", ""]) {
    it(`refuses the id ${JSON.stringify(id.slice(0, 20))}`, async () => {
      const { code, stderr } = await repository.run(["new", "x", "--id", id]);
      assert.equal(code, 2);
      assert.match(stderr, /\[id-invalid\]/);
    });
  }

  it("refuses an id that is taken, in the inbox or by a plan that has left it", thorough, async () => {
    await made(["x", "--id", "taken"]);
    mkdirSync(join(repository.root, ".git", "prloom", "plans", "gone"), { recursive: true });
    for (const id of ["taken", "gone"]) {
      const { code, stderr } = await repository.run(["new", "x", "--id", id]);
      assert.equal(code, 1);
      assert.match(stderr, /\[id-taken\]/);
    }
  });

  it("takes the text from a file or from standard input, byte for byte", async () => {
    const text = "# From elsewhere\r\n\r\n## TODO\r\n\r\n- [ ] one\r\n";
    const file = join(repository.root, "given.md");
    writeFileSync(file, text);
    assert.equal((await made(["--file", file])).plan, "from-elsewhere");
    assert.equal(textOf("from-elsewhere"), text);
    await made(["--stdin", "--id", "piped"], text);
    assert.equal(textOf("piped"), text);
    const { code } = await repository.run(["new", "--stdin"], { input: "  \n" });
    assert.equal(code, 1);
  });

  it("finds the TODOs of an issue, and tells where and what it left out", async () => {
    const file = join(repository.root, "My Feature Request.md");
    const body =
      "It is slow.\n\n### Tasks\n- [ ] Cache it\n- [x] Measure it\n\n### Acceptance criteria\n- [ ] Under 100 ms\n";
    writeFileSync(file, body);
    const { stdout } = await repository.run(["new", "--file", file]);
    assert.match(stdout, /^my-feature-request {2}My Feature Request/);
    assert.match(
      stdout,
      /^ {2}2 TODOs from what stands below "Tasks"\n {2}left out: 1 below "Acceptance criteria": conditions$/m,
    );
    assert.deepEqual(
      parsePlan(textOf("my-feature-request")).todos.map(({ text, state }) => [text, state]),
      [
        ["Cache it", "open"],
        ["Measure it", "done"],
      ],
    );
    const greeting = "Hi everyone\n\nIt is slow.\n\n### Tasks\n- [ ] Cache it\n  paths: src/**\n";
    writeFileSync(file, greeting);
    const greeted = await repository.run(["new", "--file", file]);
    assert.match(
      greeted.stdout,
      /^my-feature-request-2 {2}My Feature Request/,
      "the file says more than its first line",
    );
    assert.match(textOf("my-feature-request-2"), /^Hi everyone$/m);
    assert.match(greeted.stdout, /^ {2}note: TODO 1 says "paths: src\/\*\*", which has no effect: /m);
    const plain = join(repository.root, "issue.md");
    writeFileSync(plain, "Users cannot log out\n\nIt is slow.\n");
    assert.equal((await made(["--file", plain])).plan, "users-cannot-log-out");
    const tasklist = "It is slow.\n\n```[tasklist]\n### Tasks\n- [ ] Cache it\n```\n";
    assert.equal((await made(["--stdin", "--id", "tasklist"], tasklist)).todos, 1);
    const criteria = ["--stdin", "--id", "criteria", "--todos-from", "acceptance criteria"];
    assert.equal((await made(criteria, body)).todos, 1);
    assert.equal((await made(["--stdin", "--id", "designed", "--todos-from", "none"], body)).todos, 0);
    assert.equal(parsePlan(textOf("designed")).problems.length, 1);
  });

  it(
    "asks where the TODOs of an issue are when it is not clear, and starts nothing that is done",
    thorough,
    async () => {
      const unclear = await repository.run(["new", "--stdin"], { input: "## Goals\n- [ ] a\n\n## Tasks\n- [ ] b\n" });
      assert.equal(unclear.code, 2);
      assert.match(
        unclear.stderr,
        /below "Goals", "Tasks"\. \[usage\]\n {2}hint: Type one of: --todos-from "Goals", --todos-from "Tasks"/,
      );
      const both = ["--stdin", "--id", "both", "--todos-from", "Goals", "--todos-from", "Tasks"];
      assert.equal((await made(both, "## Goals\n- [ ] a\n\n## Tasks\n- [ ] b\n")).todos, 2);
      const near = await repository.run(["new", "--stdin", "--todos-from", "Proposed fixx"], {
        input: "## Proposed fix\n1. a\n",
      });
      assert.match(
        near.stderr,
        /hint: Did you mean --todos-from "Proposed fix"\? Type one of: --todos-from "Proposed fix"/,
      );
      const wrong = await repository.run(["new", "--stdin", "--todos-from", "Chores"], {
        input: "## Goals\n- [ ] a\n",
      });
      assert.equal(wrong.code, 2);
      assert.match(wrong.stderr, /below a heading "Chores"\. \[usage\]\n {2}hint: Type one of: --todos-from "Goals"/);
      const ticked = await repository.run(["new", "--stdin"], { input: "## Tasks\n- [x] b\n" });
      assert.equal(ticked.code, 1);
      assert.match(ticked.stderr, /Every task below "Tasks" is ticked/);
      const titled = await repository.run(["new", "x", "--todos-from", "Tasks"]);
      assert.equal(titled.code, 2);
    },
  );

  it("reads back what was given, or refuses it", thorough, () => {
    const words = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("```", "<!--", "# a", "- [x] b", "---", "1. c", "    d"),
    );
    fc.assert(
      fc.property(words, fc.array(words, { maxLength: 4 }), (title, todos) => {
        let text: string;
        try {
          text = planTextFor({ title, todos });
        } catch (error) {
          assert.ok(error instanceof PrloomError);
          return;
        }
        const doc = parsePlan(text);
        assert.equal(doc.todos.length, todos.length);
        assert.ok(doc.title);
      }),
      { numRuns: samples(300) },
    );
  });
});
