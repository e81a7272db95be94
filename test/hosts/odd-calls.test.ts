import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { parseFact } from "../../src/governance/graph/facts.ts";
import type { Governor } from "../../src/hosts/governor.ts";
import { governorOfRun } from "../../src/hosts/run-governance.ts";
import { governedFiles } from "./run.ts";

async function governed(t: TestContext): Promise<{ governor: Governor; checkpoints(): string[] }> {
  const files = governedFiles({});
  t.after(() => files.remove());
  const checkpoints = () =>
    readFileSync(files.facts, "utf8")
      .split("\n")
      .flatMap((line) => {
        const parsed = line === "" ? undefined : parseFact(line);
        return parsed && "fact" in parsed && parsed.fact.type === "checkpoint" ? [parsed.fact.checkpoint.id] : [];
      });
  return { governor: await governorOfRun("opencode", { ...files, phase: "implementing" }), checkpoints };
}

const write = (id: string, session = "own") => ({
  ...{ id, session, tool: "write" },
  input: { filePath: "src/a.ts", content: "x" },
});

test("a call is on record whatever its id is: long, empty, or one that another call had", async (t) => {
  const { governor, checkpoints } = await governed(t);
  const long = "x".repeat(5000);
  for (const id of [long, `${long}y`, "", "call_0", "call_0"]) {
    assert.equal((await governor.before(write(id))).allow, true);
    await governor.after(write(id), { ok: true, files: ["src/a.ts"] });
  }
  assert.equal(new Set(checkpoints()).size, 5);
});

test("a sub-agent that a call with a long id started has its terms, and its result is on record", async (t) => {
  const { governor } = await governed(t);
  const id = "y".repeat(300);
  const start = { id, session: "own", tool: "task", input: { subagent_type: "general", prompt: "Do a part." } };
  assert.equal((await governor.before(start)).allow, true);
  assert.equal((await governor.childStarted("child", "own", id)).node, "todo");
  await governor.after(start, { ok: true, files: [], said: "It is done." });
  const told = await governor.govern({ id: "s", session: "own", tool: "govern_delegate", input: { action: "status" } });
  assert("text" in told);
  assert.match(told.text, /completed/);
});

test("arguments that are nested too deep are denied as that, also again and again", async (t) => {
  const { governor } = await governed(t);
  const nested = (depth: number): unknown => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);
  for (const depth of [6000, 200_000]) {
    const input = { filePath: "src/a.ts", content: "x", more: depth > 10_000 ? deep(depth) : nested(depth) };
    const verdicts = [];
    for (const id of ["1", "2", "3", "4", "5"])
      verdicts.push(await governor.before({ id: `${depth}-${id}`, session: "own", tool: "write", input }));
    const [first, last] = [verdicts[0], verdicts.at(-1)];
    // How deep is too deep is up to the stack; what is not is judged as any other call.
    if (depth === 6000 && first?.allow) continue;
    assert(first && !first.allow && last && !last.allow);
    assert.match(first.text, /nested too deep/);
    assert.equal(last.endsRun, true);
  }
});

function deep(depth: number): unknown {
  let value: unknown = [];
  for (let at = 0; at < depth; at += 1) value = [value];
  return value;
}

test("of a thousand sessions that are gone nothing is kept", async (t) => {
  const { governor } = await governed(t);
  for (let at = 0; at < 1000; at += 1) {
    const session = `s${at}`;
    const run = { id: `c${at}`, session, tool: "bash", input: { command: "mkdir -p build" } };
    await governor.before(run);
    await governor.after(run, { ok: true, files: [] });
    await governor.childStarted(`child-${session}`, session);
    for (const gone of [session, `child-${session}`]) governor.released(gone);
  }
  assert.equal(governor.sessions, 0);
  assert.equal((await governor.before(write("late", "child-s7"))).allow, false);
});
