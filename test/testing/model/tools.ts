import { isAbsolute, join } from "node:path";
import type { Call, Conversation, OfferedTool } from "./conversation.ts";
import type { ToolUse } from "./script.ts";

/** What a use of a tool becomes for the program that asks. */
type Mapped = Omit<Call, "id">;

interface Spelling {
  readonly name: string;
  readonly args: (one: string, two: string, three: string) => Record<string, unknown>;
}

const WRITES: readonly Spelling[] = [
  { name: "Write", args: (file_path, content) => ({ file_path, content }) },
  { name: "write", args: (filePath, content) => ({ filePath, content }) },
  { name: "write_file", args: (file_path, content) => ({ file_path, content }) },
];
const EDITS: readonly Spelling[] = [
  { name: "Edit", args: (file_path, old_string, new_string) => ({ file_path, old_string, new_string }) },
  { name: "edit", args: (filePath, oldString, newString) => ({ filePath, oldString, newString }) },
  {
    name: "replace",
    args: (file_path, old_string, new_string) => ({ file_path, old_string, new_string, instruction: "Edit." }),
  },
];
const READS: readonly Spelling[] = [
  { name: "Read", args: (file_path) => ({ file_path }) },
  { name: "read", args: (filePath) => ({ filePath }) },
  { name: "read_file", args: (file_path) => ({ file_path }) },
];
const SHELLS: readonly Spelling[] = [
  { name: "Bash", args: (command) => ({ command, description: "Run it" }) },
  { name: "bash", args: (command) => ({ command, description: "Run it" }) },
  { name: "run_shell_command", args: (command) => ({ command, description: "Run it" }) },
  { name: "exec_command", args: (cmd) => ({ cmd }) },
  { name: "shell_command", args: (command) => ({ command }) },
  { name: "shell", args: (command) => ({ command: ["bash", "-lc", command] }) },
];

/** The working directory that a program tells its model, in whatever words. */
export function folderOf(conversation: Conversation): string | undefined {
  const all = [conversation.system, ...conversation.said.filter(({ role }) => role === "user").map(({ text }) => text)];
  const told = /(?:working directory(?: is)?:?\s*|<cwd>|Workspace Directories:\*{0,2}\s*- )`?(\/[^\s<`"]*)/i;
  for (const text of all) {
    const found = told.exec(text)?.[1];
    if (found !== undefined) return found.replace(/[.,;]$/, "");
  }
  return undefined;
}

/** One use of a tool, under the names that the program offers. */
export function mapTool(use: ToolUse, conversation: Conversation): Mapped {
  const offered = conversation.tools;
  if ("tool" in use) return named(offered, use.tool, use.args);
  const folder = folderOf(conversation);
  const full = (path: string): string => (isAbsolute(path) || folder === undefined ? path : join(folder, path));
  const shell = (command: string): Mapped => spelled(SHELLS, offered, [command]) ?? named(offered, "bash", { command });
  if ("shell" in use) return shell(use.shell);
  if ("read" in use) return spelled(READS, offered, [full(use.read)]) ?? shell(`cat ${quoted(use.read)}`);
  if ("write" in use) {
    return (
      spelled(WRITES, offered, [full(use.write), use.content]) ??
      patch(offered, addition(use.write, use.content)) ??
      shell(`mkdir -p "$(dirname ${quoted(use.write)})" && printf %s ${quoted(use.content)} > ${quoted(use.write)}`)
    );
  }
  const replace = `s.replace(${JSON.stringify(use.from)}, () => ${JSON.stringify(use.to)})`;
  const program = `const f = process.argv[1], s = fs.readFileSync(f, "utf8"); fs.writeFileSync(f, ${replace})`;
  return (
    spelled(EDITS, offered, [full(use.edit), use.from, use.to]) ??
    shell(`node -e ${quoted(program)} ${quoted(use.edit)}`)
  );
}

function named(offered: readonly OfferedTool[], name: string, args: unknown): Mapped {
  return { name, args, freeform: offered.some((tool) => tool.name === name && tool.freeform) };
}

function spelled(
  spellings: readonly Spelling[],
  offered: readonly OfferedTool[],
  [one, two = "", three = ""]: readonly [string, string?, string?],
): Mapped | undefined {
  const found = spellings.find(({ name }) => offered.some((tool) => tool.name === name));
  return found && { name: found.name, args: found.args(one, two, three), freeform: false };
}

/** The patch tool that GPT models get instead of one that writes; its argument has another name in each program. */
function patch(offered: readonly OfferedTool[], text: string): Mapped | undefined {
  const tool = offered.find(({ name }) => name === "apply_patch");
  if (tool === undefined) return undefined;
  const args = tool.freeform ? text : { [tool.parameters[0] ?? "input"]: text };
  return { name: tool.name, args, freeform: tool.freeform };
}

function addition(path: string, content: string): string {
  const lines = content.replace(/\n$/, "").split("\n");
  return `*** Begin Patch\n*** Add File: ${path}\n${lines.map((line) => `+${line}\n`).join("")}*** End Patch\n`;
}

/** One word for a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
