import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pluginFor } from "./plugin.ts";

test("what a tool of an MCP server changed is told with its answer, which is a list", async (t) => {
  const mcp = { reads: [], writes: ["notes_write_note"] };
  const { hooks, files } = await pluginFor(t, { terms: { governance: { mcp } } });
  const call = { tool: "notes_write_note", sessionID: "own", callID: "c" };
  await hooks["tool.execute.before"]?.(call, { args: { path: "opencode.json" } });
  writeFileSync(join(files.root, "opencode.json"), "{}");
  const output = { content: [{ type: "text", text: "WRITTEN" }] };
  await hooks["tool.execute.after"]?.(call, output);
  assert.deepEqual(
    output.content.map(({ type, text }) => [type, text.slice(0, 38)]),
    [
      ["text", "WRITTEN"],
      ["text", "GOVERNANCE: this changed opencode.json"],
    ],
  );
});
