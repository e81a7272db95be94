import * as z from "zod";
import { OWN_ROLES, ROLE_RIGHTS, SHELL_RIGHTS } from "../governance-words.ts";
import { anObject, count, duration, insideRepository, moduleName, text, usually } from "./fields.ts";
import { withUnits } from "./units.ts";

const list = { error: "must be a list of strings" };
const patterns = z.array(
  insideRepository.refine((pattern) => !pattern.startsWith("!"), {
    error: "cannot take something out again with !; name what is meant",
  }),
  list,
);

/** With `!` before it, a pattern says what is not secret; nothing but stars would be everything. */
const secretPatterns = z.array(
  text
    .refine((pattern) => insideRepository.safeParse(pattern.replace(/^!/, "")).success, {
      error: "must be a path below the repository, without ..",
    })
    .refine((pattern) => !pattern.startsWith("!") || /[A-Za-z0-9]/.test(pattern), {
      error: 'would take every file out; name those that are not secret, like "!src/tokens.json"',
    }),
  list,
);

/** A pattern of nothing but stars would allow tools that are not there yet. */
const mcpTools = z.array(
  text.refine((pattern) => /[A-Za-z0-9]/.test(pattern.replace(/^mcp__/, "")), {
    error: 'would allow every tool; name its server at least, like "github_*"',
  }),
  list,
);

const program = text.refine((name) => !/[/\s]/.test(name), {
  error: "must be the name of a program, without its folder and arguments",
});

/** A role of the config, with all that it has: what it does not say is that of the role it extends. */
const roleSchema = z
  .strictObject(
    {
      extends: z
        .enum(OWN_ROLES)
        .describe("The role that it is made from; it has no more tools and no more of a shell."),
      tools: z.array(text, list).exactOptional().describe("Kinds of tools, and names of single MCP tools."),
      paths: patterns.exactOptional().describe("Where it writes, as patterns below the worktree."),
      shell: z.enum(SHELL_RIGHTS).exactOptional().describe("What it runs: nothing, what only reads, or all."),
    },
    anObject,
  )
  .transform((role) => ({ ...ROLE_RIGHTS[role.extends], ...role }));

/** What agents may do beyond, and less than, what is usual. */
export const governanceSchema = z
  .strictObject(
    {
      roles: z
        .record(moduleName, roleSchema, anObject)
        .prefault({})
        .describe("Roles besides coordinator, investigator and executor."),
      mcp: z
        .strictObject({ reads: mcpTools.prefault([]), writes: mcpTools.prefault([]) }, anObject)
        .prefault({})
        .describe("Tools of MCP servers that may be used: for reading by every role, for writing by those that write."),
      secrets: secretPatterns
        .prefault([])
        .describe("Files that no role reads, besides those that always are secret; with ! before it, one that is not."),
      interpreters: z
        .array(program, list)
        .prefault([])
        .describe("Programs that may be given code inside of a command, as in node -e."),
      protected: patterns.prefault([]).describe("Files that no role changes, besides those that always are protected."),
      maxRepeatedDenials: usually(count("How often one denied call may be repeated before the run ends"), 3),
      purgeAfter: duration("48h", "Abandoned work leaves the context of agents after this", { zero: true, long: true }),
    },
    anObject,
  )
  .transform(withUnits);
