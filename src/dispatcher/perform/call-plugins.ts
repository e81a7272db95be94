import type { TextHookPoint } from "../../hooks/context-types.ts";
import type { HookPoint } from "../../hooks/hook-types.ts";
import { closeRecord, runActivateHooks, runTextHooks } from "../../hooks/plan-hooks.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { nextTodo } from "../../plan/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { blockPlan, hookScope, type Loom, requireRecord, updateRecord } from "../loom.ts";
import { planText, textPath, worktreeOf } from "../observe.ts";
import { summaryFor } from "../plan-reading.ts";
import { pluginsFor } from "./hook-due.ts";
import { StepInterrupted } from "./interrupted.ts";
import { finishPlan } from "./land.ts";
import { restage } from "./verify.ts";

/** Calls the plugins that the record waits for, then does what comes after this hook. */
export async function callPlugins(loom: Loom, record: PlanRecord): Promise<void> {
  const { hook } = record;
  if (!hook) return;
  const outcome = await callAll(loom, record, hook);
  // The next start goes on with the same round.
  if (outcome.kind === "stopped") throw new StepInterrupted("stopping");
  crashPoint("hook:all-called");
  const now = requireRecord(loom, record.id);
  // Blocked, unblocked or deleted meanwhile: another round is due, or none.
  if (now.hook?.id !== hook.id) return;
  if (outcome.kind === "failed") {
    blockPlan(loom, record.id, {
      reason: `The plugin ${outcome.plugin} failed in ${hook.point}: ${outcome.reason}`,
      hint: `Mend what it complains about, or the plugin, then run \`prloom unblock ${record.id}\`.`,
      cause: "step",
    });
    return;
  }
  await goOn(loom, now, hook.point);
  closeRecord(hook.point === "afterActivate" ? loom.globalBus() : loom.bus(record.id), hook.id);
}

type Hook = NonNullable<PlanRecord["hook"]>;

async function callAll(loom: Loom, record: PlanRecord, hook: Hook) {
  const plugins = pluginsFor(loom, record, hook.point as HookPoint);
  if (hook.point === "afterActivate") {
    const plan = { ...summaryFor(loom, record), worktree: worktreeOf(loom, record).path };
    return runActivateHooks(loom.hookHost, { bus: loom.globalBus() }, { plugins, record: hook.id, plan });
  }
  return runTextHooks(loom.hookHost, hookScope(loom, record), {
    point: hook.point as TextHookPoint,
    record: hook.id,
    plugins,
    ...(hook.todo === undefined ? {} : { todo: hook.todo }),
    readText: () => planText(loom, record)?.text ?? "",
    writeText: (text) => loom.texts.write(textPath(loom, record), text),
  });
}

async function goOn(loom: Loom, record: PlanRecord, point: string): Promise<void> {
  if (point === "afterTodo" && record.current) {
    // A formatter in a plugin is part of the TODO's commit.
    const tree = await restage(loom, record);
    updateRecord(loom, record.id, (now) =>
      now.current ? { current: { ...now.current, tree }, hook: undefined } : { hook: undefined },
    );
    return;
  }
  if (point === "beforeFinish") {
    const doc = planText(loom, record)?.doc;
    // A plugin may have added a TODO: then the plan is not finished after all.
    if (doc && nextTodo(doc).kind === "all-done") return finishPlan(loom, record);
  }
  updateRecord(loom, record.id, () => ({ hook: undefined }));
}
