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
}

async function run(t: { after(end: () => void): void }): Promise<Run> {
  const files = governedFiles();
  t.after(() => files.remove());
  const governor = await governorOfRun("opencode", { ...files, phase: "implementing" });
  const facts = () => readFileSync(files.facts, "utf8").trim().split("\n");
  return {
    governor,
    recorded: () =>
      Object.fromEntries(
        facts().flatMap((line) => {
          const { type, checkpoint } = JSON.parse(line);
          return type === "checkpoint" ? [[checkpoint.id, checkpoint.filesModified]] : [];
        }),
      ),
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
