import type { HookPoint } from "../../hooks/contexts/hook-types.ts";
import { type Todo, todoTitle } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { type Extended, withHook } from "../buses/extensions.ts";

/**
 * Written into the record together with what led to the hook: plugins are called before anything else happens to the
 * plan, also after a kill. Nothing when no plugin has the hook, so a repository without plugins writes what it always did.
 */
export function hookDue(loom: Extended, record: PlanRecord, point: HookPoint, todo?: Todo): Pick<PlanRecord, "hook"> {
  if (pluginsFor(loom, record, point).length === 0) return {};
  const about = todo === undefined ? {} : { todo: todoTitle(todo), index: todo.index };
  return { hook: { point, id: roundId(record, point), ...about } };
}

/** A revision is never used twice, so each round of calls has its own name on the bus. */
function roundId(record: PlanRecord, point: string): string {
  return `${point}/${record.uid}/${record.revision + 1}`;
}

/** After a person unblocked the plan the plugins that are not through are called again: their old calls are settled. */
export function hookAgain(record: PlanRecord): Pick<PlanRecord, "hook"> {
  return record.hook ? { hook: { ...record.hook, id: roundId(record, record.hook.point) } } : {};
}

/** The plugins that have this hook, for this plan. */
export function pluginsFor(loom: Extended, record: PlanRecord, point: HookPoint) {
  const all = point === "afterActivate" ? loom.extensions.globalPlugins : loom.extensions.pluginsOf(record);
  return withHook(all, point);
}
