// A command agent for tests. What it does is told by BEHAVIOUR in its environment (agents.<name>.env), or by a word in
// square brackets at the start of the TODO, so that one plan can hold good and bad TODOs.

import { execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { until } from "./agent-waits.mjs";
import { resolve } from "./resolve-agent.mjs";
import { review } from "./review-agent.mjs";

const { PRLOOM_STAGE, PRLOOM_PLAN_FILE, PRLOOM_WORKTREE, PRLOOM_TODO = "", PRLOOM_TODO_INDEX } = process.env;
const index = Number(PRLOOM_TODO_INDEX ?? 0);
const word = /^\[(\w[\w-]*)\]/.exec(PRLOOM_TODO)?.[1];
const behaviour = word ?? process.env.BEHAVIOUR ?? "work";
const planText = () => readFileSync(PRLOOM_PLAN_FILE, "utf8");
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const git = (...args) => execFileSync("git", args, { cwd: PRLOOM_WORKTREE, stdio: "inherit" });

/** Marks the n-th task item of the plan copy. */
function mark(n, letter, reason) {
  let seen = -1;
  const lines = planText()
    .split("\n")
    .flatMap((line) => {
      if (!/^[-*] \[[ xb]\]/.test(line)) return [line];
      seen += 1;
      if (seen !== n) return [line];
      const marked = line.replace(/\[[ xb]\]/, `[${letter}]`);
      return reason ? [marked, `  ${reason}`] : [marked];
    });
  writeFileSync(PRLOOM_PLAN_FILE, lines.join("\n"));
}

function work() {
  appendFileSync(join(PRLOOM_WORKTREE, "work.txt"), `${PRLOOM_TODO}\n`);
  console.log(`did: ${PRLOOM_TODO}`);
}

/** A child that goes on until it is killed; its id is written down for the test to look for. */
function linger(options = {}) {
  const child = spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], {
    stdio: "ignore",
    ...options,
  });
  appendFileSync(join(process.env.PRLOOM_RUN_DIR, "pids"), `${child.pid}\n`);
  return child;
}

