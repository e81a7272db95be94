import { TOOL_KINDS } from "../../../config/governance-words.ts";
import type { ToolRequest } from "../request.ts";
import { GOVERNS, ownTool, TOOL_MAPS } from "./request-of.ts";

const isKind = (tool: string): boolean => TOOL_KINDS.some((kind) => kind === tool);

/** Of the tools of all hosts, in small letters. */
const KINDS = new Map<string, readonly string[]>([["govern_shell", ["shell"]]]);
for (const map of Object.values(TOOL_MAPS))
  for (const [tool, { kind }] of Object.entries(map))
    KINDS.set(tool.toLowerCase(), [...(KINDS.get(tool.toLowerCase()) ?? []), kind]);

/** What a tool is, as a kind or by its name at any host. Of one of an MCP server nothing is known. */
export const kindsOf = (tool: string): readonly string[] =>
  isKind(tool) ? [tool] : (KINDS.get(tool.toLowerCase()) ?? []);

/** Whether a name is that of an MCP server's tool: not a kind, and no agent program has it. */
export const isMcpTool = (tool: string): boolean => !GOVERNS.has(tool) && kindsOf(tool).length === 0;

/** Names that no tool can have. Those of MCP servers carry the server's name: `github_get_issue`. */
export const namesOfNone = (tools: readonly string[]): string[] =>
  tools.filter((tool) => isMcpTool(tool) && !tool.includes("_"));

/** Whether kinds and names of tools have that of a call. `bash` is `Bash` as well: a TODO is not written for one program. */
export function isListed(list: readonly string[], { kind, tool }: Pick<ToolRequest, "kind" | "tool">): boolean {
  if (list.includes(kind) || list.includes(tool)) return true;
  return hasName(list, ownTool("claude", tool));
}

/** What is in both of two lists. A name is in one that has its kind, but `write` is more than `Write`: tools of MCP servers, too. */
export function inBoth(one: readonly string[], other: readonly string[]): string[] {
  const has = (list: readonly string[]) => (tool: string) =>
    (!isKind(tool) && hasName(list, tool)) || kindsOf(tool).some((kind) => list.includes(kind));
  return [...new Set([...one.filter(has(other)), ...other.filter(has(one))])];
}

const hasName = (list: readonly string[], name: string): boolean =>
  list.some((one) => one.toLowerCase() === name.toLowerCase());
