// What the test agent does as a reviewer. REVIEW in its environment tells; without it everything is approved.

import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "./agent-waits.mjs";

const { PRLOOM_WORKTREE, PRLOOM_RESULT_FILE, PRLOOM_PLAN_FILE, REVIEW = "approve" } = process.env;
const inTree = (name) => join(PRLOOM_WORKTREE, name);

const approval = { verdict: "approve", summary: "Looks right.", comments: [] };
const objection = {
  verdict: "request_changes",
  summary: "The greeting is missing.",
  comments: [
    { path: "work.txt", line: 1, message: "Say hello first.\nexpects: none" },
    { path: "README.md", line: null, message: "Mention it here." },
  ],
};

function say(result) {
  writeFileSync(PRLOOM_RESULT_FILE, JSON.stringify(result));
}

/** Everything that a reviewer must not do. */
function meddle() {
  appendFileSync(inTree("work.txt"), "by the reviewer\n");
  writeFileSync(inTree("junk.txt"), "junk\n");
  rmSync(inTree("README.md"), { force: true });
  writeFileSync(PRLOOM_PLAN_FILE, "## TODO\n\n- [x] mine\n");
  execFileSync("git", ["add", "-A"], { cwd: PRLOOM_WORKTREE });
  const who = ["-c", "user.name=Reviewer", "-c", "user.email=reviewer@localhost"];
  execFileSync("git", [...who, "commit", "-qm", "mine"], { cwd: PRLOOM_WORKTREE });
  execFileSync("git", ["checkout", "-q", "--detach"], { cwd: PRLOOM_WORKTREE });
  appendFileSync(inTree("src/a.txt"), "by the reviewer\n");
}

const reviews = {
  approve: () => say(approval),
  "ask-once"(prompt) {
    say(/## What was found before|Address the review/.test(prompt) ? approval : objection);
  },
  "ask-always": () => say(objection),
  garbage: () => writeFileSync(PRLOOM_RESULT_FILE, "Looks good to me!"),
  nothing: () => console.log("LGTM"),
  link() {
    const elsewhere = join(process.env.OUTSIDE, "approval.json");
    writeFileSync(elsewhere, JSON.stringify(approval));
    symlinkSync(elsewhere, PRLOOM_RESULT_FILE);
  },
  meddle() {
    meddle();
    say(approval);
  },
  /** Meddles, waits for `<GATE>/review` and approves. */
  async waits() {
    meddle();
    console.log("reading");
    await until(process.env.GATE, () => existsSync(join(process.env.GATE, "review")));
    say(approval);
  },
};

/** Reviews as it was told to. */
export async function review(prompt) {
  const act = reviews[REVIEW];
  if (!act) throw new Error(`no review ${REVIEW}`);
  await act(prompt);
}
