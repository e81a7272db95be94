import * as z from "zod";
import { CATEGORIES } from "../../config/governance-words.ts";
import { anchorSchema } from "../context/anchors.ts";
import { idSchema, nameSchema, namesSchema } from "../graph/schema.ts";

const task = z.strictObject({
  name: nameSchema.describe("What is to be done."),
  expectedOutput: nameSchema.describe('What must be there at the end: "a change", "tests", "files <glob>" or "none".'),
  assignedTo: nameSchema.default("executor").describe("The role that does it."),
  allowedTools: namesSchema.default([]).describe("Tools it may use; empty means those of the role."),
  dependsOn: z.array(idSchema).max(100).default([]).describe("Ids of tasks that must be completed before."),
  after: z
    .strictObject({ task: idSchema, reason: nameSchema })
    .optional()
    .describe("A task that must be completed before, and why."),
  file: nameSchema.optional(),
  line: z.number().int().positive().optional(),
});

const reason = nameSchema.describe("Why, in one sentence.");
const node = idSchema.optional().describe("The id of a task; yours unless said.");
const action = <Name extends string>(name: Name) => ({ action: z.literal(name) });

/** The tools and their actions. Each action is one shape, so that a role is shown only those that it has. */
export const GOVERN_ACTIONS = {
  govern_plan: {
    create: z.strictObject({
      ...action("create"),
      name: nameSchema,
      acceptance: namesSchema.default([]).describe("When it counts as done."),
      category: z.enum(CATEGORIES).default("feature"),
      dependsOn: z.array(idSchema).max(100).default([]),
    }),
    plan_tasks: z.strictObject({
      ...action("plan_tasks"),
      plan: idSchema.optional(),
      tasks: z.array(task).min(1).max(50),
      ahead: z.boolean().default(false).describe("Known, and not to be started yet."),
    }),
    status: z.strictObject(action("status")),
    archive: z.strictObject({ ...action("archive"), plan: idSchema }),
    abandon: z.strictObject({ ...action("abandon"), plan: idSchema, reason }),
  },
  govern_task: {
    start: z.strictObject({ ...action("start"), node }),
    complete: z.strictObject({ ...action("complete"), node, evidence: nameSchema.describe("What shows it.") }),
    fail: z.strictObject({ ...action("fail"), node, reason }),
    review: z.strictObject({ ...action("review"), node }),
    status: z.strictObject({ ...action("status"), node }),
  },
  govern_delegate: {
    assign: z.strictObject({
      ...action("assign"),
      to: nameSchema.describe("The role that shall do it."),
      name: nameSchema.describe("What is to be done."),
      expectedOutput: nameSchema.describe("What must be brought back."),
      tools: namesSchema.default([]).describe("Tools it may use; empty means those of its role, within yours."),
    }),
    recall: z.strictObject({
      ...action("recall"),
      delegation: idSchema.describe("What was handed over: its own id, or that of the task."),
      reason,
    }),
    status: z.strictObject(action("status")),
  },
  govern_shell: {
    run: z.strictObject({
      action: z.literal("run").default("run"),
      command: z.string().min(1).max(65_536),
      folder: nameSchema.optional().describe("Where it runs; the worktree unless said."),
    }),
  },
  anchor: {
    create: z.strictObject({
      ...action("create"),
      content: nameSchema,
      priority: anchorSchema.unwrap().shape.priority.default("medium"),
      entityType: anchorSchema.unwrap().shape.entityType.default("context"),
      entity: nameSchema.optional().describe("The file, task or agent that it is about."),
    }),
    list: z.strictObject(action("list")),
  },
} as const;

type Actions = typeof GOVERN_ACTIONS;
export type GovernTool = keyof Actions;
/** The arguments of one action, as they are after they were checked. */
export type ArgumentsOf<
  Tool extends GovernTool,
  Name extends keyof Actions[Tool],
> = Actions[Tool][Name] extends z.ZodType ? z.infer<Actions[Tool][Name]> : never;

/** One call of a governance tool, with its arguments checked. */
export type GovernCall = {
  [Tool in GovernTool]: {
    [Name in keyof Actions[Tool]]: { readonly tool: Tool; readonly args: ArgumentsOf<Tool, Name> };
  }[keyof Actions[Tool]];
}[GovernTool];

export const isGovernTool = (tool: string): tool is GovernTool => Object.hasOwn(GOVERN_ACTIONS, tool);

/** What a model gave cannot be used: the field, and arguments that can be. */
export interface Unusable {
  readonly problem: string;
  readonly example: Readonly<Record<string, unknown>>;
}

/** Checks what a model gave. */
export function parseCall(tool: GovernTool, input: unknown): { call: GovernCall } | Unusable {
  const actions: Readonly<Record<string, z.ZodType>> = GOVERN_ACTIONS[tool];
  const named = typeof input === "object" && input !== null ? Reflect.get(input, "action") : undefined;
  const name = named ?? (tool === "govern_shell" ? "run" : undefined);
  const schema = typeof name === "string" && Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!schema) {
    const names = Object.keys(actions);
    const looks = names.find((one) => one === "status" || one === "list");
    return { problem: `"action" must be one of ${names.join(", ")}`, example: { action: looks ?? names[0] } };
  }
  const parsed = schema.safeParse(input);
  if (parsed.success) return { call: { tool, args: parsed.data } as GovernCall };
  const [issue] = parsed.error.issues;
  const problem = `"${issue?.path.join(".") || name}": ${issue?.message ?? "does not fit"}`;
  return { problem, example: Object(exampleOf(z.toJSONSchema(schema, { io: "input" }))) };
}

/** With all that must be there; the words are left to the model. */
function exampleOf(schema: z.core.JSONSchema.BaseSchema): unknown {
  const { const: only, items, properties = {}, required } = schema;
  if (only !== undefined) return only;
  if (items !== undefined) return [exampleOf(Object(items))];
  if (!required) return "…";
  return Object.fromEntries(required.map((field) => [field, exampleOf(Object(properties[field]))]));
}

/** What any of some actions takes, each field optional: providers refuse alternatives, so they are one object. */
export function argumentShape(tool: GovernTool, names: readonly string[]): Readonly<Record<string, z.ZodType>> {
  const actions: Readonly<Record<string, z.ZodObject>> = GOVERN_ACTIONS[tool];
  const shapes = names.flatMap((name) => (Object.hasOwn(actions, name) ? (actions[name]?.shape ?? []) : []));
  const fields = Object.entries(Object.assign({}, ...shapes) as Record<string, z.ZodType>);
  return Object.fromEntries(
    fields.map(([name, field]) => [name, name === "action" ? z.enum(names) : z.optional(field)]),
  );
}

/** The same as JSON Schema. */
export function inputSchema(tool: GovernTool, names: readonly string[]): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(z.strictObject(argumentShape(tool, names)), { io: "input" });
}
