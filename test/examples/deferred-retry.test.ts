import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { until } from "../testing/agents/agent-scripts.ts";
import { finished } from "../testing/project.ts";
import { thorough } from "../testing/thorough.ts";
import { install } from "./installed.ts";

const answersIn = (thread: readonly { author: string; body: string }[]): string[] =>
  thread.filter(({ author }) => author === "prloom").map(({ body }) => body);

test("while the file is not there the comment waits, through restarts, and the status shows it", thorough, async () => {
  const project = install(["deferred-retry"]);
  after(() => project.remove());
  project.plan("wait", ["Write a thing"]);
  await project.untilIdle();
  await project.type("comment", "wait", "/ci");
  await project.untilIdle();
  await project.untilIdle();
  assert.deepEqual(answersIn(await project.thread("wait")), []);
  assert.equal(project.record("wait").runs, 1, "triage does not take it meanwhile");
  assert.equal((await project.status()).deferred?.count, 1);
  assert.match((await project.type("status")).stdout, /deferred: 1 record/);
});

test("it is answered when the file comes", async () => {
  const project = install(["deferred-retry"], { configs: { ciStatus: { retryMs: 100 } } });
  after(() => project.remove());
  project.plan("wait", ["Write a thing"]);
  await project.untilIdle();
  await project.type("comment", "wait", "/ci");
  const start = project.spawnCli(["start", "--until-idle"]);
  const ended = finished(start);
  const bus = join(project.authority, "plans", "wait", "bus");
  // Asked again and again, and never counted as a failure.
  await until(bus, () => settledLines(bus, "deferred") >= 12);
  writeFileSync(join(project.root, "ci-status.json"), JSON.stringify({ status: "green" }));
  const { code, stdout, stderr } = await ended;
  assert.equal(code, 0, `${stdout}${stderr}`);
  assert.deepEqual(answersIn(await project.thread("wait")), ["CI says: green"]);
  const { deferred, dead } = await project.status();
  assert.deepEqual([deferred?.count, dead?.count], [0, 0]);
});

function settledLines(bus: string, outcome: string): number {
  const file = join(bus, "settled.jsonl");
  return existsSync(file) ? readFileSync(file, "utf8").split(`"outcome":"${outcome}"`).length - 1 : 0;
}
