import type { ToolKind } from "../../config/governance-words.ts";

export type RequestKind = ToolKind;

export interface ToolRequest {
  readonly kind: RequestKind;
  /** The tool's own name, as the agent program has it. */
  readonly tool: string;
  /** Files that it names, as it names them. */
  readonly paths: readonly string[];
  /** Of a shell. */
  readonly command?: string | undefined;
  /** The folder that it is called in; the worktree unless said. */
  readonly folder?: string | undefined;
  /** Of what is fetched. */
  readonly url?: string | undefined;
  /** Whose call it is; unset means the run's own session. */
  readonly session?: string | undefined;
  /** Of a delegation: what is asked for. */
  readonly delegate?: DelegateRequest | undefined;
  /** Of a governance tool. */
  readonly action?: { readonly name: string; readonly node?: string | undefined } | undefined;
  /** What is wrong with its arguments: they are then not looked at further. */
  readonly malformed?: string | undefined;
}

export interface DelegateRequest {
  /** The role that shall do it. */
  readonly to?: string | undefined;
  readonly node?: string | undefined;
  /** A session to go on with. */
  readonly resumes?: string | undefined;
}

/** Kinds that change nothing. */
export function onlyLooks(kind: RequestKind): boolean {
  return kind === "read" || kind === "search" || kind === "web";
}
