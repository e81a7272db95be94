import { readGates } from "../../dispatcher/report/read-gates.ts";
import type { Call } from "../output.ts";
import { reading } from "../plans.ts";
import { visible } from "../render/safe-text.ts";
import { ageOf } from "../render/time.ts";

const COLUMNS = [
  { header: "PLAN", whole: true },
  { header: "GATE", whole: true },
  { header: "ASKS" },
  { header: "WAITS" },
  { header: "FOR", flexible: true },
  { header: "TITLE", flexible: true },
];

const ASKS = { plan: "plan", pr: "change" } as const;

/** Plans that wait for an answer, for whom and for how long. */
export async function gates(call: Call): Promise<number> {
  const { output } = call;
  const now = Date.now();
  const { gates: open, approvers, advisory, problems } = await reading(call, (loom) => readGates(loom));
  output.data({ gates: open, ...(approvers ? { approvers } : {}), ...(advisory ? { advisory } : {}), problems });
  if (output.json) return 0;
  for (const problem of problems) output.note(visible(problem));
  if (open.length === 0) {
    output.line("No plan waits for an answer.");
    return 0;
  }
  const who = approvers ? approvers.join(", ") : "anyone with write permission";
  output.table(
    COLUMNS,
    open.map(({ plan, gateId, kind, openedAt, title }) =>
      [plan, gateId, ASKS[kind], ageOf(openedAt, now), who, title].map(visible),
    ),
  );
  if (advisory)
    output.note("They are advisory (gates.advisory): agents are asked to wait, and nothing keeps them from writing.");
  output.line();
  output.line("next: prloom show <plan>, then prloom approve|reject|revise <plan>");
  return 0;
}
