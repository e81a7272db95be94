import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Conversation, type Said, turnsOf } from "../testing/model/conversation.ts";
import { promptNames } from "../testing/model/prompt-names.ts";
import { chooseStep, placeOf, type Rule, type Script, type Turn } from "../testing/model/script.ts";
import { folderOf, mapTool } from "../testing/model/tools.ts";

function conversation(said: readonly Said[], tools: readonly string[] = [], system = ""): Conversation {
  const offered = tools.map((name) => ({ name, freeform: false, parameters: [] }));
  return { model: "m", system, said, tools: offered, stream: false };
}

const user = (text: string): Said => ({ role: "user", text });
const assistant = (text = ""): Said => ({ role: "assistant", text });
const tool = (text: string): Said => ({ role: "tool", text });
const turn = (answers: number): Turn => ({ text: "go", answers, results: [], prompt: promptNames("go"), tools: [] });

describe("where a conversation stands", () => {
  test("answers and results count from the user's newest words; newest first", () => {
    const said = [user("one"), assistant(), tool("r1"), assistant("done"), user("two"), assistant(), tool("r2")];
    const turns = turnsOf(conversation(said, ["bash"]));
    assert.deepEqual(
      turns.map(({ text, answers, results, tools }) => ({ text, answers, results, tools })),
      [
        { text: "two", answers: 1, results: ["r2"], tools: ["bash"] },
        { text: "one", answers: 3, results: ["r1", "r2"], tools: ["bash"] },
      ],
    );
  });

  test("one answer of several items is one answer", () => {
    const said = [user("one"), assistant("text"), assistant(), assistant(), tool("a"), tool("b"), assistant()];
    assert.equal(turnsOf(conversation(said))[0]?.answers, 2);
  });

  test("what a program adds to the user's words by itself is not the user's", () => {
    const added = "<system-reminder>\nDo not forget.\n</system-reminder>";
    const said = [
      user("<environment_context>here</environment_context>"),
      user(`${added}\n go `),
      assistant(),
      user(added),
    ];
    assert.deepEqual(
      turnsOf(conversation(said)).map(({ text, answers }) => [text, answers]),
      [["go", 1]],
    );
  });

  test("the newest words that a rule fits count, and of the rules the first", () => {
    const script: Script = [
      { when: /alpha/, steps: [] },
      { when: /al/, steps: [] },
      { when: /beta/g, steps: [] },
    ];
    const place = (...texts: string[]) => {
      const found = placeOf(script, turnsOf(conversation(texts.map(user))));
      return found && [found.rule, found.turn.text];
    };
    assert.deepEqual(place("beta", "alpha"), [0, "alpha"]);
    assert.deepEqual(place("alpha", "beta"), [2, "beta"]);
    assert.deepEqual(place("alpha", "beta"), [2, "beta"], "a rule with the flag g has no memory");
    assert.deepEqual(place("also", "and hurry"), [1, "also"]);
    assert.equal(place("nothing"), undefined);
    const byTurn: Script = [{ when: ({ text }) => text === "x", steps: [] }];
    assert.equal(placeOf(byTurn, turnsOf(conversation([user("x"), user("y")])))?.turn.text, "x");
    assert.deepEqual(placeOf([{ steps: [] }], turnsOf(conversation([user("x"), user("y")])))?.turn.text, "y");
  });
});

describe("the step that is taken", () => {
  const choose = (rule: Rule, answers: number, met: Record<number, number> = {}) =>
    chooseStep(rule, turn(answers), (position) => met[position] ?? 0);

  test("one after another, and the last repeats", () => {
    const rule = { steps: [{ say: "a" }, { say: "b" }] };
    const said = [0, 1, 2, 9].map((answers) => choose(rule, answers).answer);
    assert.deepEqual(said, [{ say: "a" }, { say: "b" }, { say: "b" }, { say: "b" }]);
    assert.deepEqual(choose({ steps: [] }, 0).answer, { say: "Done." });
  });

  test("a fault takes no turn, stands before its answer, and ends after its times", () => {
    const rule: Rule = { steps: [{ say: "a" }, { fail: 429, times: 2 }, { drop: true, times: 1 }, { say: "b" }] };
    assert.deepEqual(choose(rule, 0), { answer: { say: "a" }, position: 0 });
    const first = choose(rule, 1);
    assert.deepEqual([first.fault, first.position, first.answer], [{ fail: 429, times: 2 }, 1, { say: "b" }]);
    assert.deepEqual(choose(rule, 1, { 1: 1 }).position, 1);
    assert.deepEqual(choose(rule, 1, { 1: 2 }).fault, { drop: true, times: 1 });
    assert.deepEqual(choose(rule, 1, { 1: 2, 2: 1 }), { answer: { say: "b" }, position: 3 });
    assert.equal(choose(rule, 5).fault, undefined, "what comes later has passed it");
  });

  test("a fault without times is forever, also at the end", () => {
    const rule: Rule = { steps: [{ say: "a" }, { fail: 401 }] };
    assert.equal(choose(rule, 0).fault, undefined);
    assert.deepEqual(choose(rule, 1, { 1: 1000 }).fault, { fail: 401 });
  });

  test("a step may depend on the turn", () => {
    const rule: Rule = { steps: [({ text, answers }) => ({ say: `${text} ${answers}` })] };
    assert.deepEqual(
      [0, 3].map((answers) => choose(rule, answers).answer),
      [{ say: "go 0" }, { say: "go 3" }],
    );
  });
});

