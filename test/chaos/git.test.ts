import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { findProgram } from "../../src/kernel/system/find-program.ts";
import type { Project } from "../testing/project.ts";
import { oneOf, SEED, SEED_NOTE } from "../testing/sample.ts";
import { THOROUGH } from "../testing/thorough.ts";
import { makeChaosProject } from "./chaos-project.ts";
import { brokenInvariants, type ExpectedPlan } from "./invariants/invariants.ts";

const STAND_IN = fileURLToPath(new URL("../testing/chaos-git", import.meta.url));
const MAX_STARTS = 100;
/** Every call is tried in the whole run; some of them, from one that is drawn on, keep the ordinary suite short. */
const STRIDE = THOROUGH ? 1 : 2;
const FIRST = 1 + (SEED % STRIDE);

/** Puts a program in front of git that kills the dispatcher at its n-th call. Git gets few variables, so a script names its. */
function gitThatKills(project: Project, how: string, at: number): Record<string, string> {
  const calls = join(project.home, "git-calls");
  rmSync(calls, { force: true });
  const git = findProgram("git", process.env.PATH, "/");
  assert.ok(git);
  const folder = join(project.home, "chaos-git");
  mkdirSync(folder, { recursive: true });
  const named = `CHAOS_GIT='${git}' CHAOS_GIT_CALLS='${calls}' CHAOS_GIT_HOW=${how} CHAOS_GIT_AT=${at}`;
  writeFileSync(join(folder, "git"), `#!/bin/sh\nexport ${named}\nexec '${join(STAND_IN, "git")}' "$@"\n`, {
    mode: 0o755,
  });
  return { PATH: `${folder}:${dirname(process.execPath)}:${process.env.PATH}` };
}

const CASES = {
  before: "just before it",
  after: "when it is done and before the dispatcher hears of it",
  locked: "together with git, whose locks stay",
};

describe(`kills around one git call after the other (${SEED_NOTE})`, { concurrency: 2 }, () => {
  for (const [how, when] of oneOf(Object.entries(CASES))) {
    it(`killed ${when}, the work goes on at the next start`, async () => {
      const project = makeChaosProject({ stepMs: 5 });
      const plans: ExpectedPlan[] = [
        { id: "first", todos: ["make one", "make two"], said: [] },
        { id: "second", todos: ["make one"], said: [] },
      ];
      for (const plan of plans) project.plan(plan.id, plan.todos);
      let kills = 0;
      for (let at = FIRST; at < MAX_STARTS; at += STRIDE) {
        const result = await project.work(gitThatKills(project, how, at));
        if (result.signal !== "SIGKILL") {
          assert.equal(result.code, 0, `${result.stderr}${result.stdout}`);
          break;
        }
        kills += 1;
      }
      assert.ok(kills > 5, `only ${kills} kills`);
      const broken = brokenInvariants(project, { plans });
      assert.deepEqual(broken, [], `after ${kills} kills; the project is kept in ${project.root}`);
      project.remove();
    });
  }
});
