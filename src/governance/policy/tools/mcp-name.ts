/** The name of an MCP server's tool, or a pattern of some, as `server_tool`: Claude Code writes `mcp__server__tool`. */
export function mcpName(tool: string): string {
  return /^mcp__./.test(tool) ? tool.slice("mcp__".length).replace(/(?<=.)__/, "_") : tool;
}
