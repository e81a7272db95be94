import { TOOL_KINDS } from "../../config/governance-words.ts";
import { didYouMean } from "../../config/problems/nearest.ts";
import type { ToolRequest } from "../../governance/policy/request.ts";
import { GOVERNS, requestOf, TOOL_MAPS, type ToolHost } from "../../governance/policy/tools/request-of.ts";
import type { ToolShape } from "../../governance/policy/tools/tool-map.ts";
import { PrloomError } from "../../kernel/errors.ts";

/** Names that OpenCode and we have are first taken as OpenCode's. */
const HOSTS: readonly ToolHost[] = ["opencode", "claude", "prloom"];

/** The call that a person asks about: its arguments as words, as JSON in one word, or as an object. */
export function askedCall(tool: string, input: unknown): ToolRequest {
  const words = wordsOf(input);
  const given = words ? objectIn(words) : undefined;
  const hosts = hostsOf(tool, given ?? input);
  const requests = (hosts.length > 0 ? hosts : (["mcp"] as const)).map((host) => {
    const shape = TOOL_MAPS[host][tool];
    return requestOf(host, { tool, input: given ?? (words ? fieldsOf(tool, shape, words) : input) });
  });
  // The first is right, unless only another host would take these arguments.
  return (requests.find(({ malformed }) => malformed === undefined) ?? requests[0]) as ToolRequest;
}

/** Who has a tool of that name, first those whose arguments are named like the ones that are given. */
function hostsOf(tool: string, input: unknown): ToolHost[] {
  const hosts = HOSTS.filter((host) => Object.hasOwn(TOOL_MAPS[host], tool));
  const isMeant = (host: ToolHost): boolean => {
    const { paths = [], mayName = [], command, url, patch } = TOOL_MAPS[host][tool] as ToolShape;
    const names = [...paths, ...mayName, command, url, patch].filter((name) => name !== undefined);
    return typeof input === "object" && input !== null && names.some((name) => Object.hasOwn(input, name));
  };
  return [...hosts.filter(isMeant), ...hosts.filter((host) => !isMeant(host))];
}

/** What to say about a name that no agent program has for a tool; one with `_` may be that of an MCP server. */
export function unknownTool(tool: string): string[] {
  const known = [...TOOL_KINDS, ...HOSTS.flatMap((host) => Object.keys(TOOL_MAPS[host])), ...GOVERNS, "govern_shell"];
  if (known.includes(tool)) return [];
  const guess = didYouMean(tool, tool.includes("_") ? known.filter((name) => name.includes("_")) : known);
  return guess === "" ? [] : [`there is no tool called "${tool}"${guess}`];
}

function wordsOf(input: unknown): readonly string[] | undefined {
  if (typeof input === "string") return [input];
  return Array.isArray(input) && input.every((word) => typeof word === "string") ? input : undefined;
}

function objectIn(words: readonly string[]): object | undefined {
  const [only = ""] = words;
  if (words.length !== 1 || !only.trimStart().startsWith("{")) {
    if (LIKE_JSON.test(only)) throw notJson();
    return undefined;
  }
  try {
    const value: unknown = JSON.parse(only);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // `{ ls; }` is a command.
    if (LIKE_JSON.test(only)) throw notJson();
    return undefined;
  }
}

/** No command begins like that: in a shell, a space is behind the brace. */
const LIKE_JSON = /^\s*\{(?:["']|\w+:|\s*"[^"]*"\s*:)/;

function notJson(): PrloomError {
  const hint = `Put it into single quotes, and close all braces: prloom explain shell '{"command": "ls"}'`;
  return new PrloomError("usage", "the arguments look like JSON, and are not", hint);
}

/** Words as the fields of the tool's arguments. */
function fieldsOf(tool: string, shape: ToolShape | undefined, words: readonly string[]): Record<string, unknown> {
  if (GOVERNS.has(tool)) return { action: words[0], ...(words[1] === undefined ? {} : { node: words[1] }) };
  if (tool === "govern_shell") return { command: words.join(" ") };
  if (!shape) return {};
  if (shape.command !== undefined) return { [shape.command]: words.join(" ") };
  const field = shape.paths?.[0] ?? shape.patch ?? shape.url ?? shape.to ?? shape.mayName?.[0];
  if (field === undefined || words.length === 0) return {};
  if (words.length > 1)
    throw new PrloomError(
      "usage",
      `"${tool}" takes one argument, and these are ${words.length}.`,
      shape.kind === "search"
        ? `A search is judged by where it looks, not by what it looks for: prloom explain ${tool} ${words.at(-1)}`
        : `Put it into quotes, or give all arguments as JSON: prloom explain ${tool} '{"${field}": "…"}'`,
    );
  return { [field]: words[0] };
}
