import { below, type Files, realPath } from "../governance/policy/paths.ts";
import type { Policy } from "../governance/policy/policy-file.ts";
import type { ToolRequest } from "../governance/policy/request.ts";
import { startFolder } from "../governance/policy/rule.ts";
import { shortHash } from "../kernel/ids.ts";
import { type CallId, factId, keyOf } from "./host-call.ts";

/** What is known of a call until it has ended. */
export interface OpenCall {
  /** Of its tool and arguments: the same call again is the same one. */
  readonly digest: string;
  readonly request: ToolRequest;
  readonly node: string | null;
  /** Files of the worktree that it names as those it changes; a command names none. */
  readonly files: readonly string[];
  readonly at: number;
  /** What it is called in facts. */
  readonly fact: string;
}

/** What can change files: what is not known can. */
export const mayTouch = (kind: ToolRequest["kind"] = "other"): boolean =>
  kind === "write" || kind === "edit" || kind === "shell" || kind === "other";

/** Files of the worktree that a tool for files names, wherever links lead. */
export function filesNamed(request: ToolRequest, policy: Policy, files: Files): readonly string[] {
  if (request.kind !== "write" && request.kind !== "edit") return [];
  const root = realPath(policy.root, "/", files) ?? policy.root;
  return request.paths.flatMap((path) => {
    const real = realPath(path, startFolder(request, policy), files);
    return real === undefined ? [] : (below(real, root) ?? []);
  });
}

/** Far longer than a file takes to be written: one that is open for longer has ended, and no one told us. */
const UNDER_WAY_MS = 5 * 60_000;

/**
 * Of a call, for the next one like it; undefined for arguments that are nested deeper than can be written down. A command is the same
 * whatever it is said to be for: models describe it anew each time.
 */
export function callDigest({ tool, command, folder }: ToolRequest, input: unknown, session = ""): string | undefined {
  try {
    const written = JSON.stringify(input ?? null);
    return shortHash(JSON.stringify([session, tool, ...(command === undefined ? [written] : ["", command, folder])]));
  } catch {
    return undefined;
  }
}

/** Calls that were allowed, and have not ended. */
export class OpenCalls {
  readonly #open = new Map<string, OpenCall>();
  /** How often each id was used. */
  readonly #times = new Map<string, number>();
  /** Files that are other than before, and those of calls that were not looked at yet. */
  #left: readonly string[] = [];

  get(call: CallId): OpenCall | undefined {
    return this.#open.get(keyOf(call));
  }

  /** Some providers number the calls of each answer anew: one that has an earlier one's id is another call all the same. */
  open(call: CallId, what: Omit<OpenCall, "fact">): OpenCall {
    const times = this.#times.get(call.id) ?? 0;
    this.#times.set(call.id, times + 1);
    const open = { ...what, fact: factId(times === 0 ? call.id : `${call.id}#${times}`) };
    this.#open.set(keyOf(call), open);
    return open;
  }

  /**
   * Of files that are other than before, those of a call that is over: calls are made at once, and looked at one after another.
   * A file is that of the calls that name it. Any other one is that of a command, if one is under way.
   */
  shareOf(call: CallId, changed: readonly string[], now: number): readonly string[] {
    const own = this.get(call);
    const others = this.#others(own, now);
    const named = new Set(others.flatMap(({ files }) => files));
    const isCommand = own === undefined || own.files.length === 0;
    const takesRest = isCommand || others.every(({ files }) => files.length > 0);
    const found = [...new Set([...this.#left, ...changed])];
    const mine = found.filter((file) => own?.files.includes(file) || (takesRest && !named.has(file)));
    this.#left = found.filter((file) => named.has(file) || !mine.includes(file));
    return mine;
  }

  /** Whether no other call is under way that can change files. */
  isAlone(call: CallId, now: number): boolean {
    return this.#others(this.get(call), now).length === 0;
  }

  #others(own: OpenCall | undefined, now: number): readonly OpenCall[] {
    return [...this.#open.values()].filter(
      (one) => one !== own && now - one.at < UNDER_WAY_MS && mayTouch(one.request.kind),
    );
  }

  close(call: CallId): OpenCall | undefined {
    const open = this.get(call);
    this.#open.delete(keyOf(call));
    return open;
  }
}
