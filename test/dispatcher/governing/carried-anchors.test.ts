import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { carriedAnchors } from "../../../src/dispatcher/governing/carried-anchors.ts";

const runs = mkdtempSync(join(tmpdir(), "prloom-runs-"));
after(() => rmSync(runs, { recursive: true }));

const anchor = (id: string) => ({
  ...{ id, content: id, priority: "high", entityType: "decision", createdAt: 1, modifiedAt: 1 },
});

/** A governed run with what it was given, and what its journal says. */
function run(number: number, stage: string, { given, said }: { given: string[]; said: string[] }): void {
  const dir = join(runs, String(number));
  for (const folder of ["governance", "agent"]) mkdirSync(join(dir, folder), { recursive: true });
  writeFileSync(join(dir, "run.json"), JSON.stringify({ stage, agent: "a", attempt: 1, startedAt: "" }));
  writeFileSync(join(dir, "governance", "anchors.json"), JSON.stringify(given.map(anchor)));
  const fact = (id: string) => ({ type: "anchored", key: id, at: 1, session: "s", role: stage, anchor: anchor(id) });
  const lines = [...said.map((id) => JSON.stringify(fact(id))), "{torn"];
  writeFileSync(join(dir, "agent", "facts.jsonl"), lines.join("\n"));
}

const carried = (number: number): string[] => carriedAnchors(join(runs, String(number)), 2).map(({ id }) => id);

test("anchors go on from run to run, over one that was not governed; a worker adds none", () => {
  assert.deepEqual(carried(1), []);
  run(1, "designer", { given: [], said: ["keep"] });
  assert.deepEqual(carried(2), ["keep"]);
  run(2, "worker", { given: ["keep"], said: ["forged"] });
  mkdirSync(join(runs, "3"));
  assert.deepEqual(carried(4), ["keep"]);
  run(4, "reviewer", { given: ["keep"], said: ["more"] });
  assert.deepEqual(carried(5), ["keep", "more"]);
});

test("of a journal that is flooded with lines that say nothing, so many are read as take no time", () => {
  run(5, "reviewer", { given: [], said: ["early"] });
  const file = join(runs, "5", "agent", "facts.jsonl");
  const late = readFileSync(file, "utf8").replaceAll("early", "late");
  appendFileSync(file, `${'\n"anchor'.repeat(20_000)}\n${late}`);
  assert.deepEqual(carried(6), ["early"]);
});