describe("tools under the names of the program that asks", () => {
  const named = (tools: readonly string[], use: Parameters<typeof mapTool>[0], system = "") =>
    mapTool(use, conversation([], tools, system));

  test("write, edit, read and shell", () => {
    const write = { write: "a.txt", content: "a\n" };
    const here = "Primary working directory: /w/x\n";
    assert.deepEqual(named(["Write"], write, here).args, { file_path: "/w/x/a.txt", content: "a\n" });
    assert.deepEqual(named(["write"], write).args, { filePath: "a.txt", content: "a\n" });
    assert.deepEqual(named(["write_file"], { write: "/b", content: "" }, here).args, { file_path: "/b", content: "" });
    assert.deepEqual(named(["exec_command"], { shell: "ls" }).args, { cmd: "ls" });
    assert.deepEqual(named(["shell"], { shell: "ls" }).args, { command: ["bash", "-lc", "ls"] });
    assert.equal(named(["Read", "Bash"], { read: "a" }).name, "Read");
    assert.deepEqual(named(["exec_command"], { read: "it's" }).args, { cmd: "cat 'it'\\''s'" });
    assert.equal(named(["edit"], { edit: "a", from: "x", to: "y" }).name, "edit");
    assert.deepEqual(named(["x"], { tool: "x", args: { n: 1 } }), { name: "x", args: { n: 1 }, freeform: false });
  });

  test("a patch where there is nothing that writes", () => {
    const text = "*** Begin Patch\n*** Add File: a.txt\n+a\n+\n+b\n*** End Patch\n";
    const use = { write: "a.txt", content: "a\n\nb\n" };
    const offering = (freeform: boolean, parameters: readonly string[]) =>
      mapTool(use, { ...conversation([]), tools: [{ name: "apply_patch", freeform, parameters }] });
    assert.deepEqual(offering(true, []), { name: "apply_patch", args: text, freeform: true });
    assert.deepEqual(offering(false, ["patchText"]).args, { patchText: text });
  });

  test("the folder that a program tells", () => {
    const told = (text: string) => folderOf(conversation([user(text)], [], ""));
    assert.equal(told("<cwd>/a/b</cwd>"), "/a/b");
    assert.equal(told("  Working directory: /a/b\n"), "/a/b");
    assert.equal(told("nothing"), undefined);
  });
});

test("what a prompt of prloom names", () => {
  const prompt = `You are the worker for the plan \`fix-it\`. You do one TODO, in the git worktree \`/r/wt\`, yours.
## Your TODO (number 2)
<<<TODO abc
Change \`docs/x.md\`
TODO abc>>>
In \`/r/wt/prloom/.local/plan.md\`: and \`/r/wt/prloom/.local/triage-result.json\``;
  assert.deepEqual(promptNames(prompt), {
    stage: "worker",
    planId: "fix-it",
    worktree: "/r/wt",
    planFile: "/r/wt/prloom/.local/plan.md",
    resultFile: "/r/wt/prloom/.local/triage-result.json",
    todo: "Change `docs/x.md`",
    todoNumber: 2,
    goesOn: false,
    refused: false,
  });
  const resumed = `You go on with your work as worker of the plan \`fix-it\`, in the git worktree \`/r/wt\`.
The last attempt was not accepted. What was missing:
Your TODO is still number 3 of the plan.
<<<TODO abc
Do it
TODO abc>>>`;
  const more = { stage: "worker", planId: "fix-it", worktree: "/r/wt", todoNumber: 3, todo: "Do it" };
  assert.deepEqual(promptNames(resumed), { ...more, goesOn: true, refused: true });
  assert.deepEqual(promptNames("Hello"), { goesOn: false, refused: false });
});
