import type { Verdict } from "../../governance/policy/denial.ts";
import { judgeWith } from "../../governance/policy/judge.ts";
import { realFiles } from "../../governance/policy/real-files.ts";
import type { ToolRequest } from "../../governance/policy/request.ts";
import { PrloomError } from "../../kernel/errors.ts";
import type { Scene } from "./scene.ts";

/** The verdict for programs; what only denials have is null for a call that is allowed. */
export type VerdictData = { readonly verdict: "allow" | "deny" } & {
  readonly [Part in "rule" | "what" | "why" | "useInstead" | "evidence"]: string | null;
};

/** What comments decide is the matter of gates, and there are none yet. */
export function noAnswers(): PrloomError {
  const hint = 'It answers for tools: prloom explain shell "npm test"';
  return new PrloomError("usage", "what a comment would decide is not available in this version", hint);
}

export function judgeIn({ graph, policy }: Scene, request: ToolRequest): Verdict {
  return judgeWith(realFiles)(request, graph, policy, Date.now());
}

export function verdictData(verdict: Verdict): VerdictData {
  if (verdict.allow) return { verdict: "allow", rule: null, what: null, why: null, useInstead: null, evidence: null };
  const { rule, what, why, useInstead, evidence } = verdict.denial;
  return { verdict: "deny", rule, what, why, useInstead, evidence };
}
