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

  it("finds an id for a title without Latin letters", async () => {
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
    const criteria = ["--stdin", "--id", "criteria", "--todos-from", "acceptance criteria"];
    assert.equal((await made(criteria, body)).todos, 1);
    assert.equal((await made(["--stdin", "--id", "designed", "--todos-from", "none"], body)).todos, 0);
    assert.equal(parsePlan(textOf("designed")).problems.length, 1);
  });

  it("asks where the TODOs of an issue are when it is not clear, and starts nothing that is done", async () => {
    const unclear = await repository.run(["new", "--stdin"], { input: "## Goals\n- [ ] a\n\n## Tasks\n- [ ] b\n" });
    assert.equal(unclear.code, 2);
    assert.match(
      unclear.stderr,
      /below "Goals", "Tasks"\. \[usage\]\n {2}hint: Type one of: --todos-from "Goals", --todos-from "Tasks"/,
    );
    const wrong = await repository.run(["new", "--stdin", "--todos-from", "Chores"], { input: "## Goals\n- [ ] a\n" });
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /below a heading "Chores"\. \[usage\]\n {2}hint: Type one of: --todos-from "Goals"/);
    const ticked = await repository.run(["new", "--stdin"], { input: "## Tasks\n- [x] b\n" });
    assert.equal(ticked.code, 1);
    assert.match(ticked.stderr, /Every task below "Tasks" is ticked/);
    const titled = await repository.run(["new", "x", "--todos-from", "Tasks"]);
    assert.equal(titled.code, 2);
  });

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
