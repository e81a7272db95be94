import { onlyLooks } from "../governance/policy/request.ts";
import { requestOf, type ToolHost } from "../governance/policy/tools/request-of.ts";
import { messageOf } from "../kernel/errors.ts";
import type { HostCall } from "./host-call.ts";

export type HostVerdict =
  /** A note tells the model that something is wrong with us. */
  | { readonly allow: true; readonly note?: string | undefined }
  | { readonly allow: false; readonly text: string; readonly endsRun: boolean };

/** A call that we failed to judge, or not in time: reading goes on, with a note about us, and nothing else does. */
export function unjudged(host: ToolHost, call: Pick<HostCall, "tool" | "input">, error: unknown): HostVerdict {
  const text = `${call.tool} could not be judged. This is a fault of prloom: ${messageOf(error)}`;
  if (onlyLooks(requestOf(host, call).kind)) return { allow: true, note: text };
  return { allow: false, text: `GOVERNANCE BLOCK: ${text}`, endsRun: false };
}
