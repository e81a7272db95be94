import * as z from "zod";
import { anObject, text } from "./fields.ts";

/** What can happen to an issue. Other event types are the bridges' own, and none of them begins with `issue.`. */
export const ISSUE_EVENTS = ["issue.opened", "issue.labeled", "issue.assigned", "issue.reopened"] as const;

/** An event that makes a plan. */
export const triggerSchema = z.strictObject(
  {
    on: text.describe("The type of the event."),
    repo: text.exactOptional().describe("Only events of this repository."),
    label: text.exactOptional().describe("Only with this label."),
    assignee: text.exactOptional().describe("Only for this assignee."),
    do: z.enum(["upsert", "queue"]).describe("`upsert` makes a draft, `queue` a plan that is worked on."),
    preset: text.exactOptional().describe("The preset of the new plan."),
  },
  anObject,
);
export type Trigger = Readonly<z.output<typeof triggerSchema>>;
