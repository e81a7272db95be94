/** Public types are written by hand. Never run: `tsc` fails when they stop being what the schemas give. */
import type * as z from "zod";
import type { Blocked, ChangeRequest, PlanSource } from "../../src/plan/plan-types.ts";
import type { PlanRecord, planSourceSchema } from "../../src/plan/record.ts";
import type { Same } from "../testing/same-type.ts";

export const PUBLIC_TYPES_ARE_THE_SCHEMAS: {
  source: Same<PlanSource, z.infer<typeof planSourceSchema>>;
  blocked: Same<Blocked, NonNullable<PlanRecord["blocked"]>>;
  changeRequest: Same<ChangeRequest, NonNullable<PlanRecord["changeRequest"]>>;
} = { source: true, blocked: true, changeRequest: true };
