import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { homeOf, inboxOf, type Paths, pathsOf } from "../../src/dispatcher/paths.ts";
import { type InboxMeta, type PlanRecord, RECORD_SCHEMA_VERSION } from "../../src/plan/record.ts";

export const NOOP_AGENT = fileURLToPath(new URL("./noop-agent.mjs", import.meta.url));

/** A repository with prloom set up in it, in a folder that is removed afterwards. */
export interface Project {
  readonly root: string;
  readonly paths: Paths;
  /** Of every program that a benchmark starts in it: no identity and no config of the user who runs it. */
  readonly env: Readonly<Record<string, string>>;
}

export interface ProjectOptions {
  /** Files in the repository besides prloom's own. */
  readonly files?: number;
  /** Branches beside the first, each a file of its own. */
  readonly refs?: number;
  readonly limits?: Readonly<Record<string, unknown>>;
  /** More keys of the config. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Plugins and bridges: what the files `prloom/<name>.mjs` say. */
  readonly modules?: Readonly<Record<string, string>>;
}

/** Runs the work in a folder that is removed afterwards. */
export async function inFolder<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "prloom-bench-")));
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export function makeProject(dir: string, options: ProjectOptions = {}): Project {
  const root = join(dir, "repo");
  const home = join(dir, "home");
  const paths = pathsOf({ root, commonDir: join(root, ".git") });
  for (const folder of [join(root, "prloom"), join(root, "src"), home]) mkdirSync(folder, { recursive: true });
  for (let file = 0; file < (options.files ?? 10); file += 1) {
    writeFileSync(join(root, "src", `file-${file}.txt`), `${"A line of a file.\n".repeat(40)}${file}\n`);
  }
  const agent = { adapter: "command", command: process.execPath, args: [NOOP_AGENT] };
  const base = { baseBranch: "main", agents: { noop: agent }, stages: { default: "noop" }, limits: options.limits };
  const config = { ...base, ...options.config };
  for (const [name, source] of Object.entries(options.modules ?? {})) {
    writeFileSync(join(root, "prloom", `${name}.mjs`), source);
  }
  writeFileSync(join(root, "prloom", "config.json"), `${JSON.stringify(config, null, 2)}\n`);
  const env = environment(home);
  const git = (...args: string[]): unknown => execFileSync("git", args, { cwd: root, env });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("-c", "user.name=Bench", "-c", "user.email=bench@localhost", "commit", "-qm", "Begin");
  addRefs(root, env, options.refs ?? 0);
  for (const folder of [paths.inbox, paths.plans]) mkdirSync(folder, { recursive: true });
  return { root, paths, env };
}

function addRefs(root: string, env: Readonly<Record<string, string>>, count: number): void {
  if (count === 0) return;
  const input = Array.from({ length: count }, (_, at) => `create refs/heads/topic/${at} HEAD\n`).join("");
  execFileSync("git", ["-c", "core.fsync=none", "update-ref", "--stdin"], { cwd: root, env, input });
}

function environment(home: string): Record<string, string> {
  return {
    PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ""}`,
    HOME: home,
    TMPDIR: tmpdir(),
    XDG_RUNTIME_DIR: home,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    NO_COLOR: "1",
  };
}

export function planId(number: number): string {
  return `plan-${String(number).padStart(5, "0")}`;
}

function textOf(id: string, todos: number, mark: string): string {
  const items = Array.from({ length: todos }, (_, at) => `- [${mark}] Do part ${at + 1} of ${id}\n  In a few words.\n`);
  return `## Title\n\nThe plan ${id}\n\n## TODO\n\n${items.join("")}\n## Progress Log\n\n- Written.\n`;
}

/** Puts plans into the inbox, as people do. */
export function addInboxPlans(project: Project, ids: readonly string[], meta: InboxMeta, todos = 3): void {
  for (const id of ids) {
    const files = inboxOf(project.paths, id);
    writeFileSync(files.meta, JSON.stringify(meta));
    writeFileSync(files.text, textOf(id, todos, " "));
  }
}

/** Writes the homes of plans that were merged long ago: what a repository has most of after a year. */
function addDonePlans(project: Project, ids: readonly string[]): void {
  ids.forEach((id, at) => {
    const home = homeOf(project.paths, id);
    mkdirSync(home.home, { recursive: true });
    writeFileSync(home.plan, textOf(id, 3, "x"));
    writeFileSync(home.record, `${JSON.stringify(doneRecord(id, at), null, 2)}\n`);
  });
}

function doneRecord(id: string, number: number): PlanRecord {
  const at = "2026-01-01T00:00:00.000Z";
  return {
    schemaVersion: RECORD_SCHEMA_VERSION,
    uid: `01JGFJJZ00${String(number).padStart(16, "0")}`,
    id,
    status: "done",
    outcome: "merged",
    hidden: false,
    paused: false,
    branch: `prloom/${id}`,
    baseBranch: "main",
    baseSha: "0".repeat(40),
    worktreeReady: false,
    inInbox: false,
    runs: 3,
    changeRequest: { forge: "local", ref: id, state: "merged", ready: true },
    createdAt: at,
    updatedAt: at,
    finishedAt: at,
    revision: 20,
    metadata: {},
  };
}

/** Half of the plans wait as drafts, half were merged long ago. */
export function addRestingPlans(project: Project, count: number): string[] {
  const ids = Array.from({ length: count }, (_, at) => planId(at));
  const drafts = ids.filter((_, at) => at % 2 === 0);
  addInboxPlans(project, drafts, { status: "draft" });
  addDonePlans(
    project,
    ids.filter((_, at) => at % 2 === 1),
  );
  return ids;
}
