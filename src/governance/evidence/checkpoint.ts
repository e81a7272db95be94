import { type Checkpoint, PUT_BACK } from "../graph/schema.ts";
import type { ToolRequest } from "../policy/request.ts";
import type { EffectTree } from "../shell/effects.ts";
import { kindOfCommand } from "./command-kind.ts";
import { tellsOfTests } from "./exit-code.ts";

/** A call of a tool that has ended. */
export interface EndedCall {
  readonly id: string;
  readonly request: ToolRequest;
  /** What a shell command does. */
  readonly effects?: EffectTree | undefined;
  /** Files that are other than before it, below the worktree. */
  readonly files: readonly string[];
  /** Protected files that were found changed after it, and are as they were again. */
  readonly putBack?: readonly string[];
  readonly ok: boolean;
  readonly at: number;
}

const MAX_SUMMARY = 300;
const MAX_FILES = 200;
/** All of them together are a line that is still read. */
const MAX_PATH = 1000;

const UNTOLD = " (its exit code does not tell whether they passed)";

/** What of a call is kept as evidence for its node; undefined for one that only looked, or did nothing that counts. */
export function checkpointOf(call: EndedCall, node: string): Checkpoint | undefined {
  const kind = kindOf(call);
  if (kind === undefined) return undefined;
  const { id, request, files, at } = call;
  const isTold = kind !== "test" || !call.ok || tellsOfTests(request.command ?? "");
  return {
    id,
    taskNodeId: node,
    tool: request.tool,
    timestamp: at,
    summary: `${summaryOf(call)}${isTold ? "" : UNTOLD}`.slice(0, MAX_SUMMARY),
    filesModified: files.slice(0, MAX_FILES).map((file) => file.slice(0, MAX_PATH)),
    kind,
    ok: call.ok && isTold && (call.putBack ?? []).length === 0,
  };
}

function kindOf({ request, effects, files, ok, putBack = [] }: EndedCall): Checkpoint["kind"] | undefined {
  if (request.kind === "write" || request.kind === "edit") return ok ? "change" : undefined;
  if (putBack.length > 0) return "change";
  if (request.kind !== "shell") return undefined;
  const kind = effects && kindOfCommand(effects);
  return kind ?? (files.length > 0 ? "change" : undefined);
}

function summaryOf({ request, files, ok, putBack = [] }: EndedCall): string {
  const [first, ...others] = files;
  const changed = first === undefined ? "" : `${first}${others.length > 0 ? ` and ${others.length} more` : ""}`;
  const about = request.kind === "shell" ? oneLine(request.command ?? "") : changed || request.paths.join(", ");
  const also = request.kind === "shell" && changed !== "" ? ` (changed ${changed})` : "";
  const back = putBack.length > 0 ? `${PUT_BACK} ${putBack.join(", ").slice(0, MAX_SUMMARY / 2)}, found after ` : "";
  return `${back}${about || request.tool}${ok ? "" : " (failed)"}${also}`.slice(0, MAX_SUMMARY);
}

const oneLine = (text: string): string =>
  text
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_SUMMARY / 2);
