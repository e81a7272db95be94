import { POLICY_RULES } from "../../governance/policy/judge.ts";
import type { Call } from "../output.ts";

/** Lists the rules of the policy in the order in which they are asked. */
export function rules({ output }: Call): number {
  output.data(POLICY_RULES.map(({ name, purpose }) => ({ name, purpose })));
  output.table(
    [
      { header: "", align: "right" },
      { header: "RULE", whole: true },
      { header: "WHAT IT IS FOR", flexible: true },
    ],
    POLICY_RULES.map(({ name, purpose }, at) => [String(at + 1), name, purpose]),
  );
  output.line();
  output.line("The first rule that denies a call is what the agent is told: `prloom explain <tool> <args…>` shows it.");
  return 0;
}
