import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeGraph, makeNode, makeWorkPlan } from "../../../src/governance/graph/make-graph.ts";
import type { Delegation, TaskGraph, TaskNode } from "../../../src/governance/graph/schema.ts";
import type { Verdict } from "../../../src/governance/policy/denial.ts";
import { judgeWith } from "../../../src/governance/policy/judge.ts";
import type { Files } from "../../../src/governance/policy/paths.ts";
import type { Policy } from "../../../src/governance/policy/policy-file.ts";
import { roleNamed } from "../../../src/governance/policy/roles.ts";
import { requestOf, type ToolHost } from "../../../src/governance/policy/tools/request-of.ts";

export const ROOT = "/srv/repo/prloom/.local/worktrees/plan";

/** A file system of links and folders; every other path is a file that is not there. */
export function fakeFiles(links: Record<string, string> = {}, folders: readonly string[] = []): Files {
  return {
    link: (path) => (Object.hasOwn(links, path) ? links[path] : undefined),
    kind: (path) => (folders.includes(path) ? "folder" : undefined),
    entries: () => ({ links: [], folders: [], others: [] }),
  };
}

export function policy(changes: Partial<Policy> = {}, role = "executor"): Policy {
  const named = roleNamed(role);
  if (!named) throw new Error(`there is no role ${role}`);
  return {
    schemaVersion: 1,
    role: structuredClone(named) as Policy["role"],
    node: "two",
    door: { state: "open", reason: "" },
    root: ROOT,
    home: "/home/person",
    temporary: "/tmp/run-7",
    paths: null,
    tools: null,
    protected: ["prloom", ".git", ".opencode", ".claude", ".codex"],
    mcp: { reads: [], writes: [] },
    secrets: [],
    interpreters: [],
    session: "own",
    variables: { PATH: "$PATH" },
    maxRepeatedDenials: 3,
    roles: { writer: { extends: "executor", paths: ["docs/**"] } },
    purgeAfterMs: 172_800_000,
    ...changes,
  };
}

export function node(id: string, changes: Partial<TaskNode> = {}): TaskNode {
  return makeNode({ id, workPlanId: "plan", name: `Task ${id}`, status: "active", ...changes }, 0);
}

export function graph(...tasks: TaskNode[]): TaskGraph {
  return makeGraph([makeWorkPlan({ id: "plan", name: "The plan", status: "active", tasks }, 0)]);
}

/** Work that was handed to another session. */
export function handedOver(changes: Pick<Delegation, "session" | "parentSession"> & Partial<Delegation>): Delegation {
  const terms = { id: changes.session, from: "executor", to: "executor", node: "two", tools: [] };
  return { ...terms, expectedOutput: "a change", state: "accepted", ...changes };
}

export const STARTED = graph(node("one", { status: "completed" }), node("two"));

export interface Asked {
  readonly policy?: Policy;
  readonly graph?: TaskGraph;
  readonly files?: Files;
  readonly host?: ToolHost;
  readonly session?: string;
}

export function ask(tool: string, input: unknown, asked: Asked = {}): Verdict {
  const request = requestOf(asked.host ?? "opencode", { tool, input, session: asked.session });
  return judgeWith(asked.files ?? fakeFiles())(request, asked.graph ?? STARTED, asked.policy ?? policy(), 0);
}

/** "allowed", or the rule that denied. */
export function ruleOf(verdict: Verdict): string {
  return verdict.allow ? "allowed" : verdict.denial.rule;
}

/** States that several tests need. */
export const closed: Policy["door"] = { state: "closed", reason: "The plan waits for approval.", gateId: "g1" };

export const waiting = graph(
  node("one", { name: "Schema", status: "active" }),
  node("two", { status: "blocked", dependsOn: ["one"] }),
);

export const gated = graph(
  node("one", { status: "planned" }),
  node("two", { temporalGate: { afterTaskId: "one", reason: "Tables first." } }),
);

export const others = graph(node("two", { assignedTo: "investigator", delegatedBy: "ann" }));

type Row = readonly [what: string, call: readonly [tool: string, input: unknown], expected: string, asked?: Asked];
export const write = (filePath: string) => ["write", { filePath, content: "x" }] as const;
export const bash = (command: string) => ["bash", { command }] as const;

/** Calls, and the rule that denies each of them, or that it is allowed. */
export function table(rule: string, rows: readonly Row[]): void {
  describe(rule, () => {
    for (const [what, [tool, input], expected, asked] of rows)
      test(`${what}: ${expected}`, () => {
        const verdict = ask(tool, input, asked);
        assert.equal(ruleOf(verdict), expected, JSON.stringify(verdict));
      });
  });
}
