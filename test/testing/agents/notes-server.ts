/** An MCP server of the user's, with a tool that nothing is known about. */
export const NOTES = `
const say = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
const tools = [{ name: "write_note", description: "Writes.", inputSchema: { type: "object" } }];
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "n", version: "1" } });
  if (method === "tools/list") say(id, { tools });
  if (method === "tools/call") say(id, { content: [{ type: "text", text: "WRITTEN" }] });
});
`;
