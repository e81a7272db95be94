import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseConfig } from "../../src/config/load.ts";
import { makeGraph, makeNode, makeWorkPlan } from "../../src/governance/graph/make-graph.ts";
import { makePolicy, type RunTerms } from "../../src/governance/policy/make-policy.ts";
import { type Role, roleNamed } from "../../src/governance/policy/roles.ts";

/** The files of a governed run, and a worktree for it. */
export interface GovernedFiles {
  readonly root: string;
  readonly folder: string;
  readonly facts: string;
  remove(): void;
}

export interface GovernedTerms extends Partial<RunTerms> {
  /** As in the config, beside what holds where it says nothing. */
  readonly governance?: Record<string, unknown>;
}

/** A TODO that is started, and one that waits for it; `terms` may say otherwise. */
export function governedFiles({ governance: own = {}, ...terms }: GovernedTerms = {}): GovernedFiles {
  const agents = { agents: { a: { command: "a" } }, stages: { default: "a" } };
  const { governance } = parseConfig(JSON.stringify({ ...agents, governance: own }), "config.json");
  const base = mkdtempSync(join(tmpdir(), "prloom-governed-"));
  const root = join(base, "work");
  const folder = join(base, "governance");
  for (const dir of [join(root, "src"), folder]) mkdirSync(dir, { recursive: true });
  execFileSync("git", ["init", "-q", "-b", "main", root]);
  const place = { root, home: join(base, "home"), temporary: join(base, "tmp") };
  const policy = makePolicy(governance, {
    role: roleNamed("executor") as Role,
    node: "todo",
    place,
    ...terms,
  });
  const todo = makeNode({ id: "todo", workPlanId: "p", name: "Build the form", status: "active" }, 0);
  const next = makeNode({ id: "next", workPlanId: "p", name: "Test it", status: "blocked", dependsOn: ["todo"] }, 0);
  const plan = makeWorkPlan({ id: "p", name: "Accounts", status: "active", tasks: [todo], planAhead: [next] }, 0);
  writeFileSync(join(folder, "policy.json"), JSON.stringify(policy));
  writeFileSync(join(folder, "graph.json"), JSON.stringify(makeGraph([plan])));
  return { root, folder, facts: join(base, "facts.jsonl"), remove: () => rmSync(base, { recursive: true }) };
}
