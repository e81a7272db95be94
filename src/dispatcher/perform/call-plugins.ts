import type { TextHookPoint } from "../../hooks/contexts/context-types.ts";
import type { HookPoint } from "../../hooks/contexts/hook-types.ts";
import type { LoadedPlugin } from "../../hooks/modules/load-plugins.ts";
import { closeRecord, runActivateHooks, runTextHooks } from "../../hooks/plan-hooks.ts";
import { crashPoint } from "../../kernel/crash-point.ts";
import { nextTodo } from "../../plan/markdown/markdown.ts";
import type { PlanRecord } from "../../plan/record.ts";
import { restage } from "../acceptance/changes.ts";
import { type Finishing, finishPlan } from "../acceptance/commit-todo.ts";
import type { Buses } from "../buses/buses.ts";
import type { Extended } from "../buses/extensions.ts";
import { hookScope } from "../buses/hook-scope.ts";
import type { Reporting, Stopping } from "../capabilities.ts";
import type { Gated } from "../gates/gate-store.ts";
import { writeAmended } from "../gates/plan-gate.ts";
import { summaryFor } from "../intake/plan-reading.ts";
import { type Located, worktreeOf } from "../paths.ts";
import { blockPlan, planText, type Records, requireRecord, updateRecord } from "../records.ts";
import type { AtWork } from "../runs/occupancy.ts";
import { StepInterrupted } from "../runs/refuse-start.ts";
import type { Configured } from "../settings/pinned.ts";
import { takePrepared } from "../worktree/prepared.ts";
import { pluginsFor } from "./hook-due.ts";

/** Calls the plugins that the record waits for, then does what comes after this hook. */
export async function callPlugins(loom: Finishing & Buses & AtWork & Stopping, record: PlanRecord): Promise<void> {
  const { hook } = record;
  if (!hook) return;
  const plugins = pluginsFor(loom, record, hook.point as HookPoint).filter(({ name }) => !hook.done?.includes(name));
  const outcome = await callAll(loom, record, plugins);
  // The next start goes on with the same round.
  if (outcome.kind === "stopped") throw new StepInterrupted("stopping");
  crashPoint("hook:all-called");
  const now = requireRecord(loom, record.id);
  // Blocked, unblocked or deleted meanwhile: another round is due, or none.
  if (now.hook?.id !== hook.id) return;
  if (outcome.kind === "failed") block(loom, now, { ...outcome, names: plugins.map(({ name }) => name) });
  else {
    // The calls are over; what follows may touch the worktree like any other step.
    const leave = loom.occupancy.enter(record.id, "step");
    await goOn(loom, now, hook).finally(leave);
  }
  closeRecord(hook.point === "afterActivate" ? loom.globalBus() : loom.bus(record.id), hook.id);
}

type Hook = NonNullable<PlanRecord["hook"]>;

async function callAll(
  loom: Located & Configured & Records & Gated & Buses & Extended & AtWork & Stopping,
  record: PlanRecord,
  plugins: readonly LoadedPlugin[],
) {
  const { hook } = record;
  if (!hook) return { kind: "done" as const };
  const stop = new AbortController();
  // Deleting the plan does not wait for what its plugins are at.
  const leave = loom.occupancy.enter(record.id, "plugin-call", { stop: () => stop.abort() });
  const host = { ...loom.hookServices, stopSignal: AbortSignal.any([loom.stopSignal, stop.signal]) };
  try {
    if (hook.point === "afterActivate") {
      const plan = { ...summaryFor(loom, record), worktree: worktreeOf(loom, record).path };
      return await runActivateHooks(host, { bus: loom.globalBus() }, { plugins, record: hook.id, plan });
    }
    return await runTextHooks(host, hookScope(loom, record), {
      point: hook.point as TextHookPoint,
      record: hook.id,
      plugins,
      ...(hook.todo === undefined ? {} : { todo: hook.todo }),
      readText: () => planText(loom, record)?.text ?? "",
      // What the config brings in need not be approved again.
      writeText: (text, plugin) => writeAmended(loom, record, { text, by: [plugin], isPlugin: true }),
    });
  } finally {
    leave();
  }
}

