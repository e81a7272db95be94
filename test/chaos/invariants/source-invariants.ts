import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listDir } from "../../../src/kernel/files.ts";
import type { PlanRecord } from "../../../src/plan/record.ts";
import type { Outside } from "../../testing/outside.ts";
import type { Project } from "../../testing/project.ts";
import { differs } from "./differs.ts";

/** Ids of the plans that a source of the outside has. */
export function plansOfSource(project: Project, source: string): string[] {
  return listDir(join(project.authority, "plans")).filter((id) => {
    if (!existsSync(join(project.authority, "plans", id, "state.json"))) return false;
    const record: PlanRecord = project.record(id);
    return record.source?.system === "outside" && record.source.id === source;
  });
}

/** Each source has one plan, with the text that was put there last; ticks are the plan's own. */
export function sourceProblems(project: Project, outside: Outside): string[] {
  return [...outside.sources].flatMap(([source, text]) => {
    const plans = plansOfSource(project, source);
    const [id] = plans;
    if (plans.length !== 1 || id === undefined)
      return [`source ${source} has ${plans.length} plans: ${plans.join(", ")}`];
    const { status, metadata } = project.record(id);
    const isInbox = status === "draft" || status === "queued";
    const now = isInbox ? readFileSync(join(project.inbox, `${id}.md`), "utf8") : project.planText(id);
    return [
      ...differs(`the text of source ${source}`, now.replaceAll("- [x]", "- [ ]"), text),
      ...differs(`what beforeUpsert added to source ${source}`, metadata, { checked: true }),
    ];
  });
}
