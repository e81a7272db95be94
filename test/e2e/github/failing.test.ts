import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { gateStates } from "../../testing/at-gate.ts";
import { thorough } from "../../testing/thorough.ts";
import { githubProject } from "./github-project.ts";

const BODY = "We want it dark.\n\n## Tasks\n\n- [ ] make one\n";
const MARKER = /\n\n<!-- prloom \S+ -->$/;
/** What a comment begins with. */
const WORDS = /^[^(`]*/;
/** Once each, in an order that depends on what failed. */
const TOLD = [
  "**The plan waits for your answer** ",
  "**prloom** works on this as the plan ",
  "approved",
  "approved by ada ",
];

/** An issue is labelled, shown, approved and done while a fifth of all calls fails: what its thread then says. */
async function told(t: TestContext, seed: number): Promise<string[]> {
  const { github, repository, project, token } = await githubProject(t);
  t.after(() => project.remove());
  const ada = github.person(repository, "ada");
  const until = async (isThere: () => Promise<boolean> | boolean): Promise<void> => {
    // An answer of which GitHub could not tell whether it counts is looked at again after minutes, if that fails more than once.
    for (let start = 0; start < 150 && !(await isThere()); start += 1) await project.work({ GITHUB_TOKEN: token });
    assert(await isThere());
  };
  // What was before the first look is not heard, so that is to succeed.
  await project.work({ GITHUB_TOKEN: token });
  github.server.faults.failShare(0.2, seed);
  const { number } = ada.opens({ title: "Once", body: BODY });
  ada.labels(number, "prloom");
  const comments = (): string[] => (repository.issues.get(number)?.comments ?? []).map(({ body }) => body);
  await until(() => comments().some((body) => body.startsWith("**The plan waits")));
  const id = (await project.status()).plans[0]?.planId ?? "";
  ada.comments(number, "approved");
  await until(async () => (await gateStates(project, id)).includes("approved"));
  await until(
    () => project.record(id).status === "review" && comments().some((body) => /^approved by ada/m.test(body)),
  );
  github.server.faults.failShare(0, seed);
  await project.work({ GITHUB_TOKEN: token });
  assert.equal((await project.status()).plans.length, 1);
  const markers = comments().flatMap((body) => MARKER.exec(body)?.[0] ?? []);
  assert.equal(new Set(markers).size, markers.length, "no comment twice");
  return comments().map((body) => WORDS.exec(body)?.[0] ?? "");
}

describe("a GitHub of which a fifth of the calls fail", { concurrency: 2 }, () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    it(`is told the same, and once (seed ${seed})`, thorough, async (t) => {
      assert.deepEqual((await told(t, seed)).toSorted(), TOLD);
    });
  }
});
