import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { type Policy, parsePolicy } from "../../governance/policy/policy-file.ts";
import { inputSchema, isGovernTool, parseCall } from "../../governance/tools/arguments.ts";
import { DESCRIPTIONS } from "../../governance/tools/descriptions.ts";
import { asFields, asString, type JsonFields, jsonIn } from "../../kernel/json-fields.ts";
import { GOVERNANCE_FILES } from "../run-governance.ts";
import { runShell } from "../run-shell.ts";

const PROTOCOL = "2025-11-25";
const NO_SUCH_METHOD = -32_601;

/** Their plain names stand in what prloom says to agents. */
const INSTRUCTIONS =
  "What prloom says calls these tools by their plain names: govern_task is mcp__prloom__govern_task.";

/** What the model reads if the dispatcher, which answers these calls, did not. */
const UNANSWERED = "prloom did not answer this call. Go on with your task.";

type Id = string | number;

/**
 * The governance tools for a program that takes them from an MCP server, over stdin and stdout, to the end of stdin. It decides and
 * records nothing: calls are judged by the dispatcher, whom the program asks, and their answers are the dispatcher's, too. Only
 * a command is run here, because it must run where the agent does.
 */
export async function serveTools(folder: string, input: Readable, output: Writable): Promise<void> {
  const policy = parsePolicy(await readFile(join(folder, GOVERNANCE_FILES.policy), "utf8"));
  const running = new Map<Id, AbortController>();
  const answer = (id: Id, result: JsonFields): void =>
    void output.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...result })}\n`);
  for await (const line of createInterface({ input })) {
    const { id, method, params } = asFields(jsonIn(line));
    if (method === "notifications/cancelled") running.get(asFields(params).requestId as Id)?.abort();
    if (typeof id !== "string" && typeof id !== "number") continue;
    if (method !== "tools/call") answer(id, answerTo(method, asFields(params), policy));
    else {
      const over = new AbortController();
      running.set(id, over);
      void callTool(asFields(params), policy, over.signal).then((result) => {
        running.delete(id);
        answer(id, { result });
      });
    }
  }
  for (const over of running.values()) over.abort();
}

function answerTo(method: unknown, { protocolVersion }: JsonFields, { role }: Policy): JsonFields {
  switch (method) {
    case "initialize": {
      const serverInfo = { name: "prloom", version: "1" };
      const known = { protocolVersion: asString(protocolVersion) ?? PROTOCOL, instructions: INSTRUCTIONS };
      return { result: { ...known, capabilities: { tools: {} }, serverInfo } };
    }
    case "tools/list":
      return { result: { tools: toolsOf(role) } };
    case "ping":
      return { result: {} };
    default:
      return { error: { code: NO_SUCH_METHOD, message: "prloom does not have this method." } };
  }
}

/** Claude Code makes only such calls while a sub-agent works that was started in the same answer: without it none could be recalled. */
const BESIDE_OTHERS = { readOnlyHint: true };

/** The tools that the role has, with the actions that it has. */
function toolsOf({ governs }: Policy["role"]): JsonFields[] {
  return Object.entries(governs).flatMap(([name, actions]) =>
    isGovernTool(name)
      ? [
          {
            name,
            description: DESCRIPTIONS[name],
            inputSchema: inputSchema(name, actions),
            ...(name === "govern_delegate" ? { annotations: BESIDE_OTHERS } : {}),
            // Claude Code shows a model only the names of others, until it asks for one.
            _meta: { "anthropic/alwaysLoad": true },
          },
        ]
      : [],
  );
}

async function callTool(
  { name, arguments: input }: JsonFields,
  policy: Policy,
  signal: AbortSignal,
): Promise<JsonFields> {
  if (name !== "govern_shell") return said(UNANSWERED);
  const parsed = parseCall(name, input);
  if ("problem" in parsed || parsed.call.tool !== name)
    return {
      ...said(`REFUSED: The arguments cannot be used: ${"problem" in parsed ? parsed.problem : ""}.`),
      isError: true,
    };
  const { printed, ok } = await runShell({ kind: "run", folder: undefined, ...parsed.call.args }, policy, signal);
  return { ...said(printed), isError: !ok };
}

const said = (text: string): JsonFields => ({ content: [{ type: "text", text }] });
