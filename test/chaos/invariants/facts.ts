import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Envelope, LogName } from "../../../src/bus/ports.ts";
import { errnoOf } from "../../../src/kernel/errors.ts";
import { listDir } from "../../../src/kernel/files.ts";
import { parsePlan } from "../../../src/plan/markdown/markdown.ts";
import type { Project } from "../../testing/project.ts";
import { readLogs } from "./bus-facts.ts";

export interface StepCommit {
  readonly subject: string;
  /** Value of the trailer `Prloom-Step`; empty when it has none. */
  readonly step: string;
}

/** What lies on disk about one plan, as plain data. */
export interface PlanFacts {
  readonly id: string;
  readonly record: unknown;
  readonly todos: readonly { readonly id: string; readonly text: string; readonly state: string }[];
  /** Oldest first. */
  readonly commits: readonly StepCommit[];
  /** Lines of the file that agents append to, as committed. */
  readonly work: readonly string[];
  /** What `initCommands` appended to; an ignored file of the worktree. */
  readonly init: readonly string[];
  readonly worktree: { readonly listed: boolean; readonly status: string };
  readonly logs: Readonly<Record<LogName, readonly Envelope[]>>;
  /** What agents saw of others that should have been dead. */
  readonly overlap: string;
}

export interface RepositoryFacts {
  readonly branches: readonly string[];
  readonly worktrees: readonly string[];
  readonly inbox: readonly string[];
  /** Locks and temporary files that a kill left. */
  readonly leftovers: readonly string[];
  readonly fsck: string;
  /** Living processes that belong to the project. */
  readonly processes: readonly { readonly pid: number; readonly command: string }[];
  readonly homes: readonly string[];
}

export function planFacts(project: Project, id: string): PlanFacts {
  const record: unknown = JSON.parse(readFileSync(join(project.authority, "plans", id, "state.json"), "utf8"));
  const { branch = "", baseSha = "", worktree = "" } = record as Record<string, string>;
  const path = worktree;
  return {
    id,
    record,
    todos: parsePlan(project.planText(id)).todos.map((todo) => ({ id: todo.id, text: todo.text, state: todo.state })),
    commits: commitsOf(project, `${baseSha}..${branch}`),
    work: linesOf(tryGit(project, ["show", `${branch}:work-${id}.txt`])),
    init: existsSync(join(path, "init.txt")) ? linesOf(readFileSync(join(path, "init.txt"), "utf8")) : [],
    worktree: {
      listed: project.git("worktree", "list", "--porcelain").includes(`worktree ${path}\n`),
      status: existsSync(path) ? project.git("-C", path, "status", "--porcelain", "--branch") : "missing",
    },
    logs: readLogs(project, { planId: id }),
    overlap: readIfThere(join(project.authority, "plans", id, "runs", "overlap")),
  };
}

function commitsOf(project: Project, range: string): StepCommit[] {
  const format = "--format=%s%x09%(trailers:key=Prloom-Step,valueonly,separator=%x2C)";
  return linesOf(project.git("log", "--reverse", format, range)).map((line) => {
    const [subject = "", step = ""] = line.split("\t");
    return { subject, step };
  });
}

export function repositoryFacts(project: Project): RepositoryFacts {
  const { root, authority } = project;
  const listed = linesOf(project.git("worktree", "list", "--porcelain"));
  return {
    branches: linesOf(project.git("for-each-ref", "--format=%(refname:short)", "refs/heads")),
    worktrees: listed.filter((line) => line.startsWith("worktree ")).map((line) => line.slice("worktree ".length)),
    inbox: listDir(join(root, "prloom", ".local", "inbox")),
    leftovers: leftoversBelow(root),
    fsck: tryGit(project, ["fsck", "--no-dangling", "--no-progress"]),
    processes: processesOf(root),
    homes: listDir(join(authority, "plans")),
  };
}

/** The owner's lock file is not a leftover: it is always there. */
const LEFTOVER = /(?<!^daemon)\.lock$|\.tmp$|^half-|\.index$/;

function leftoversBelow(dir: string): string[] {
  return readdirSync(dir).flatMap((name) => {
    const path = join(dir, name);
    if (lstatSync(path).isDirectory()) return leftoversBelow(path);
    return LEFTOVER.test(name) ? [path] : [];
  });
}

/** Living processes that work in the project's folders or were told about them. */
export function processesOf(root: string): { pid: number; command: string }[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const within = readlinkSync(`/proc/${pid}/cwd`).startsWith(root);
      const told = readFileSync(`/proc/${pid}/environ`, "utf8").includes(`PRLOOM_WORKTREE=${root}/`);
      if (!within && !told) return [];
      return [{ pid: Number(pid), command: readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ") }];
    } catch (error) {
      // Gone meanwhile, or another user's.
      if (errnoOf(error) === undefined) throw error;
      return [];
    }
  });
}

/** What git answers, or what it complains about. */
function tryGit(project: Project, args: readonly string[]): string {
  try {
    return execFileSync("git", args, { cwd: project.root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    return `git ${args.join(" ")} failed: ${String(error)}`;
  }
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}
