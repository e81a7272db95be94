import assert from "node:assert/strict";
import { after, test } from "node:test";
import { thorough } from "../testing/thorough.ts";
import { install, snippetOf } from "./installed.ts";

const DAY_MS = 86_400_000;
const weekday = new Intl.DateTimeFormat("en-US", { weekday: "long", timeZone: "UTC" });
const daysFrom = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, n) => weekday.format(Date.now() + (first + n) * DAY_MS));
// Two of each kind: midnight may come while the test runs.
const today = daysFrom(0, 1);
const otherDays = daysFrom(3, 5);

function projectWith(days: readonly string[]) {
  return install(["merge-command", "friday-policy"], { configs: { fridayPolicy: { days, timeZone: "UTC" } } });
}

test("nothing is merged on a day that the config names, and the thread says why", async () => {
  const project = projectWith(today);
  after(() => project.remove());
  project.plan("wait", ["Write a thing"]);
  await project.untilIdle();
  const before = project.git("rev-parse", "main");
  await project.type("comment", "wait", "/merge");
  await project.untilIdle();
  assert.equal(project.record("wait").status, "review");
  assert.equal(project.git("rev-parse", "main"), before);
  const answers = (await project.thread("wait")).filter(({ author }) => author === "prloom");
  assert.deepEqual(answers.length, 1);
  assert.match(answers[0]?.body ?? "", new RegExp(`Not merged: nothing is merged on a (${today.join("|")}) here`));
  await project.untilIdle();
  assert.equal((await project.thread("wait")).length, 2, "nothing happens again at the next start");
});

test("on other days it merges", thorough, async () => {
  const project = projectWith(otherDays);
  after(() => project.remove());
  project.plan("go", ["Write a thing"]);
  await project.untilIdle();
  await project.type("comment", "go", "/merge");
  await project.untilIdle();
  assert.equal(project.record("go").outcome, "merged");
});

test("a day that does not exist stops the start", thorough, async () => {
  const project = projectWith(["Fryday"]);
  after(() => project.remove());
  const { code, stderr } = await project.work();
  assert.equal(code, 1);
  assert.match(stderr, /fridayPolicy/);
  assert.match(stderr, /"Fryday" is none of Monday/);
});

test("the README blocks Fridays", () => {
  assert.deepEqual(snippetOf("friday-policy").globalPlugins?.fridayPolicy?.config?.days, ["Friday"]);
});
