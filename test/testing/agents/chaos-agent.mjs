// An agent whose work must not be done twice: it appends to files in several steps with pauses, holds a half-made file
// in between, and leaves a child that ignores SIGTERM. Whatever interrupts it leaves traces that the dispatcher must take back.

import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { resolve } from "./resolve-agent.mjs";

const { PRLOOM_STAGE, PRLOOM_PLAN_FILE, PRLOOM_WORKTREE, PRLOOM_RUN_DIR, PRLOOM_RUN_ID } = process.env;
const { PRLOOM_PLAN_ID, PRLOOM_TODO = "", PRLOOM_TODO_INDEX = "0", STEP_MS = "60" } = process.env;
const runs = dirname(dirname(PRLOOM_RUN_DIR));

/** A process of an earlier run of this plan that is still alive works on the same files as we do. */
function reportOverlap() {
  for (const run of readdirSync(runs)) {
    const file = join(runs, run, "agent", "pids");
    if (!existsSync(file)) continue;
    for (const pid of readFileSync(file, "utf8").trim().split("\n")) {
      if (carriesPlan(pid)) appendFileSync(join(runs, "overlap"), `${pid} of run ${run} lives in ${PRLOOM_RUN_ID}\n`);
    }
  }
}

function carriesPlan(pid) {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    // In a pid namespace every agent is number two; what carries our own run's id is us.
    const isOurs = environment.includes(`PRLOOM_RUN_ID=${PRLOOM_RUN_ID}`);
    return !isOurs && environment.includes(`PRLOOM_WORKTREE=${PRLOOM_WORKTREE}`);
  } catch (error) {
    if (error.code === "ENOENT" || error.code === "ESRCH") return false;
    throw error;
  }
}

/** A child that has to be killed: it does not end when it is asked to. */
function linger() {
  const child = spawn("sh", ["-c", "trap '' TERM; while :; do sleep 1; done"], { stdio: "ignore" });
  appendFileSync(join(PRLOOM_RUN_DIR, "pids"), `${process.pid}\n${child.pid}\n`);
  child.unref();
}

/** `[hold]` stays in the middle of the work until the test puts a file called `go` beside the runs. */
function mustHold() {
  return PRLOOM_TODO.startsWith("[hold]") && !existsSync(join(runs, "go"));
}

async function inSteps(name) {
  const half = join(PRLOOM_WORKTREE, `half-${name}`);
  writeFileSync(half, "not done yet\n");
  for (const part of ["begin", "middle", "end"]) {
    appendFileSync(join(PRLOOM_WORKTREE, `work-${PRLOOM_PLAN_ID}.txt`), `${part} ${PRLOOM_TODO || name}\n`);
    console.log(part);
    await sleep(mustHold() ? 2 ** 30 : Number(STEP_MS));
  }
  rmSync(half);
}

async function work() {
  const blocked = PRLOOM_TODO.startsWith("[say-blocked]");
  if (!blocked) await inSteps(PRLOOM_TODO_INDEX);
  let seen = -1;
  const lines = readFileSync(PRLOOM_PLAN_FILE, "utf8")
    .split("\n")
    .map((line) => {
      if (!/^[-*] \[[ xb]\]/.test(line)) return line;
      seen += 1;
      if (seen !== Number(PRLOOM_TODO_INDEX)) return line;
      return blocked ? `${line.replace("[ ]", "[b]")}\n  Reason: nobody said how` : line.replace("[ ]", "[x]");
    });
  writeFileSync(PRLOOM_PLAN_FILE, lines.join("\n"));
}

/** Triage and designer write no source; that they do here must be taken back. */
async function triage() {
  await inSteps("triage");
  const events = JSON.parse(readFileSync(process.env.PRLOOM_EVENTS_FILE, "utf8"));
  const todos = events
    .filter((event) => event.body.startsWith("please "))
    .map((event) => ({ text: event.body.replace(/^please /, ""), events: [event.id] }));
  const reply = events.map((event) => `<re ${event.body}>`).join("\n");
  const result = { reply_markdown: reply, todos, rebase_requested: events.some(({ body }) => body === "rebase") };
  writeFileSync(process.env.PRLOOM_RESULT_FILE, JSON.stringify(result));
}

/** Leaves the same lines as the worker, so that what is not taken back is work done twice. */
async function review() {
  await inSteps("review");
  const result = { verdict: process.env.VERDICT, summary: "look again", comments: [] };
  writeFileSync(process.env.PRLOOM_RESULT_FILE, JSON.stringify(result));
}

async function design() {
  await inSteps("design");
  const text = readFileSync(PRLOOM_PLAN_FILE, "utf8").trimEnd();
  const events = JSON.parse(readFileSync(process.env.PRLOOM_EVENTS_FILE, "utf8"));
  const wishes = events.flatMap(({ body }) => (body.startsWith("please ") ? [`- [ ] ${body.slice(7)}\n`] : []));
  const todos = `- [ ] designed one\n- [ ] designed two\n${wishes.join("")}`;
  writeFileSync(PRLOOM_PLAN_FILE, `${text}\n\n## TODO\n\n${todos}`);
}

readFileSync(0);
reportOverlap();
linger();
if (PRLOOM_STAGE === "triage") await triage();
else if (PRLOOM_STAGE === "designer") await design();
else if (PRLOOM_STAGE === "reviewer") await review();
else if (process.env.PRLOOM_CONFLICTS) resolve("");
else await work();
