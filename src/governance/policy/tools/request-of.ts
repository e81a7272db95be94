import { filesInPatch } from "../../shell/patch-files.ts";
import type { DelegateRequest, ToolRequest } from "../request.ts";
import { CLAUDE_TOOLS } from "./claude.ts";
import { mcpName } from "./mcp-name.ts";
import { OPENCODE_TOOLS } from "./opencode.ts";
import type { ToolMap, ToolShape } from "./tool-map.ts";

/** Who names the tools: an agent program, an MCP server, or we ourselves. */
export type ToolHost = "opencode" | "claude" | "mcp" | "prloom";

/** Our own names: the kinds. */
const PRLOOM_TOOLS: ToolMap = {
  read: { kind: "read", paths: ["path"] },
  search: { kind: "search", mayName: ["path"] },
  write: { kind: "write", paths: ["path"] },
  edit: { kind: "edit", paths: ["path"] },
  shell: { kind: "shell", command: "command", folder: "folder" },
  delegate: { kind: "delegate", to: "to", resumes: ["session"] },
  web: { kind: "web", url: "url" },
};

/** Of MCP servers nothing is known: each tool is allowed by its name, or not at all. */
export const TOOL_MAPS: Readonly<Record<ToolHost, ToolMap>> = {
  opencode: OPENCODE_TOOLS,
  claude: CLAUDE_TOOLS,
  mcp: {},
  prloom: PRLOOM_TOOLS,
};

export const GOVERNS = new Set(["govern_plan", "govern_task", "govern_delegate", "anchor"]);
/** How Claude Code calls the tools of our own MCP server. In OpenCode they are our plugin's, and have no server in front. */
const OURS = /^mcp__prloom__/;
/** A tool's name without that of our server, where the host has it. */
export const ownTool = (host: ToolHost, tool: string): string => (host === "opencode" ? tool : tool.replace(OURS, ""));
const MAX_PATH = 4096;
const MAX_PATCH = 4 * 1024 * 1024;
const MAX_MENTIONS = 1000;

export interface ToolCall {
  readonly tool: string;
  readonly input: unknown;
  readonly session?: string | undefined;
  /** The folder that it is made in; the worktree unless said. */
  readonly folder?: string | undefined;
}

/** A call as an agent program has it, as a request; what does not fit makes it malformed, never something else. */
export function requestOf(host: ToolHost, { tool, input, session, folder }: ToolCall): ToolRequest {
  const own = ownTool(host, tool);
  const fields = isFields(input) ? input : undefined;
  if (GOVERNS.has(own)) return governing(own, { fields, session });
  const shape =
    own === "govern_shell"
      ? PRLOOM_TOOLS.shell
      : Object.hasOwn(TOOL_MAPS[host], tool)
        ? TOOL_MAPS[host][tool]
        : undefined;
  if (!shape) return { tool: mcpName(tool), session, paths: NO_PATHS, kind: "other" };
  if (!fields) return { tool: own, session, paths: NO_PATHS, kind: shape.kind, malformed: "they are not an object" };
  // Our own tool runs commands in the worktree, wherever the conversation is.
  return readFields(shape, fields, { tool, session, folder: own === "govern_shell" ? undefined : folder });
}

const isFields = (input: unknown): input is Readonly<Record<string, unknown>> =>
  typeof input === "object" && input !== null && !Array.isArray(input);

type Fields = Readonly<Record<string, unknown>>;

/** Fields that are being read, and the first thing that is wrong with them. */
interface Reading {
  readonly fields: Fields;
  problem?: string | undefined;
}

function readText(reading: Reading, name: string | undefined, needed: boolean, most = MAX_PATH): string | undefined {
  if (name === undefined) return undefined;
  const value = reading.fields[name];
  if (value === undefined || value === null) {
    if (needed) reading.problem ??= `"${name}" is missing`;
    return undefined;
  }
  if (typeof value !== "string" || (needed && value === ""))
    reading.problem ??= `"${name}" must be a string that is not empty`;
  else if (value.length > most) reading.problem ??= `"${name}" is longer than ${most} characters`;
  else if (value.includes("\0")) reading.problem ??= `"${name}" contains a NUL character`;
  else return value;
  return undefined;
}