interface Failure {
  readonly plugin: string;
  readonly reason: string;
  /** In the order in which they were called. */
  readonly names: readonly string[];
}

/** Those before the one that failed are through: another round does not call them again. */
function block(
  loom: Located & Records & Reporting,
  { id, hook }: PlanRecord,
  { plugin, reason, names }: Failure,
): void {
  if (!hook) return;
  const done = [...(hook.done ?? []), ...names.slice(0, names.indexOf(plugin))];
  blockPlan(
    loom,
    id,
    {
      reason: `The plugin ${plugin} failed in ${hook.point}: ${reason}`,
      hint: `Fix what it complains about, or the plugin (${loom.paths.pluginErrors} has where it threw), then run \`prloom unblock ${id}\`.`,
      cause: "step",
    },
    (now) => (now.hook ? { hook: { ...now.hook, done } } : {}),
  );
}

async function goOn(loom: Finishing, record: PlanRecord, hook: Hook): Promise<void> {
  switch (hook.point) {
    case "beforeTodo":
      return followTodo(loom, record, hook);
    case "afterTodo":
      return takeChanges(loom, record);
    case "afterActivate": {
      const left = await takePrepared(loom, record);
      updateRecord(loom, record.id, () => ({ ...left, hook: hook.next }));
      return;
    }
    case "afterDesign":
      return keepDesign(loom, record);
    case "beforeFinish": {
      const doc = planText(loom, record)?.doc;
      // A plugin may have added a TODO: then the plan is not finished after all.
      if (doc && nextTodo(doc).kind === "all-done") return finishPlan(loom, record);
    }
  }
  updateRecord(loom, record.id, () => ({ hook: undefined }));
}

/** A plan without TODOs would be designed again, for the same plugin to take them out again. */
function keepDesign(loom: Located & Records & Reporting, record: PlanRecord): void {
  const hasTodos = (planText(loom, record)?.doc.todos.length ?? 0) > 0;
  if (hasTodos) updateRecord(loom, record.id, () => ({ hook: undefined }));
  else {
    const reason = "After afterDesign the plan has no TODOs.";
    const hint = `Add some with \`prloom edit ${record.id}\`, or fix its plugins; then run \`prloom unblock ${record.id}\`.`;
    blockPlan(loom, record.id, { reason, hint, cause: "step" }, () => ({ hook: undefined }));
  }
}

/** A plugin may reword the TODO that is about to begin: it is then the one at the same place. */
function followTodo(loom: Located & Records & Reporting, record: PlanRecord, hook: Hook): void {
  const todos = planText(loom, record)?.doc.todos ?? [];
  const { current } = record;
  const isThere = todos.some((todo) => todo.id === current?.todoId && todo.state === "open");
  const moved = isThere ? undefined : todos[hook.index ?? -1];
  if (!isThere && moved?.state !== "open") {
    // Beginning the next one would call the same plugins, and maybe never end.
    blockPlan(
      loom,
      record.id,
      {
        reason: `After beforeTodo the TODO "${hook.todo}" is no longer there.`,
        hint: `Look at the plan with \`prloom edit ${record.id}\` and at its plugins, then run \`prloom unblock ${record.id}\`.`,
        cause: "step",
      },
      () => ({ hook: undefined, current: undefined }),
    );
    return;
  }
  updateRecord(loom, record.id, (now) => ({
    hook: undefined,
    ...(now.current && moved ? { current: { ...now.current, todoId: moved.id } } : {}),
  }));
}

/** What plugins changed in the tree, a formatter for instance, is part of the commit, and is verified like the agent's work. */
async function takeChanges(loom: Located & Configured & Records & Reporting, record: PlanRecord): Promise<void> {
  const tree = record.current ? await restage(loom, record) : undefined;
  updateRecord(loom, record.id, ({ current }) => ({
    hook: undefined,
    ...(current && current.tree !== tree ? { current: { ...current, stage: "ended", seen: true } } : {}),
  }));
}
