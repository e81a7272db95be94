import * as z from "zod";
import { PERMISSIONS } from "../permission-words.ts";
import { anObject, text, usually, yesOrNo } from "./fields.ts";

const permission = z.enum(PERMISSIONS);

/** Those who comment at a command line of this machine, by the name that they comment with. */
export const authorsSchema = z.record(text, permission, anObject);

const told = (when: string) => usually(yesOrNo.describe(`Whether the status comment tells that ${when}`), true);

/** What the source of a plan is told while it is worked on, in one comment that is edited, and its end in another. */
export const writebackSchema = z.strictObject(
  {
    investigating: told("an agent reads what is asked for"),
    planning: told("the plan is being written"),
    plan: told("the plan is complete"),
    implementing: told("the plan is implemented"),
    pr: told("there is a change request"),
    body: usually(yesOrNo.describe("Whether the plan is written to the text of its issue on GitHub"), false),
    done: usually(yesOrNo.describe("Whether a comment tells that the change request was merged or closed"), true),
  },
  anObject,
);