function readPaths(shape: ToolShape, reading: Reading): string[] {
  const paths: string[] = [];
  const add = (path: string | undefined) => void (path === undefined || paths.push(path));
  for (const name of shape.paths ?? []) add(readText(reading, name, true));
  for (const name of shape.mayName ?? []) add(readText(reading, name, false));
  for (const name of shape.edits ?? []) for (const path of pathsOfEdits(reading, name)) add(path);
  if (paths.some((path) => /^~(?:\/|$)/.test(path)))
    reading.problem ??= 'a path begins with "~", which only some programs take for a home';
  for (const path of mentioned(readText(reading, shape.mentions, false, MAX_PATCH) ?? "")) add(path);
  if (paths.length > MAX_MENTIONS) reading.problem ??= `"${shape.mentions}" names more than ${MAX_MENTIONS} files`;
  if (shape.patch === undefined) return paths;
  const files = filesInPatch(readText(reading, shape.patch, true, MAX_PATCH) ?? "");
  if (!files) reading.problem ??= `"${shape.patch}" names no files`;
  return files ? [...paths, ...files] : paths;
}

/** Each of several edits may name a file of its own. */
function pathsOfEdits(reading: Reading, name: string): (string | undefined)[] {
  const { edits } = reading.fields;
  if (!Array.isArray(edits)) return [];
  return edits.filter(isFields).map((fields) => {
    const inner: Reading = { fields };
    const path = readText(inner, name, false);
    reading.problem ??= inner.problem;
    return path;
  });
}

/** As OpenCode finds them. It reads these files itself, without a call of a tool. */
function mentioned(words: string): Set<string> {
  const found = words.matchAll(/(?<![\w`])@(\.?[^\s`,.]*(?:\.[^\s`,.]+)*)/g);
  return new Set(Array.from(found, ([, path = ""]) => path).filter((path) => path !== ""));
}

const NO_PATHS: readonly string[] = [];

function readFields(
  shape: ToolShape,
  fields: Fields,
  call: Pick<ToolRequest, "tool" | "session" | "folder">,
): ToolRequest {
  const { tool, session } = call;
  const { kind } = shape;
  const reading: Reading = { fields, problem: undefined };
  const namesPaths = shape.paths ?? shape.mayName ?? shape.patch ?? shape.mentions;
  const named = namesPaths === undefined ? NO_PATHS : readPaths(shape, reading);
  const command = readText(reading, shape.command, true, Number.POSITIVE_INFINITY);
  const url = readText(reading, shape.url, true);
  const delegate = kind === "delegate" ? readDelegate(shape, reading) : undefined;
  const folder = readText(reading, shape.folder, false) ?? call.folder;
  const refused = shape.refuses?.find((name) => fields[name] !== undefined);
  if (refused !== undefined) reading.problem ??= `"${refused}" cannot be used in a run of prloom, leave it out`;
  if (reading.problem !== undefined) return { tool, session, kind, paths: NO_PATHS, malformed: reading.problem };
  const file = url === undefined ? NO_PATHS : filesIn(url);
  if (file.length > 0) return { tool, session, kind: "read", paths: [...named, ...file], url };
  if (delegate) return { tool, session, kind, paths: named, folder, delegate };
  return { tool, session, kind, paths: named, command, folder, url };
}

function readDelegate(shape: ToolShape, reading: Reading): DelegateRequest {
  const [resumes, ...others] = new Set((shape.resumes ?? []).flatMap((name) => readText(reading, name, false) ?? []));
  if (others.length > 0) reading.problem ??= "they name several sessions";
  return { to: readText(reading, shape.to, false), resumes };
}

/** The file that an address names, however its parts are spelled; none for one that is not of a file. */
function filesIn(url: string): string[] {
  const parsed = URL.parse(url);
  return parsed?.protocol === "file:" ? [decoded(parsed.pathname)] : [];
}

/** A sequence that means nothing stays as it is written. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function governing(
  tool: string,
  { fields, session }: { fields: Fields | undefined; session: string | undefined },
): ToolRequest {
  const common = { tool, session, paths: [], kind: "govern" as const };
  if (!fields) return { ...common, malformed: "they are not an object" };
  const { action, node } = fields;
  if (typeof action !== "string") return { ...common, malformed: '"action" must be a string' };
  if (node !== undefined && typeof node !== "string") return { ...common, malformed: '"node" must be a string' };
  const to = typeof fields.to === "string" ? fields.to : undefined;
  return {
    ...common,
    action: { name: action, node },
    ...(tool === "govern_delegate" ? { delegate: { to, node } } : {}),
  };
}
