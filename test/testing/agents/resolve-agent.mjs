// How the agents of tests resolve a conflict: they keep both sides, unless RESOLVE says otherwise.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const { PRLOOM_WORKTREE, PRLOOM_CONFLICTS = "", PRLOOM_OUTCOME_FILE, RESOLVE: how = "both" } = process.env;

const ITS_OWN = /^<{7} .*\n|^={7}\n[\s\S]*?^>{7} .*\n/gm;

/** What is taken out of the files that conflict. */
const TAKEN = {
  "drops-the-commit": ITS_OWN,
  "finds-it-needless": ITS_OWN,
  "leaves-marks": /^<{7} .*\n/gm,
  "keeps-own": /^<{7} [\s\S]*?^={7}\n|^>{7} .*\n/gm,
};

const OUTCOMES = {
  "gives-up": { outcome: "blocked", reason: "both cannot be" },
  "finds-it-needless": { outcome: "nothing-to-change", reason: "main does it" },
};

export function resolve(prompt) {
  let finished = { outcome: "done" };
  for (const name of PRLOOM_CONFLICTS.split("\n")) {
    const file = join(PRLOOM_WORKTREE, name);
    const given = readFileSync(file, "utf8");
    const left = given.replace(TAKEN[how] ?? /^(?:[<>|]{7} .*|={7})\n/gm, "");
    // One side deleted it.
    if (left === given) finished = { outcome: "done", reason: `${name} is still used` };
    writeFileSync(file, left);
  }
  if (how === "makes-repository") {
    for (const name of ["objects", "refs"]) mkdirSync(join(PRLOOM_WORKTREE, "lib", name), { recursive: true });
    for (const name of ["HEAD", "objects/x", "refs/x"]) writeFileSync(join(PRLOOM_WORKTREE, "lib", name), "x\n");
  }
  if (how === "moves-branch") execFileSync("git", ["reset", "-q", "--soft", "HEAD~1"], { cwd: PRLOOM_WORKTREE });
  if (how === "obeys" && prompt.includes("the check says no")) writeFileSync(join(PRLOOM_WORKTREE, "ok.txt"), "ok\n");
  if (how !== "says-nothing") writeFileSync(PRLOOM_OUTCOME_FILE, JSON.stringify(OUTCOMES[how] ?? finished));
}
