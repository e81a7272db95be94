import { TOOL_KINDS } from "../../../config/governance-words.ts";
import type { ToolRequest } from "../request.ts";
import { ownTool, TOOL_MAPS } from "./request-of.ts";

/** What a tool is, as a kind or by its name at any host. Of one of an MCP server nothing is known. */
export function kindsOf(tool: string): readonly string[] {
  if (TOOL_KINDS.some((kind) => kind === tool)) return [tool];
  if (tool === "govern_shell") return ["shell"];
  return Object.values(TOOL_MAPS).flatMap((map) => (Object.hasOwn(map, tool) ? (map[tool]?.kind ?? []) : []));
}

/** Whether kinds and names of tools have that of a call. `bash` is `Bash` as well: a TODO is not written for one program. */
export function isListed(list: readonly string[], { kind, tool }: Pick<ToolRequest, "kind" | "tool">): boolean {
  if (list.includes(kind) || list.includes(tool)) return true;
  return hasName(list, ownTool("claude", tool));
}

/** What is in both of two lists. A name is in one that has its kind. */
export function inBoth(one: readonly string[], other: readonly string[]): string[] {
  const has = (list: readonly string[]) => (tool: string) =>
    hasName(list, tool) || kindsOf(tool).some((kind) => list.includes(kind));
  return [...new Set([...one.filter(has(other)), ...other.filter(has(one))])];
}

const hasName = (list: readonly string[], name: string): boolean =>
  list.some((one) => one.toLowerCase() === name.toLowerCase());