const tryGit = (...args) => {
  try {
    git(...args);
  } catch (error) {
    console.log(`git failed: ${error.message}`);
  }
};
const behaviours = {
  work() {
    work();
    mark(index, "x");
  },
  async slow() {
    for (let step = 0; step < 5; step += 1) {
      console.log(`step ${step}`);
      await sleep(Number(process.env.STEP_MS ?? 100));
    }
    behaviours.work();
  },
  "no-tick": work,
  "no-change": () => mark(index, "x"),
  "tick-all"() {
    work();
    writeFileSync(PRLOOM_PLAN_FILE, planText().replaceAll("- [ ]", "- [x]"));
  },
  "rewrite-plan"() {
    work();
    writeFileSync(PRLOOM_PLAN_FILE, "# Mine now\n\n## TODO\n\n- [x] something else entirely\n");
  },
  "delete-plan"() {
    work();
    rmSync(PRLOOM_PLAN_FILE);
  },
  "say-blocked": () => mark(index, "b", "Reason: the moon is not in the repository"),
  "link-folder"() {
    work();
    mark(index, "x");
    const text = planText();
    rmSync(join(PRLOOM_WORKTREE, "prloom", ".local"), { recursive: true });
    symlinkSync(process.env.OUTSIDE, join(PRLOOM_WORKTREE, "prloom", ".local"));
    if (process.env.OUTSIDE) writeFileSync(join(process.env.OUTSIDE, "plan.md"), text);
  },
  commits() {
    work();
    git("add", "work.txt");
    git("-c", "user.name=Agent", "-c", "user.email=agent@localhost", "commit", "-qm", "mine");
    mark(index, "x");
  },
  "clean-xfd"() {
    work();
    mark(index, "x");
    const text = planText();
    git("add", "work.txt");
    git("clean", "-xfd");
    git("-C", process.env.REPO_ROOT ?? ".", "status", "--short");
    execFileSync("mkdir", ["-p", join(PRLOOM_WORKTREE, "prloom", ".local")]);
    writeFileSync(PRLOOM_PLAN_FILE, text);
  },
  "delete-half"() {
    for (const name of execFileSync("git", ["ls-files"], { cwd: PRLOOM_WORKTREE, encoding: "utf8" }).split("\n")) {
      if (name.startsWith("src/")) rmSync(join(PRLOOM_WORKTREE, name));
    }
    mark(index, "x");
  },
  dies: () => process.kill(process.pid, "SIGKILL"),
  "exit-1"() {
    console.error("cannot go on");
    process.exit(1);
  },
  async hangs() {
    console.log("hanging");
    linger();
    setInterval(() => console.log("still here"), 50);
    await sleep(2 ** 30);
  },
  async silent() {
    await sleep(2 ** 30);
  },
  async stubborn() {
    process.on("SIGTERM", () => console.log("no"));
    setInterval(() => console.log("still here"), 50);
    await sleep(2 ** 30);
  },
  async floods() {
    const block = `${"x".repeat(1023)}\n`.repeat(1024);
    for (let sent = 0; sent < 40; sent += 1) {
      if (!process.stdout.write(block)) await new Promise((resolve) => process.stdout.once("drain", resolve));
    }
    behaviours.work();
  },
  escapes() {
    linger({ detached: true }).unref();
    linger().unref();
    behaviours.work();
  },
  "remove-worktree"() {
    work();
    rmSync(PRLOOM_WORKTREE, { recursive: true });
  },
  "changes-config"() {
    writeFileSync(join(PRLOOM_WORKTREE, "prloom", "config.json"), "{}");
    mark(index, "x");
  },
  /** Goes on when as many agents as PARTIES are here at the same time. */
  async meets() {
    const folder = process.env.MEETING;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, process.env.PRLOOM_PLAN_ID), "here\n");
    await until(folder, () => readdirSync(folder).length >= Number(process.env.PARTIES));
    behaviours.work();
  },
  /** Waits for `<GATE>/<plan>`, which the test makes. */
  async waits() {
    appendFileSync(join(PRLOOM_WORKTREE, "half.txt"), `half of ${PRLOOM_TODO}\n`);
    console.log("waiting");
    await until(process.env.GATE, () => existsSync(join(process.env.GATE, process.env.PRLOOM_PLAN_ID)));
    behaviours.work();
  },
  /** Writes down how many agents were at work while it was. */
  async counts() {
    const folder = process.env.MEETING;
    // Not by its pid, which is the same in every pid namespace.
    const mine = join(folder, "now", process.env.PRLOOM_RUN_ID);
    mkdirSync(dirname(mine), { recursive: true });
    writeFileSync(mine, "");
    for (let look = 0; look < 5; look += 1) {
      appendFileSync(join(folder, "counted"), `${readdirSync(dirname(mine)).length}\n`);
      await sleep(20);
    }
    unlinkSync(mine);
    behaviours.work();
  },
  /** Does what the failed check asks for, when it is told. */
  obeys() {
    if (prompt.includes("the check says no")) writeFileSync(join(PRLOOM_WORKTREE, "ok.txt"), "ok\n");
    behaviours.work();
  },
  "changes-env"() {
    appendFileSync(join(PRLOOM_WORKTREE, ".env"), "CHANGED=1\n");
    behaviours.work();
  },
  "link-source"() {
    rmSync(join(PRLOOM_WORKTREE, "src"), { recursive: true });
    symlinkSync(process.env.OUTSIDE, join(PRLOOM_WORKTREE, "src"));
    mark(index, "x");
  },
  "link-plan"() {
    work();
    mark(index, "x");
    const elsewhere = join(process.env.OUTSIDE, "linked-plan.md");
    writeFileSync(elsewhere, planText());
    rmSync(PRLOOM_PLAN_FILE);
    symlinkSync(elsewhere, PRLOOM_PLAN_FILE);
  },
  "clean-everything"() {
    work();
    mark(index, "x");
    git("clean", "-xffd");
  },
  /** Once: takes everything out of the person's own checkout that git does not know, worktrees of others included. */
  "clean-main"() {
    const marker = join(process.env.OUTSIDE, "cleaned");
    if (existsSync(marker)) return behaviours.work();
    writeFileSync(marker, "");
    execFileSync("git", ["clean", "-xffdq"], { cwd: process.env.REPO_ROOT });
  },
  "breaks-git"() {
    behaviours.work();
    writeFileSync(join(PRLOOM_WORKTREE, ".git"), "gitdir: /nowhere\n");
  },
  "other-branch"() {
    tryGit("checkout", "-q", "-b", `stolen-${process.env.PRLOOM_PLAN_ID}`);
    behaviours.commits();
  },
  diverges() {
    tryGit("checkout", "-q", "--orphan", `rootless-${process.env.PRLOOM_PLAN_ID}`);
    work();
    git("add", "-A");
    git("-c", "user.name=Agent", "-c", "user.email=agent@localhost", "commit", "-qm", "a new beginning");
    git("branch", "-f", `prloom/${process.env.PRLOOM_PLAN_ID}`, "HEAD");
    mark(index, "x");
  },
  "calls-prloom"() {
    for (const args of [["merge", process.env.PRLOOM_PLAN_ID], ["unblock", "good"], ["stop"]]) {
      try {
        execFileSync(process.execPath, [process.env.CLI_FILE, ...args], { cwd: PRLOOM_WORKTREE, encoding: "utf8" });
        appendFileSync(join(PRLOOM_WORKTREE, "calls.txt"), `${args[0]} worked\n`);
      } catch (error) {
        appendFileSync(join(PRLOOM_WORKTREE, "calls.txt"), `${args[0]} ${error.status}\n`);
      }
    }
    behaviours.work();
  },
  /** Leaves a script that the checks of the project run. */
  "writes-check"() {
    writeFileSync(join(PRLOOM_WORKTREE, "check.sh"), `${process.env.CHECK}\n`);
    behaviours.work();
  },
  "second-try"() {
    const marker = join(PRLOOM_WORKTREE, "tried.txt");
    if (existsSync(marker)) behaviours.work();
    else writeFileSync(marker, "once\n");
  },
};

