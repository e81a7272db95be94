import type { Recommended } from "../denial.ts";
import type { ToolHost } from "./request-of.ts";

/** A call that rules recommend, as the agent program has it: they know the names of OpenCode. */
export function spelledBy(host: ToolHost, call: Recommended): Recommended {
  if (host !== "claude") return call;
  if (call.tool === "read") return { tool: "Read", input: { file_path: call.input.filePath } };
  return { ...call, tool: `mcp__prloom__${call.tool}` };
}
