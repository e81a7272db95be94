import assert from "node:assert/strict";
import { test } from "node:test";
import { peoplesPart, planPart, withPlanPart } from "../../../src/github/body/issue-part.ts";
import { isOwnEdit } from "../../../src/github/body/own-edits.ts";
import { knownText } from "../../../src/github/bridge/issue-news.ts";

const written = (body: string, part: string): string => {
  const next = withPlanPart(body, part);
  assert("body" in next, JSON.stringify(next));
  return next.body;
};

for (const people of ["", "Words.", "Words.\n", "Words.\r\n\r\n", " \n", "a\n\n\n\n", "```\nopen fence"])
  test(`${JSON.stringify(people)} is as it was before our part came into it, however often that is written`, () => {
    const once = written(people, "one");
    assert.equal(peoplesPart(once), people);
    assert.equal(written(once, "one"), once);
    assert.equal(peoplesPart(written(once, "two")), people);
  });

test("a browser that saves it with other ends of lines changes nothing of what people wrote", () => {
  const once = written("One.\nTwo.", "- [ ] a");
  const saved = once.replace("[ ]", "[x]").replaceAll("\n", "\r\n");
  assert.equal(peoplesPart(saved), "One.\r\nTwo.");
  assert.equal(peoplesPart(written(saved, "- [ ] a")), "One.\r\nTwo.");
  const known = (body: string): string =>
    knownText({ title: "t", body: peoplesPart(body), updated_at: "" } as Parameters<typeof knownText>[0]).sha256;
  assert.equal(known(saved), known("One.\nTwo."));
  assert.notEqual(known(saved), known("One.\n\nTwo."));
});

test("what people write around our part stays, wherever they put it", () => {
  const body = `Above.\n\n${written("", "one")}\n\nBelow.`;
  const next = written(body, "two");
  assert.equal(next, body.replace("\none\n", "\ntwo\n"));
  assert.equal(peoplesPart(next), "Above.\n\nBelow.");
  // A second end that a stranger wrote takes in nothing of what stands before it.
  const end = "<!-- prloom plan ends -->";
  assert.equal(written(`${body}\n${end}`, "two"), `${next}\n${end}`);
});

test("a part whose markers are damaged is left alone", () => {
  const once = written("Words.", "one");
  for (const body of [
    once.replace(/<!-- prloom plan begins.*-->/, ""),
    once.replace(/<!-- prloom plan ends -->/, ""),
  ]) {
    const next = withPlanPart(body, "two");
    assert("problem" in next && /the lines that mark/.test(next.problem));
    assert.equal(peoplesPart(body), body);
  }
});

test("what is too long is cut, and people's words never are", () => {
  const people = "w".repeat(60_000);
  const next = written(people, "😀".repeat(10_000));
  assert(next.length <= 65_536 && next.isWellFormed());
  assert.equal(peoplesPart(next), people);
  assert.match(next, /the rest is left out\)\n<!-- prloom plan ends -->$/);
  assert.deepEqual(withPlanPart("w".repeat(65_500), "one"), { problem: "its text leaves no room for the plan" });
});

test("our part has the TODOs and what the plan says beyond the issue, and gives no orders", () => {
  const people = "We want it dark.\n\n## Why\n\nFor the night.\n";
  const plan = `## Title\n\nDark\n\nWe want it dark.\n\n## Why\n\nFor the  night.\n\n## TODO\n\n- [x] ask @ada, fixes #3\n- [ ] b [skip ci] \${{ secrets.X }}\n\n## Approach\n\n/merge now\n<!-- prloom plan ends -->\n\n## Progress Log\n\nbegan\n`;
  const part = planPart("dark-1", plan, people);
  assert.match(part, /^\*\*prloom\*\*: the plan `dark-1`\. .*\n\n## TODO\n\n- \[x\] ask @\u200bada, fixes issue 3\n/);
  assert.match(part, /b \(skip ci\) \$ \{\{ secrets/);
  assert.match(part, /## Approach\n\n \/merge now/);
  assert.doesNotMatch(part, /Progress|began|## Why|## Title/);
  const body = written(people, part);
  assert.equal(body.split("<!-- prloom plan ends -->").length, 2);
  assert.equal(peoplesPart(body), people);
});

test("our part has no end within, nor an order that one had kept apart", () => {
  const end = "<!-- prloom plan ends -->";
  const plan = `## TODO\n\n- [ ] clo${end}ses #7 for @${end}eve <!-- prloom ${end}plan ends -->\n`;
  const body = written("Words.", planPart("dark-1", plan, "Words."));
  assert.doesNotMatch(body, /closes #7|@eve/);
  assert.equal(peoplesPart(body), "Words.");
});

const EDITS: [name: string, editor: string, at: string, isOwn: boolean][] = [
  ["ours, when we wrote", "7", "2026-01-01T00:00:01Z", true],
  ["our login at another time", "7", "2026-01-01T00:10:00Z", false],
  ["another at that time", "8", "2026-01-01T00:00:00Z", false],
];
for (const [name, editor, at, isOwn] of EDITS)
  test(`an edit by ${name}: ${isOwn ? "is prloom's own" : "is not prloom's"}`, () =>
    assert.equal(isOwnEdit({ id: "7", at: ["2026-01-01T00:00:00Z"] }, editor, at), isOwn));