async function triage() {
  if (process.env.TRIAGE === "waits") await until(process.env.GATE, () => existsSync(join(process.env.GATE, "triage")));
  if (process.env.TRIAGE === "broken") return writeFileSync(process.env.PRLOOM_RESULT_FILE, "{ not json");
  const events = JSON.parse(readFileSync(process.env.PRLOOM_EVENTS_FILE, "utf8"));
  const todos = events.flatMap((event) =>
    event.body
      .split("\n")
      .filter((line) => /^please /i.test(line))
      .map((line) => ({
        text: line.replace(/^please /i, ""),
        context: `asked by ${event.context?.author?.login ?? event.source}`,
        events: [event.id],
      })),
  );
  const reply = todos.length > 0 ? `Will do ${todos.length}.` : "Thank you, nothing to do.";
  const result = { reply_markdown: reply, todos, rebase_requested: events.some(({ body }) => /rebase/i.test(body)) };
  writeFileSync(process.env.PRLOOM_RESULT_FILE, JSON.stringify(result));
}

async function design() {
  if (process.env.DESIGN === "waits") await until(process.env.GATE, () => existsSync(join(process.env.GATE, "design")));
  if (process.env.DESIGN === "nothing") return console.log("no idea");
  if (process.env.DESIGN === "source") writeFileSync(join(PRLOOM_WORKTREE, "sneaked-in.txt"), "mine\n");
  const text = planText().trimEnd() + (/^## TODO$/m.test(planText()) ? "" : "\n\n## TODO\n");
  writeFileSync(PRLOOM_PLAN_FILE, `${text}\n- [ ] designed one\n- [ ] designed two\n`);
}

const prompt = readFileSync(0, "utf8");
writeFileSync(join(process.env.PRLOOM_RUN_DIR, "prompt.txt"), prompt);
writeFileSync(join(process.env.PRLOOM_RUN_DIR, "environment"), readFileSync("/proc/self/environ"));
if (process.env.ORDER) appendFileSync(process.env.ORDER, `${process.env.PRLOOM_PLAN_ID} ${index}\n`);
if (PRLOOM_STAGE === "triage") await triage();
else if (PRLOOM_STAGE === "designer") await design();
else if (PRLOOM_STAGE === "reviewer") await review(prompt);
else if (process.env.PRLOOM_CONFLICTS) resolve(prompt);
else if (!behaviours[behaviour]) throw new Error(`no behaviour ${behaviour}`);
else await behaviours[behaviour]();
