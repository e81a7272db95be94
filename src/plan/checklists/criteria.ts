import { groupsOf } from "./groups.ts";

/** When a plan counts as done, as its text says: the items below "Acceptance criteria" and the like, with boxes or without. */
export function criteriaIn(text: string): readonly string[] {
  const groups = [...groupsOf(text), ...groupsOf(text, { of: "plain" })];
  return groups.filter(({ kind }) => kind === "criteria").flatMap(({ boxes }) => boxes.map((box) => box.text));
}
