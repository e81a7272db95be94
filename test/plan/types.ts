/** Public types are written by hand. Never run: `tsc` fails when they stop being what the schemas give. */
import type * as z from "zod";
import type { Blocked, ChangeRequest, Phase, PlanSource, PlanStatus } from "../../src/plan/plan-types.ts";
import type { PHASES, PLAN_STATUSES, PlanRecord, planSourceSchema } from "../../src/plan/record.ts";
import type { Same } from "../testing/same-type.ts";

export const PUBLIC_TYPES_ARE_THE_SCHEMAS: {
  status: Same<PlanStatus, (typeof PLAN_STATUSES)[number]>;
  phase: Same<Phase, (typeof PHASES)[number]>;
  source: Same<PlanSource, z.infer<typeof planSourceSchema>>;
  blocked: Same<Blocked, NonNullable<PlanRecord["blocked"]>>;
  changeRequest: Same<ChangeRequest, NonNullable<PlanRecord["changeRequest"]>>;
} = { status: true, phase: true, source: true, blocked: true, changeRequest: true };
