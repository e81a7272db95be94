import * as z from "zod";
import { anObject, text } from "./fields.ts";

/** What can happen to an issue. Other event types are the bridges' own, and none of them begins with `issue.`. */
export const ISSUE_EVENTS = [
  "issue.opened",
  "issue.labeled",
  "issue.assigned",
  "issue.reopened",
  "issue.moved",
] as const;

const PROJECT = /^([A-Za-z\d](?:[A-Za-z\d_-]*[A-Za-z\d])?)\/([1-9]\d{0,8})$/;
const project = text.refine((value) => PROJECT.test(value), {
  error: 'must be "<owner>/<number>", as in the address of the project',
});

/** An event that makes a plan. */
export const triggerSchema = z.strictObject(
  {
    on: text.describe("The type of the event."),
    repo: text.exactOptional().describe("Only events of this repository."),
    label: text.exactOptional().describe("Only with this label."),
    assignee: text.exactOptional().describe("Only for this assignee."),
    project: project.exactOptional().describe("With `issue.moved`: the project (board), `<owner>/<number>`."),
    column: text.exactOptional().describe("With `issue.moved`: the column that it came into."),
    do: z.enum(["upsert", "queue"]).describe("`upsert` makes a draft, `queue` a plan that is worked on."),
    preset: text.exactOptional().describe("The preset of the new plan."),
  },
  anObject,
);
export type Trigger = Readonly<z.output<typeof triggerSchema>>;

/** A board on GitHub, and the columns of it that make plans. */
export interface WatchedBoard {
  readonly owner: string;
  readonly number: number;
  readonly columns: readonly string[];
}

/** Pure: the boards that the triggers name, each once. */
export function boardsIn(triggers: readonly Trigger[]): WatchedBoard[] {
  const moves = triggers.filter(({ on }) => on === "issue.moved");
  const byProject = Map.groupBy(moves, ({ project: name = "" }) => name.toLowerCase());
  return [...byProject].flatMap(([name, ones]) => {
    const [, owner = "", number] = PROJECT.exec(name) ?? [];
    const columns = [...new Set(ones.flatMap(({ column = "" }) => column.trim() || []))];
    return number === undefined ? [] : [{ owner, number: Number(number), columns }];
  });
}
