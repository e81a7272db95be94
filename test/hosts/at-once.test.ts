import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Governor } from "../../src/hosts/governor.ts";
import { governorOfRun } from "../../src/hosts/run-governance.ts";
import { governedFiles } from "./run.ts";

interface Run {
  readonly governor: Governor;
  /** The files of each call's checkpoint, by its id. */
  recorded(): Record<string, readonly string[]>;
  /** Those of a type, as they are written down. */
  // biome-ignore lint/suspicious/noExplicitAny: each has fields of its own
  facts(type: string): any[];
}

async function run(t: { after(end: () => void): void }): Promise<Run> {
  const files = governedFiles();
  t.after(() => files.remove());
  const governor = await governorOfRun("opencode", { ...files, phase: "implementing" });
  const lines = () => readFileSync(files.facts, "utf8").trim().split("\n");
  const facts = (type: string) => lines().flatMap((line) => (JSON.parse(line).type === type ? [JSON.parse(line)] : []));
  return {
    governor,
    facts,
    recorded: () =>
      Object.fromEntries(facts("checkpoint").map(({ checkpoint }) => [checkpoint.id, checkpoint.filesModified])),
  };
}

const write = (id: string, filePath: string, session = "own") => ({
  ...{ id, session, tool: "write" },
  input: { filePath, content: "x" },
});
const shell = (id: string, command: string) => ({ id, session: "own", tool: "bash", input: { command } });
const task = (id: string, subagent_type: string, session: string) => ({
  ...{ id, session, tool: "task" },
  input: { subagent_type, prompt: "Do it." },
});

test("calls that are made at once have their own files each, however late they are looked at", async (t) => {
  const { governor, recorded } = await run(t);
  const calls = [
    write("a", "src/a.ts"),
    shell("make", "make all"),
    write("b", "src/b.ts"),
    write("late", "src/late.ts"),
  ];
  for (const call of calls) assert.deepEqual(await governor.before(call), { allow: true, note: undefined });
  // The first look finds what all of them did; two of these have not even ended.
  const looks = [["src/a.ts", "src/b.ts", "dist/made.js", "src/late.ts"], ["src/late.ts"], [], []];
  for (const [at, call] of calls.entries()) await governor.after(call, { ok: true, files: looks[at] ?? [] });
  assert.deepEqual(recorded(), {
    a: ["src/a.ts"],
    make: ["dist/made.js"],
    b: ["src/b.ts"],
    late: ["src/late.ts"],
  });
});

test("a call that is made alone has all that is other than before, whatever it named", async (t) => {
  const { governor, recorded } = await run(t);
  const [alone, failing, next] = [write("alone", "src/a.ts"), write("failing", "src/b.ts"), shell("next", "make all")];
  await governor.before(alone);
  await governor.after(alone, { ok: true, files: ["src/a.ts", "src/formatted.ts"] });
  await governor.before(failing);
  await governor.failed(failing);
  await governor.before(next);
  await governor.after(next, { ok: true, files: ["src/b.ts"] });
  assert.deepEqual(recorded(), { alone: ["src/a.ts", "src/formatted.ts"], next: ["src/b.ts"] });
});

test("sub-agents that are at work at once, and whose provider numbers the calls of each alike, have their own evidence", async (t) => {
  const { governor, facts } = await run(t);
  for (const [child, id] of [
    ["one", "first"],
    ["two", "second"],
  ] as const) {
    await governor.before(task(id, "general", "own"));
    await governor.childStarted(child, "own", id);
  }
  const [one, two] = [write("call_0", "src/one.ts", "one"), { ...shell("call_0", "make all"), session: "two" }];
  for (const call of [one, two]) await governor.before(call);
  await governor.after(one, { ok: true, files: ["src/one.ts"] });
  await governor.after(two, { ok: false, files: ["dist/two.js"] });
  assert.deepEqual(
    facts("checkpoint").map(({ session, checkpoint: { tool, filesModified, ok } }) => [
      session,
      tool,
      filesModified,
      ok,
    ]),
    [
      ["one", "write", ["src/one.ts"], true],
      ["two", "bash", ["dist/two.js"], false],
    ],
  );
});

test("work that is handed over by calls with the same id, in turn and by a sub-agent, is recorded and recalled each", async (t) => {
  const { governor, facts } = await run(t);
  await governor.before(task("call_0", "general", "own"));
  await governor.childStarted("first", "own", "call_0");
  await governor.after(task("call_0", "general", "own"), { ok: true, files: [], said: "Done." });
  await governor.before(task("call_0", "general", "own"));
  await governor.childStarted("second", "own", "call_0");
  await governor.before(task("call_0", "deep", "second"));
  await governor.childStarted("third", "second", "call_0");
  assert.deepEqual(
    facts("delegated").map(({ delegation: { parentSession, session } }) => [parentSession, session]),
    [
      ["own", "first"],
      ["own", "second"],
      ["second", "third"],
    ],
  );
  const recall = { action: "recall", delegation: "todo", reason: "Not now." };
  const answer = await governor.govern({ id: "call_1", session: "own", tool: "govern_delegate", input: recall });
  assert("ends" in answer && answer.ends === "second");
});

test("what a session plans is there, also where two of its calls have the same id", async (t) => {
  const { governor } = await run(t);
  for (const name of ["Look at a.ts", "Look at b.ts"]) {
    const input = { action: "assign", to: "investigator", name, expectedOutput: "what is there" };
    const call = { id: "call_0", session: "own", tool: "govern_delegate", input };
    assert((await governor.before(call)).allow);
    await governor.govern(call);
    await governor.after(call, { ok: true, files: [] });
  }
  const status = { id: "s", session: "own", tool: "govern_task", input: { action: "status" } };
  const answer = await governor.govern(status);
  assert("text" in answer);
  for (const name of ["Look at a.ts", "Look at b.ts"]) assert(answer.text.includes(name), answer.text);
});

test("a sub-agent that starts while its parent is recalled has no task", async (t) => {
  const { governor } = await run(t);
  await governor.before(task("parent", "general", "own"));
  await governor.childStarted("child", "own");
  for (const id of ["before", "meanwhile"]) await governor.before(task(id, "deep", "child"));
  const meanwhile = governor.childStarted("meanwhile", "child", "meanwhile");
  const recall = { action: "recall", delegation: "parent", reason: "Not now." };
  const answer = await governor.govern({ id: "recall", session: "own", tool: "govern_delegate", input: recall });
  assert("ends" in answer && answer.ends === "child");
  const started = [await meanwhile, await governor.childStarted("after", "child", "before")];
  assert.deepEqual(
    started.map(({ node }) => node),
    [null, null],
  );
  for (const session of ["child", "meanwhile", "after"]) {
    const verdict = await governor.before(write(`by-${session}`, "src/a.ts", session));
    assert.match(verdict.allow ? "allowed" : verdict.text, /no task is started/, session);
  }
});
