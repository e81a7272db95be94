import { TOOL_KINDS } from "../../config/governance-words.ts";
import { didYouMean, nearest } from "../../config/problems/nearest.ts";
import { isMcpTool } from "../../governance/policy/tools/request-of.ts";
import type { Todo } from "../../plan/markdown/markdown.ts";

/** What in the lines below a TODO has no effect. */
export function todoWarnings({ index, settings }: Todo): string[] {
  const { tools = [], paths = [] } = settings;
  const lost = paths.filter((path) => /^[/~!]/.test(path) || path.split("/").includes(".."));
  // Tools of MCP servers carry the server's name: `github_get_issue`.
  const unknown = tools.filter((tool) => isMcpTool(tool) && !tool.includes("_"));
  return [
    ...unknown.map((tool) => `"tools: ${tool}" names no tool${didYouMean(nearest(tool, TOOL_KINDS))}`),
    ...lost.map((path) => `"paths: ${path}" fits no file: write a path below the repository, without ..`),
  ].map((problem) => `TODO ${index + 1}: ${problem}`);
}
