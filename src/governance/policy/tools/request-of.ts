import type { RequestKind, ToolRequest } from "../request.ts";
import { CLAUDE_TOOLS } from "./claude.ts";
import { OPENCODE_TOOLS } from "./opencode.ts";
import { filesInPatch } from "./patch-files.ts";
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
/** How hosts call the tools of our own MCP server. */
const OURS = /^(?:mcp__prloom__|prloom_)/;
const MAX_PATH = 4096;

export interface ToolCall {
  readonly tool: string;
  readonly input: unknown;
  readonly session?: string | undefined;
}

/** A call as an agent program has it, as a request; what does not fit makes it malformed, never something else. */
export function requestOf(host: ToolHost, { tool, input, session }: ToolCall): ToolRequest {
  const own = tool.replace(OURS, "");
  const fields = isFields(input) ? input : undefined;
  const common = { tool: own, session, paths: [] };
  if (GOVERNS.has(own)) return governing(own, { fields, session });
  const shape =
    own === "govern_shell"
      ? PRLOOM_TOOLS.shell
      : Object.hasOwn(TOOL_MAPS[host], tool)
        ? TOOL_MAPS[host][tool]
        : undefined;
  if (!shape) return { ...common, tool, kind: "other" };
  if (!fields) return { ...common, kind: shape.kind, malformed: "they are not an object" };
  const read = readFields(shape, fields);
  return { ...common, tool, kind: shape.kind, ...read };
}

const isFields = (input: unknown): input is Readonly<Record<string, unknown>> =>
  typeof input === "object" && input !== null && !Array.isArray(input);

type Fields = Readonly<Record<string, unknown>>;
type ReadFields = Partial<ToolRequest>;

function readFields(shape: ToolShape, fields: Fields): ReadFields {
  const problems: string[] = [];
  const text = (name: string | undefined, needed: boolean, most = MAX_PATH): string | undefined => {
    const value = name === undefined ? undefined : fields[name];
    if (value === undefined || value === null) {
      if (needed && name !== undefined) problems.push(`"${name}" is missing`);
      return undefined;
    }
    if (typeof value !== "string" || (needed && value === ""))
      problems.push(`"${name}" must be a string that is not empty`);
    else if (value.length > most) problems.push(`"${name}" is longer than ${most} characters`);
    else if (value.includes("\0")) problems.push(`"${name}" contains a NUL character`);
    else return value;
    return undefined;
  };
  const needed = (shape.paths ?? []).map((name) => text(name, true));
  const named = (shape.mayName ?? []).map((name) => text(name, false));
  const patch =
    shape.patch === undefined ? [] : (filesInPatch(text(shape.patch, true, 4 * 1024 * 1024) ?? "") ?? undefined);
  if (patch === undefined && problems.length === 0) problems.push(`"${shape.patch}" names no files`);
  const command = text(shape.command, true, Number.POSITIVE_INFINITY);
  const url = text(shape.url, true);
  const [resumes, ...others] = new Set((shape.resumes ?? []).flatMap((name) => text(name, false) ?? []));
  if (others.length > 0) problems.push("they name several sessions");
  const to = text(shape.to, false);
  const folder = text(shape.folder, false);
  const [problem] = problems;
  if (problem !== undefined) return { malformed: problem };
  const file = url === undefined ? [] : filesIn(url);
  const paths = [...needed, ...named, ...(patch ?? []), ...file].filter((path) => path !== undefined);
  return {
    ...(file.length > 0 ? { kind: "read" as RequestKind } : {}),
    paths,
    command,
    folder,
    url,
    ...(shape.kind === "delegate" ? { delegate: { to, resumes } } : {}),
  };
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
