import assert from "node:assert/strict";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Project } from "../testing/project.ts";
import { SEED_NOTE, someOf } from "../testing/sample.ts";
import { makeChaosProject } from "./chaos-project.ts";
import { conflicting, moveBase } from "./scenarios/rebase-scenarios.ts";
import { finish, plan, succeed } from "./scenarios/scenario.ts";

const START = ["start", "--until-idle"];

interface Way {
  readonly what: string;
  /** Until the worktree of plan `first` is there. */
  prepare(project: Project): Promise<unknown>;
  /** What is killed. */
  readonly command: readonly string[];
  readonly points: readonly string[];
  /** What a person does then. */
  readonly next: readonly (readonly string[])[];
}

async function done(project: Project): Promise<void> {
  plan(project, "first", ["make one"]);
  await finish(project);
}

async function merged(project: Project): Promise<void> {
  await done(project);
  await succeed(project, ["merge", "first"]);
}

async function checked(project: Project): Promise<void> {
  project.config({ checks: ["true"] });
  await done(project);
  moveBase(project);
}

async function vanished(project: Project): Promise<void> {
  await done(project);
  rmSync(project.worktree("first"), { recursive: true });
  await succeed(project, ["comment", "first", "please make two"]);
  await finish(project);
  await succeed(project, ["unblock", "first"]);
}

const REMOVAL = ["worktree:kept", "worktree:forgotten"];
const WAYS: readonly Way[] = [
  {
    what: "delete, then a start",
    prepare: done,
    command: ["delete", "first", "--yes"],
    points: ["delete:marked", ...REMOVAL],
    next: [START],
  },
  {
    what: "delete, then clean",
    prepare: done,
    command: ["delete", "first", "--yes"],
    points: ["delete:marked", ...REMOVAL],
    next: [["clean"], START],
  },
  {
    what: "clean",
    prepare: merged,
    command: ["clean", "first"],
    points: [...REMOVAL, "clean:removed"],
    next: [START, ["clean"]],
  },
  {
    what: "merge",
    prepare: done,
    command: ["merge", "first"],
    points: ["merge:written", "merge:merged"],
    next: [START],
  },
  {
    what: "merge with checks",
    prepare: checked,
    command: ["merge", "first"],
    points: ["hook-agent:kept", "merge:placed", "hook-agent:restored"],
    next: [START, ["merge", "first"]],
  },
  {
    what: "merge again with checks",
    prepare: checked,
    command: ["merge", "first"],
    points: ["hook-agent:kept", "merge:placed", "hook-agent:restored"],
    next: [["merge", "first"]],
  },
  {
    what: "merge --delete-branch",
    prepare: done,
    command: ["merge", "first", "--delete-branch"],
    points: ["merge:merged", ...REMOVAL, "clean:removed"],
    next: [START, ["clean"]],
  },
  {
    what: "rebase",
    prepare: async (project) => {
      await done(project);
      moveBase(project);
    },
    command: ["rebase", "first"],
    points: ["rebase:begun"],
    next: [START],
  },
  {
    what: "rebase with a conflict",
    prepare: (project) => conflicting(project, "keeps-own"),
    command: START,
    points: ["rebase:conflict", "rebase:moved", "rebase:placed", "resolve:judged", "rebase:committed", "rebase:whole"],
    next: [START],
  },
  {
    what: "rebase that is given up",
    prepare: (project) => conflicting(project, "gives-up"),
    command: START,
    points: ["rebase:undone"],
    next: [START],
  },
  {
    what: "worktree made again",
    prepare: vanished,
    command: START,
    points: ["worktree:named"],
    next: [START],
  },
  {
    what: "activation",
    prepare: async (project) => {
      plan(project, "first", ["make one"]);
    },
    command: START,
    points: ["worktree:named", "activate:worktree", "activate:text", "activate:ready", "activate:half-cleared"],
    next: [START],
  },
];

/** What a person writes into the worktree: into a file that git has, and beside. */
function write(project: Project, when: string): string[] {
  const worktree = project.worktree("first");
  const state = join(project.authority, "plans", "first", "state.json");
  // One that is not there yet, or is being removed, is no place to write to.
  if (!existsSync(state) || !existsSync(worktree) || project.record("first").worktreeName === undefined) return [];
  const words = ["edited", "new", "deep"].map((kind) => `${kind} ${when} it`);
  appendFileSync(join(worktree, "src", "a.txt"), `${words[0]}\n`);
  writeFileSync(join(worktree, `of-a-person-${when}.txt`), `${words[1]}\n`);
  mkdirSync(join(worktree, "notes"), { recursive: true });
  writeFileSync(join(worktree, "notes", `${when}.txt`), `${words[2]}\n`);
  return words;
}

/** Those words that are neither in the worktree nor in a patch that a person was told of. */
function lost(project: Project, words: readonly string[], said: string): string[] {
  const files = [...textsBelow(project.worktree("first")), ...textsBelow(join(project.authority, "plans", "first"))];
  const kept = files.filter(([path]) => path.startsWith(project.worktree("first")) || said.includes(path));
  return words.filter((word) => !kept.some(([, text]) => new RegExp(`^\\+?${word}$`, "m").test(text)));
}

function textsBelow(dir: string): [path: string, text: string][] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(txt|patch)$/.test(entry.name))
    .map((entry) => [join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name), "utf8")]);
}

const cases = WAYS.flatMap((way) => way.points.map((point) => ({ ...way, point })));

describe(`what a person has in a worktree and in no commit, and a kill (${SEED_NOTE})`, { concurrency: 2 }, () => {
  for (const { what, prepare, command, point, next } of someOf(cases, 2))
    it(`${what}, killed at ${point}: it is there, or in a patch that is named`, async () => {
      const project = makeChaosProject({ stepMs: 5 });
      await prepare(project);
      const words = write(project, "before");
      const killed = await project.cli(command, { PRLOOM_CRASH_AT: point });
      assert.equal(killed.signal, "SIGKILL", `${point} was not passed: ${killed.stderr}${killed.stdout}`);
      words.push(...write(project, "after"));
      const said: string[] = [];
      for (const args of next) {
        const { stdout, stderr } = await project.cli(args);
        said.push(stdout, stderr);
      }
      const { stdout } = await project.cli(["show", "first"]);
      assert.deepEqual(lost(project, words, [...said, stdout].join("\n")), [], `${project.root}\n${said.join("\n")}`);
      project.remove();
    });
});
