import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeGraph, makeNode, makeWorkPlan } from "../../../src/governance/graph/make-graph.ts";
import type { TaskGraph } from "../../../src/governance/graph/schema.ts";
import { judgeWith } from "../../../src/governance/policy/judge.ts";
import type { Files } from "../../../src/governance/policy/paths.ts";
import { POLICY_VERSION, type Policy } from "../../../src/governance/policy/policy-file.ts";
import { ROLES } from "../../../src/governance/policy/roles.ts";

export const ROOT = "/home/ada/work/shop";

const FOLDERS = [
  "/",
  "/etc",
  "/tmp",
  "/home",
  "/home/ada",
  "/home/ada/work",
  ROOT,
  ...[
    "src",
    "src/cart",
    "test",
    "docs",
    "scripts",
    "packages",
    "packages/api",
    "node_modules",
    "dist",
    "nested",
    "crates",
    "crates/.cargo",
    "unlocked",
  ].map((name) => `${ROOT}/${name}`),
  `${ROOT}/nested/.git`,
];
const FILES = [
  ".env",
  "prloom/config.json",
  "package.json",
  "src/cart.ts",
  "src/cart/total.ts",
  "README.md",
  "Makefile",
  "scripts/seed.sh",
  "crates/.cargo/config.toml",
  "crates/Cargo.toml",
  "crates/Cargo.lock",
  "unlocked/Cargo.toml",
];

/** Links of the worktree: one that leads out of it, one that stays. */
const LINKS: Readonly<Record<string, string>> = {
  [`${ROOT}/outside`]: "/home/ada/other",
  [`${ROOT}/inside`]: "src",
};

const namesIn = (folder: string, paths: readonly string[]): string[] =>
  paths.filter((path) => dirname(path) === folder).map((path) => basename(path));

/** A worktree that exists only here. */
export const files: Files = {
  link: (path) => LINKS[path],
  kind(path) {
    if (FOLDERS.includes(path)) return "folder";
    return FILES.some((name) => path === `${ROOT}/${name}`) ? "file" : undefined;
  },
  entries: (path) => ({
    links: namesIn(path, Object.keys(LINKS)),
    folders: namesIn(path, FOLDERS),
    others: namesIn(
      path,
      FILES.map((name) => `${ROOT}/${name}`),
    ),
  }),
};

export const PROTECTED = [
  "prloom/**",
  ".git/**",
  ".opencode/**",
  ".claude/**",
  ".codex/**",
  ".cursor/**",
  ".gemini/**",
  "opencode.json",
  "opencode.jsonc",
  ".mcp.json",
];

export type Situation = "executor" | "investigator" | "closed door";

export function policyFor(situation: Situation): Policy {
  const name = situation === "investigator" ? "investigator" : "executor";
  const role = ROLES.find((one) => one.name === name);
  if (!role) throw new Error(`no role ${name}`);
  return {
    schemaVersion: POLICY_VERSION,
    role: structuredClone(role) as Policy["role"],
    node: "n1",
    door: { state: situation === "closed door" ? "closed" : "open", reason: "A person reads the plan." },
    root: ROOT,
    home: "/home/ada",
    temporary: "/tmp/run-7",
    paths: null,
    tools: null,
    protected: PROTECTED,
    mcp: { reads: [], writes: [] },
    secrets: ["config/payment.yml"],
    interpreters: [],
    session: null,
    maxRepeatedDenials: 3,
    variables: { PATH: "$PATH" },
  };
}

const POLICIES = {
  executor: policyFor("executor"),
  investigator: policyFor("investigator"),
  "closed door": policyFor("closed door"),
} as const;

const judge = judgeWith(files);

/** Why a command is denied; undefined when it may run. */
export function deniedBecause(command: string, situation: Situation = "executor"): string | undefined {
  return deniedUnder(POLICIES[situation], command);
}

/** The task that the policy names is started, by its role. */
const graphFor = ({ role }: Policy): TaskGraph =>
  role.name === "investigator" ? GRAPHS.investigator : GRAPHS.executor;

const GRAPHS = { executor: startedFor("executor"), investigator: startedFor("investigator") };

function startedFor(assignedTo: string): TaskGraph {
  const task = makeNode({ id: "n1", workPlanId: "plan", name: "A task", status: "active", assignedTo }, 0);
  return makeGraph([makeWorkPlan({ id: "plan", name: "A plan", status: "active", tasks: [task] }, 0)]);
}

export function deniedUnder(policy: Policy, command: string, folder?: string, ask = judge): string | undefined {
  const verdict = ask({ kind: "shell", tool: "bash", paths: [], command, folder }, graphFor(policy), policy, 0);
  return verdict.allow ? undefined : `${verdict.denial.rule}: ${verdict.denial.what} ${verdict.denial.evidence}`;
}

export interface Row {
  readonly file: string;
  readonly heading: string;
  readonly command: string;
}

/**
 * The commands of a folder of the corpus. A line is a command; in it ⏎ is a newline and ⇥ a tab, and everything else is as
 * it is typed. Lines that begin with `## ` are headings.
 */
export function corpus(folder: string): Row[] {
  const root = join(import.meta.dirname, "corpus", folder);
  return readdirSync(root)
    .sort()
    .flatMap((file) => rowsOf(file, readFileSync(join(root, file), "utf8")));
}

function rowsOf(file: string, text: string): Row[] {
  let heading = "";
  const rows: Row[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("## ")) heading = line.slice(3);
    else if (line !== "") rows.push({ file, heading, command: line.replaceAll("⏎", "\n").replaceAll("⇥", "\t") });
  }
  return rows;
}

/** For looking at a command without judging it. */
export const PLACE = {
  folder: ROOT,
  start: ROOT,
  home: "/home/ada",
  temporary: "/tmp/run-7",
  variables: {},
  look: files.kind,
  leads: (path: string) => path,
  isSecret: () => false,
};
