import * as z from "zod";
import { messageOf, PrloomError } from "../../kernel/errors.ts";

/** The version of `policy.json` that this prloom writes and reads. */
export const POLICY_VERSION = 1;

const roleSchema = z.strictObject({
  name: z.string().min(1),
  tools: z.array(z.string()),
  paths: z.array(z.string()),
  shell: z.enum(["none", "reads", "work"]),
  governs: z.record(z.string(), z.array(z.string())),
});

/** A role that the config adds, as it stands there. */
const addedRoleSchema = z.strictObject({
  extends: z.string(),
  tools: z.array(z.string()).exactOptional(),
  paths: z.array(z.string()).exactOptional(),
  shell: z.enum(["none", "reads", "work"]).exactOptional(),
});

const policySchema = z.strictObject({
  schemaVersion: z.literal(POLICY_VERSION),
  role: roleSchema,
  /** The node that may be worked on; null when no task is started. */
  node: z.string().nullable(),
  /** Closed while a person decides. */
  door: z.strictObject({ state: z.enum(["open", "closed"]), reason: z.string(), gateId: z.string().optional() }),
  /** The worktree, absolute. */
  root: z.string().startsWith("/"),
  /** The home and the folder for temporary files, absolute. */
  home: z.string().startsWith("/"),
  temporary: z.string().startsWith("/"),
  /** The program that commands of the run are given to: the one as which they are judged. */
  shell: z.string().startsWith("/").exactOptional(),
  /** Variables of the run whose values every command of it finds: the paths in its prompt. */
  variables: z.record(z.string(), z.string()),
  /** Narrower than the role's, where the task says so. */
  paths: z.array(z.string()).nullable(),
  tools: z.array(z.string()).nullable(),
  /** Paths below the worktree that no role writes, and where it may nevertheless. */
  protected: z.array(z.string()),
  /** Tools of MCP servers, as `server_tool` patterns. */
  mcp: z.strictObject({ reads: z.array(z.string()), writes: z.array(z.string()) }),
  /** Patterns of files that are secret besides those that always are. */
  secrets: z.array(z.string()),
  /** Interpreters that may be given code in the command. */
  interpreters: z.array(z.string()),
  /** The run's own session, and its depth of delegation. */
  session: z.string().nullable(),
  maxRepeatedDenials: z.number().int().min(1),
  /** Roles of the config, for sub-agents that are called so. */
  roles: z.record(z.string(), addedRoleSchema).exactOptional(),
  /** Abandoned plans leave the context of agents after so many milliseconds. */
  purgeAfterMs: z.number().nonnegative().exactOptional(),
});

/** What one run may do, written once by the dispatcher before it starts. */
export type Policy = z.infer<typeof policySchema>;

/** Reads a policy; one that does not fit is refused by what is wrong with it. */
export function parsePolicy(text: string, name = "policy.json"): Policy {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refused(name, `it is not JSON: ${messageOf(error)}`, error);
  }
  const version: unknown =
    typeof value === "object" && value !== null ? Reflect.get(value, "schemaVersion") : undefined;
  if (typeof version === "number" && version > POLICY_VERSION)
    throw refused(name, `it has version ${version}, and this prloom knows versions up to ${POLICY_VERSION}`);
  const parsed = policySchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw refused(name, `${issue?.path.join(".") || "it"}: ${issue?.message ?? "does not fit"}`);
}

function refused(name: string, why: string, cause?: unknown): PrloomError {
  const hint = "Write it again with this version of prloom.";
  return new PrloomError("policy-invalid", `${name} cannot be used: ${why}.`, hint, cause);
}
