import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { freeId, isValidPlanId, planIdFor, slugOf } from "../../src/plan/identity.ts";
import { samples } from "../testing/sample.ts";

test("ids are what the pattern and git both accept", () => {
  for (const id of ["a", "0", "add-login", "v1.2_x", "a.lock.b", "x".repeat(64)]) assert.ok(isValidPlanId(id), id);
  for (const id of [
    "",
    "-a",
    ".a",
    "_a",
    "A",
    "a b",
    "a/b",
    "../x",
    "a..b",
    "x.lock",
    "a.",
    "é",
    "x".repeat(65),
    "a\n",
    "a\0",
  ])
    assert.ok(!isValidPlanId(id), JSON.stringify(id));
});

test("git accepts every valid id as part of a branch name", () => {
  const ids = fc.sample(fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,20}$/).filter(isValidPlanId), {
    numRuns: 40,
    seed: 7,
  });
  for (const id of ids) execFileSync("git", ["check-ref-format", `refs/heads/prloom/${id}`]);
  for (const id of ["a..b", "x.lock", "a."]) {
    assert.throws(() => execFileSync("git", ["check-ref-format", `refs/heads/prloom/${id}`], { stdio: "ignore" }));
  }
});

test("slugs", () => {
  assert.equal(slugOf("Add Löginn: für Ünïcode!"), "add-loginn-fur-unicode");
  assert.equal(slugOf("../../etc/passwd"), "etc-passwd");
  assert.equal(slugOf("日本語"), "");
  assert.equal(slugOf("İstanbul ﬁle"), "istanbul-file");
  assert.ok(slugOf("a ".repeat(100)).length <= 48);
});

test("ids from title, source and fallback", () => {
  const source = { system: "github", kind: "issue", id: "../42" };
  assert.equal(planIdFor({ title: "Add login", fallback: "plan-1" }), "add-login");
  assert.match(planIdFor({ title: "Add login", source, fallback: "plan-1" }), /^add-login-[0-9a-f]{8}$/);
  assert.match(planIdFor({ title: "日本", source, fallback: "plan" }), /^plan-[0-9a-f]{8}$/);
  assert.equal(planIdFor({ title: "日本", fallback: "my.file_2" }), "my.file_2");
  assert.equal(planIdFor({ fallback: "../日本" }), "plan");
  assert.notEqual(
    planIdFor({ title: "x", source, fallback: "p" }),
    planIdFor({ title: "x", source: { ...source, id: "43" }, fallback: "p" }),
  );
});

test("property: an id is always valid, and a free one is found", () => {
  const words = fc.string({ unit: "binary", maxLength: 120 });
  const source = fc.record({ system: words, kind: words, id: words });
  fc.assert(
    fc.property(words, fc.option(source, { nil: undefined }), words, fc.nat(20), (title, from, fallback, taken) => {
      const id = planIdFor({ title, fallback, ...(from && { source: from }) });
      assert.ok(isValidPlanId(id), id);
      const used = new Set<string>();
      for (let at = 0; at <= taken; at += 1) {
        const free = freeId(id, (candidate) => used.has(candidate));
        assert.ok(isValidPlanId(free) && !used.has(free), free);
        used.add(free);
      }
    }),
    { numRuns: samples(500) },
  );
  assert.equal(
    freeId("x".repeat(64), (id) => id.length === 64 && !id.endsWith("-2")),
    `${"x".repeat(62)}-2`,
  );
});
