import assert from "node:assert/strict";
import { test } from "node:test";
import { draftDigest, isRunByCi, type Level, missingOf } from "../../../src/dispatcher/publishing/level.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";
import { planRecord } from "../../testing/plan-record.ts";

const draft = { planId: "p", head: "prloom/p", base: "main", title: "T", body: "B" };
const level: Level = { head: "b", draft, ready: false };
const change = { forge: "github", ref: "1#2", state: "open", ready: false } as const;
const described = draftDigest(draft);

const ROWS: readonly (readonly [string, Partial<PlanRecord>, Partial<Level>, string | undefined])[] = [
  ["nothing is there", {}, {}, "push"],
  ["an older commit is", { published: { sha: "a" } }, {}, "push"],
  ["no change request is", { published: { sha: "b" } }, {}, "open"],
  ["a person pushed", { published: { sha: "b", theirs: "c" }, changeRequest: change }, {}, "take-over"],
  ["it says something else", { published: { sha: "b", described: "x" }, changeRequest: change }, {}, "describe"],
  ["all of it", { published: { sha: "b", described }, changeRequest: change }, {}, undefined],
  ["a draft that is done", { published: { sha: "b", described }, changeRequest: change }, { ready: true }, "describe"],
  [
    "a draft again",
    { published: { sha: "b", described, ready: "given" }, changeRequest: change },
    { ready: true },
    undefined,
  ],
  ["merged", { published: { sha: "a" }, changeRequest: { ...change, state: "merged" } }, {}, undefined],
];

test("what is missing at the server is done in order", () => {
  for (const [what, record, wanted, missing] of ROWS)
    assert.equal(missingOf(planRecord("u", record), { ...level, ...wanted }), missing, what);
});

test("files that CI runs are known", () => {
  const run = [".github/workflows/ci.yml", ".github/actions/x/index.js", "tools/action.yml", "Jenkinsfile"];
  run.push(
    ".GitHub/Workflows/ci.yml",
    ".github/workflows",
    ".github",
    ".tekton/pr.yaml",
    ".cirrus.yml",
    "appveyor.yml",
  );
  run.push(".gitlab-ci.yml", ".drone.yaml", ".circleci/config.yml", "ci/Jenkinsfile.release", "azure-pipelines-2.yml");
  assert.deepEqual([...run, "docs/workflows.md", ".github/CODEOWNERS", "src/action.ts"].filter(isRunByCi), run);
});
