import type { HookPoint } from "../../../src/hooks/contexts/hook-types.ts";
import { GLOBAL_HOOK_POINTS, PLAN_HOOK_POINTS } from "../../../src/hooks/contexts/hook-types.ts";

const EVERYWHERE = ["repoRoot", "signal", "log", "hookPoint"] as const;
const EMITTERS = ["emitAction", "emitComment", "emitReview", "emitMerge", "emitUpsert", "emitNotification"] as const;
const MEMORY = ["getState", "setState", "getGlobalState", "setGlobalState"] as const;
const OF_EVENTS = ["markEventHandled", "markEventDeferred", "reply"] as const;
const GLOBAL = [...EVERYWHERE, ...EMITTERS, ...MEMORY, "readPlan", "listPlans"] as const;
const PLAN = [
  ...EVERYWHERE,
  ...EMITTERS,
  ...MEMORY,
  "readPlan",
  "readEvents",
  "runAgent",
  "planId",
  "worktree",
  "changeRequestRef",
] as const;

/** Which hook's context has which member. A test compares it with the types and with contexts as hooks get them. */
export const CONTEXT_MEMBERS = {
  onStartup: GLOBAL,
  onGlobalEvent: [...GLOBAL, ...OF_EVENTS, "readEvents"],
  beforeRoute: [...GLOBAL, "markActionHandled", "from"],
  beforeUpsert: [...GLOBAL, "from"],
  afterActivate: GLOBAL,
  onEvent: [...PLAN, ...OF_EVENTS],
  afterDesign: PLAN,
  beforeTodo: [...PLAN, "todo"],
  afterTodo: [...PLAN, "todoCompleted"],
  beforeFinish: PLAN,
  afterFinish: PLAN,
} as const satisfies Record<HookPoint, readonly string[]>;

/** The table hook × context member, in Markdown, for docs/plugins.md. */
export function renderMatrix(): string {
  const points: readonly HookPoint[] = [...GLOBAL_HOOK_POINTS, ...PLAN_HOOK_POINTS];
  const has = (point: HookPoint, member: string): boolean =>
    (CONTEXT_MEMBERS[point] as readonly string[]).includes(member);
  const members = new Set(points.flatMap((point): readonly string[] => CONTEXT_MEMBERS[point]));
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    row(["", ...points]),
    row(["---", ...points.map(() => ":-:")]),
    ...[...members].map((member) => row([`\`${member}\``, ...points.map((point) => (has(point, member) ? "✓" : ""))])),
  ].join("\n");
}
