import { resolve } from "node:path";
import type { Denial, Verdict } from "../../governance/policy/denial.ts";
import { judgeWith } from "../../governance/policy/judge.ts";
import { realFiles } from "../../governance/policy/real-files.ts";
import type { ToolRequest } from "../../governance/policy/request.ts";
import type { Scene } from "./scene.ts";

/** The verdict for programs; what only denials have is null for a call that is allowed, what only some have is left out. */
type VerdictData = { readonly verdict: "allow" | "deny" } & {
  readonly [Part in "rule" | "what" | "why" | "useInstead" | "evidence"]: string | null;
} & Partial<Pick<Denial, "calls" | "chain">> & { readonly note?: string; readonly warnings?: readonly string[] };

/** The request as it would be made there: paths count from the folder that the person is in, as for a shell. */
export function requestIn({ folder }: Scene, request: ToolRequest): ToolRequest {
  return folder === undefined ? request : { ...request, folder: resolve(folder, request.folder ?? ".") };
}

export function judgeIn({ graph, policy }: Scene, request: ToolRequest): Verdict {
  return judgeWith(realFiles)(request, graph, policy, Date.now());
}

export function verdictData(verdict: Verdict, warnings: readonly string[]): VerdictData {
  const more = warnings.length > 0 ? { warnings } : {};
  if (verdict.allow) {
    const noted = verdict.note === undefined ? {} : { note: verdict.note };
    return { verdict: "allow", rule: null, what: null, why: null, useInstead: null, evidence: null, ...noted, ...more };
  }
  const { rule, what, why, useInstead, evidence, calls, chain } = verdict.denial;
  const parts = { ...(calls && calls.length > 0 ? { calls } : {}), ...(chain === undefined ? {} : { chain }) };
  return { verdict: "deny", rule, what, why, useInstead, evidence, ...parts, ...more };
}
