import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { after, describe, test } from "node:test";
import { type Role, roleNamed } from "../../../src/governance/policy/roles.ts";
import { serveTools } from "../../../src/hosts/mcp/server.ts";
import { asFields } from "../../../src/kernel/json-fields.ts";
import { governedFiles } from "../run.ts";

const files = governedFiles();
after(() => files.remove());

/** All answers to some lines, by their ids. */
async function answers(lines: readonly (string | object)[], folder = files.folder): Promise<Map<unknown, unknown>> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const wanted = lines.filter((line) => typeof line === "object" && "id" in line).length;
  const served = serveTools(folder, input, output);
  for (const line of lines) input.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
  const found = new Map<unknown, unknown>();
  for await (const line of createInterface({ input: output })) {
    const { id, result, error } = asFields(JSON.parse(line));
    found.set(id, result ?? error);
    if (found.size === wanted) break;
  }
  input.end();
  await served;
  return found;
}

const call = (id: number, name: string, input: object) => ({
  ...{ jsonrpc: "2.0", id, method: "tools/call" },
  params: { name, arguments: input },
});
const textOf = (result: unknown): string => JSON.stringify(asFields(result).content);

describe("the MCP server of a run", () => {
  test("offers the tools that the role has, with its actions, and answers what it does not know", async () => {
    const found = await answers([
      { jsonrpc: "2.0", id: "probe", method: "server/discover", params: {} },
      { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-06-18" } },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      "not JSON",
      { jsonrpc: "2.0", id: 1, method: "tools/list" },
    ]);
    assert.equal(asFields(found.get("probe")).code, -32_601);
    assert.equal(asFields(found.get(0)).protocolVersion, "2025-06-18");
    type Tool = { name: string; inputSchema: { properties: object }; annotations?: { readOnlyHint?: boolean } };
    const { tools } = found.get(1) as { tools: Tool[] };
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["govern_task", "govern_delegate", "govern_shell", "anchor"],
    );
    assert.deepEqual(Object.keys(tools.at(-1)?.inputSchema.properties ?? {}), ["action"]);
    const beside = tools.filter(({ annotations }) => annotations?.readOnlyHint).map(({ name }) => name);
    assert.deepEqual(beside, ["govern_delegate"], "a sub-agent is recalled while it works, or not at all");
    const looking = governedFiles({ role: roleNamed("investigator") as Role });
    const other = await answers([{ jsonrpc: "2.0", id: 1, method: "tools/list" }], looking.folder);
    looking.remove();
    assert.doesNotMatch(JSON.stringify(other.get(1)), /govern_shell|govern_delegate/);
  });

  test("runs a command where the agent works, and tells whether it failed", async () => {
    const found = await answers([
      call(1, "govern_shell", { command: "pwd; echo made > made.txt" }),
      call(2, "govern_shell", { command: "exit 3" }),
      call(3, "govern_shell", { command: "" }),
    ]);
    assert.match(textOf(found.get(1)), new RegExp(`${files.root}\\\\n\\\\n\\[exit code 0\\]`));
    assert.deepEqual(
      [1, 2, 3].map((id) => asFields(found.get(id)).isError),
      [false, true, true],
    );
    assert.match(textOf(found.get(3)), /cannot be used: \\"command\\"/);
    assert(existsSync(join(files.root, "made.txt")));
  });

  test("runs a command with the shell that it is judged as, and answers for one that cannot be started", async () => {
    const own = governedFiles({ place: { root: files.root, home: "/", temporary: "/tmp", shell: "/bin/bash" } });
    const long = `echo ${"é中".repeat(32_000)}`;
    const found = await answers(
      [
        // Arithmetic for bash; other shells run what stands in it.
        call(1, "govern_shell", { command: "((touch arithmetic.txt))" }),
        call(2, "govern_shell", { command: long }),
        call(3, "govern_shell", { command: "echo here" }),
      ],
      own.folder,
    );
    own.remove();
    assert(!existsSync(join(files.root, "arithmetic.txt")));
    assert.match(textOf(found.get(2)), /could not be started/);
    assert.match(textOf(found.get(3)), /here/);
  });

  test("decides and records nothing by itself", async () => {
    const found = await answers([call(1, "govern_task", { action: "complete", evidence: "x" }), call(2, "other", {})]);
    for (const id of [1, 2]) assert.match(textOf(found.get(id)), /prloom did not answer this call/);
    assert(!existsSync(files.facts));
  });

  test("ends a command that is cancelled, and those that run when the program leaves", async () => {
    const found = await answers([
      call(1, "govern_shell", { command: "sleep 600" }),
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
    ]);
    assert.match(textOf(found.get(1)), /ended by SIGKILL/);
  });

  test("does not begin without a policy", async () => {
    await assert.rejects(serveTools("/nowhere", new PassThrough(), new PassThrough()));
  });
});
