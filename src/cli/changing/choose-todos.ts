import { nearest } from "../../config/problems/nearest.ts";
import { PrloomError } from "../../kernel/errors.ts";
import { counted } from "../../kernel/text/words.ts";
import { withTodos } from "../../plan/checklists/as-plan.ts";
import {
  type Checklist,
  checklistUnder,
  headingsOf,
  type LeftOut,
  readChecklist,
  unticked,
} from "../../plan/checklists/checklist.ts";
import type { Group } from "../../plan/checklists/groups.ts";
import { requireReadable } from "../../plan/edit-plan.ts";
import { hasTodoSection } from "../../plan/markdown/markdown.ts";
import { isSetting } from "../../plan/todos/todo.ts";
import type { Call } from "../output.ts";
import { visible } from "../render/safe-text.ts";

/** A text as a plan, with where its TODOs were found in it. */
export interface ChosenTodos {
  readonly text: string;
  readonly from: readonly string[];
  readonly leftOut: readonly LeftOut[];
  /** What was perhaps meant otherwise: lists as TODOs, lines as settings. */
  readonly notes?: readonly string[];
}

/** Says that the designer is to make the TODOs. */
const NONE = "none";

/** Which checkboxes of a text are its TODOs: the rule says it, or the person. */
export async function chooseTodos(
  call: Call,
  text: string,
  wanted: readonly string[] | undefined,
): Promise<ChosenTodos> {
  if (hasTodoSection(requireReadable(text))) {
    if (wanted === undefined) return { text, from: [], leftOut: [] };
    const hint = "Rename that heading, or leave --todos-from out.";
    throw new PrloomError("usage", "The text has a section `## TODO`, so its TODOs are there.", hint);
  }
  const found = readChecklist(text);
  const chosen = wanted === undefined ? await clear(call, found) : named(text, found, wanted);
  if (chosen.kind === "none") return { text, from: [], leftOut: chosen.leftOut, notes: untickedLines(text, wanted) };
  const from = chosen.groups.map(({ heading }) => heading);
  if (chosen.kind === "all-ticked")
    throw new PrloomError(
      "plan-invalid",
      `Every task ${belowHeadings(from)} is ticked: there is nothing to do.`,
      `Untick what is to be done, or ${wanted === undefined ? 'say where the tasks are: --todos-from "<heading>" (none: the designer agent makes them)' : "type --todos-from none: the designer agent makes the TODOs"}.`,
    );
  const plan = withTodos(text, chosen.groups);
  if (plan !== undefined) return { text: plan, from, leftOut: chosen.leftOut, notes: settingLines(chosen.groups) };
  const hint = "Close what is open in it, such as a code fence or a comment.";
  throw new PrloomError("plan-invalid", "Something in the text swallows what follows, so no TODO can be added.", hint);
}

/** Settings count in what was written for prloom alone: an issue may be a stranger's. */
function settingLines(groups: readonly Group[]): string[] {
  return groups
    .flatMap(({ boxes }) => boxes)
    .flatMap(({ context }, index) => {
      const lines = context.split(/\r?\n/).filter(isSetting);
      return lines.map(
        (line) =>
          `TODO ${index + 1} says "${line.trim()}", which has no effect: settings count below a heading \`## TODO\`. If it is meant as one, take the \\ out of it.`,
      );
    });
}

function untickedLines(text: string, wanted: readonly string[] | undefined): string[] {
  if (wanted !== undefined) return [];
  return unticked(text).map(
    ({ heading, count }) =>
      `${counted(count, "item")} ${belowHeadings([heading])} ${count === 1 ? "has" : "have"} no checkbox, so ${count === 1 ? "it is" : "they are"} for the designer to read; --todos-from ${JSON.stringify(visible(heading))} makes TODOs of them.`,
  );
}

function named(text: string, found: Checklist, wanted: readonly string[]): Checklist {
  if (wanted.length === 1 && wanted[0]?.toLowerCase() === NONE) return { kind: "none", leftOut: found.leftOut };
  const chosen = checklistUnder(text, ...wanted);
  if (chosen) return chosen;
  const missing = wanted.find((heading) => !checklistUnder(text, heading)) ?? "";
  const headings = headingsOf(text);
  const meant = nearest(missing, headings);
  const guess = meant === undefined ? "" : `Did you mean --todos-from ${JSON.stringify(visible(meant))}? `;
  throw new PrloomError("usage", `No list stands below a heading "${missing}".`, `${guess}${namesOf(headings)}`);
}

async function clear(call: Call, found: Checklist): Promise<Checklist> {
  if (found.kind !== "unclear") return found;
  const headings = found.groups.map(({ heading }) => heading);
  if (call.output.terminal && process.stdin.isTTY) {
    const { isCancel, select } = await import("../prompts.ts");
    const options = [
      ...found.groups.map((group) => ({
        value: [group],
        label: visible(group.heading) || "those below no heading",
        hint: counted(group.boxes.length, "task"),
      })),
      { value: found.groups, label: "all of them", hint: "in this order" },
      { value: [], label: "none of them", hint: "the designer agent makes the TODOs" },
    ];
    const answer = await select<readonly Group[]>({ message: "Which of these are to be done?", options });
    if (isCancel(answer)) throw new PrloomError("usage", "No plan was made.", namesOf(headings));
    return chosenOf(found, answer);
  }
  const what = `It is not clear which checkboxes are to be done: those ${belowHeadings(headings)}.`;
  throw new PrloomError("usage", what, namesOf(headings));
}

/** What a person chose; the groups that were not are left out as well, and told. */
export function chosenOf(found: Extract<Checklist, { kind: "unclear" }>, chosen: readonly Group[]): Checklist {
  const others = found.groups.filter((other) => !chosen.includes(other));
  const notChosen = others.map(({ heading, boxes }) => ({
    heading,
    count: boxes.length,
    why: "another group" as const,
  }));
  const leftOut = [...found.leftOut, ...notChosen];
  return chosen.length > 0 ? { kind: "todos", groups: chosen, leftOut } : { kind: "none", leftOut };
}

function namesOf(headings: readonly string[]): string {
  const names = [...new Set(headings)];
  const each = [...names.map((name) => JSON.stringify(visible(name))), NONE].map((name) => `--todos-from ${name}`);
  const several = names.length > 1 ? "; repeat it to take several" : "";
  const unnamed = names.includes("") ? '"": those below no heading; ' : "";
  return `Type one of: ${each.join(", ")} (${unnamed}${NONE}: the designer agent makes them)${several}.`;
}

/** Where tasks stand, for people. */
export function belowHeadings(headings: readonly string[]): string {
  const names = headings.map((heading) => (heading === "" ? "no heading" : `"${visible(heading)}"`));
  return `below ${names.join(", ")}`;
}

/** What was not taken, one line for each reason and heading. */
export function leftOutLines(leftOut: readonly LeftOut[]): string[] {
  return leftOut.map(({ heading, count, why }) => `${count} ${belowHeadings([heading])}: ${why}`);
}
