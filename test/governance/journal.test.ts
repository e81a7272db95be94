import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { promisify } from "node:util";
import { Brain } from "../../src/governance/graph/brain.ts";
import { findNode } from "../../src/governance/graph/lookup.ts";
import { Journal } from "../../src/governance/journal.ts";
import { checkpoint, fact, move, nodes, plan, planned } from "./graph/facts.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function emptyFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "prloom-journal-"));
  folders.push(folder);
  return join(folder, "brain", "facts.jsonl");
}

describe("a journal", () => {
  test("says the same to the one who writes and to one who reads it later", async () => {
    const path = emptyFile();
    const one = new Journal(path, new Brain());
    for (const each of [plan("p"), nodes("p", planned("a")), move("a", "start")])
      assert.equal((await one.append(each)).kind, "applied");
    const other = new Journal(path, new Brain());
    await other.refresh();
    assert.deepEqual(other.brain.graph, one.brain.graph);
    await other.append(checkpoint("a", ["x"]));
    await one.refresh();
    assert.deepEqual(findNode(one.brain.graph, "a")?.node.artifacts, ["x"]);
  });

  test("goes on after a read that failed", async () => {
    const path = emptyFile();
    const journal = new Journal(path, new Brain());
    writeFileSync(dirname(path), "in the way");
    await assert.rejects(journal.refresh());
    rmSync(dirname(path));
    assert.equal((await journal.append(plan("p"))).kind, "applied");
  });

  test("in which two start the same task tells one of them so", async () => {
    const path = emptyFile();
    const [one, other] = [new Journal(path, new Brain()), new Journal(path, new Brain())];
    await one.append(plan("p"));
    await one.append(nodes("p", planned("a")));
    const starts = [one, other].map((journal, at) =>
      journal.append(fact("node_moved", { node: "a", move: "start", session: `s${at}` })),
    );
    const outcomes = (await Promise.all(starts)).map(({ kind }) => kind);
    assert.deepEqual(outcomes.sort(), ["applied", "refused"]);
  });

  test("with torn, foreign and forged lines loses none of the others, and names them", async () => {
    const path = emptyFile();
    const journal = new Journal(path, new Brain());
    await journal.append(plan("p"));
    appendFileSync(path, '{"type":"plan_made","key":"torn');
    assert.equal((await journal.append(nodes("p", planned("a")))).kind, "applied");
    appendFileSync(path, `nonsense\n{"type":"checkpoint"}\n${"x".repeat(300_000)}\n\n`);
    assert.equal((await journal.append(move("a", "start"))).kind, "applied");
    const again = new Journal(path, new Brain());
    await again.refresh();
    assert.deepEqual(again.brain.graph, journal.brain.graph);
    assert.deepEqual(
      again.problems.map(({ line, problem }) => [line, problem.slice(0, 14)]),
      [
        [2, "it is not JSON"],
        [4, "it is not JSON"],
        [5, "key: Invalid i"],
        [6, "it is longer t"],
      ],
    );
  });

  test("half of whose last character is there is read on when the rest is", async () => {
    const path = emptyFile();
    const journal = new Journal(path, new Brain());
    await journal.append(plan("p"));
    const line = Buffer.from(`${JSON.stringify(nodes("p", planned("a", { name: "Über" })))}\n`);
    const half = line.indexOf(Buffer.from("Ü")) + 1;
    appendFileSync(path, line.subarray(0, half));
    await journal.refresh();
    appendFileSync(path, line.subarray(half));
    await journal.refresh();
    assert.equal(findNode(journal.brain.graph, "a")?.node.name, "Über");
  });

  test("that is too long is read to its limit and takes nothing more", async () => {
    const path = emptyFile();
    const journal = new Journal(path, new Brain());
    await journal.append(plan("p"));
    writeFileSync(path, readFileSync(path, "utf8") + "\n".repeat(64 * 1024 ** 2));
    const outcome = await journal.append(nodes("p", planned("a")));
    assert.match(outcome.kind === "refused" ? outcome.refusal.reason : "", /takes no more facts/);
  });

  test("of several processes has every line of each, and no two plans of one id", async () => {
    const path = emptyFile();
    const journal = new Journal(path, new Brain());
    await journal.append(plan("p"));
    await journal.append(nodes("p", planned("a")));
    await journal.append(move("a", "start"));
    const script = `
      const { Journal } = await import(${JSON.stringify(new URL("../../src/governance/journal.ts", import.meta.url).href)});
      const { Brain } = await import(${JSON.stringify(new URL("../../src/governance/graph/brain.ts", import.meta.url).href)});
      const { systemIds } = await import(${JSON.stringify(new URL("../../src/kernel/ids.ts", import.meta.url).href)});
      const [path, name] = process.argv.slice(1);
      const journal = new Journal(path, new Brain());
      for (let at = 0; at < 50; at += 1) {
        const checkpoint = { id: name + at, taskNodeId: "a", tool: "write", timestamp: at, summary: "x", filesModified: [name + at], kind: "change", ok: true };
        const common = { at, session: name, role: "executor" };
        await journal.append({ type: "checkpoint", key: name + at, ...common, checkpoint });
        const made = { id: "wp-" + systemIds.ulid(0), name: name + at, acceptance: [], category: "chore", dependsOn: [], ownedBy: name };
        if (at < 10) await journal.append({ type: "plan_made", key: made.id, ...common, plan: made });
      }`;
    const start = (name: string) =>
      promisify(execFile)(process.execPath, ["--input-type=module", "-e", script, path, name]);
    await Promise.all(["one", "two", "three"].map(start));
    await journal.refresh();
    assert.equal(findNode(journal.brain.graph, "a")?.node.checkpoints.length, 150);
    assert.equal(journal.brain.graph.workPlans.length, 31, "ids that were made in the same millisecond differ");
    assert.deepEqual(journal.problems, []);
  });
});
