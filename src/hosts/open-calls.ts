import type { ToolRequest } from "../governance/policy/request.ts";
import { shortHash } from "../kernel/ids.ts";
import { factId } from "./host-call.ts";

/** What is known of a call until it has ended. */
export interface OpenCall {
  /** Of its tool and arguments: the same call again is the same one. */
  readonly digest: string;
  readonly request: ToolRequest;
  readonly node: string | null;
  /** What it is called in facts. */
  readonly fact: string;
}

/** Of a call; undefined for arguments that are nested deeper than can be written down. */
export function digestOf(tool: string, input: unknown, session = ""): string | undefined {
  try {
    return shortHash(JSON.stringify([session, tool, input ?? null]));
  } catch {
    return undefined;
  }
}

/** Calls that were allowed, and have not ended. */
export class OpenCalls {
  readonly #open = new Map<string, OpenCall>();
  /** How often each id was used. */
  readonly #times = new Map<string, number>();

  get(id: string): OpenCall | undefined {
    return this.#open.get(id);
  }

  /** Some providers number the calls of each answer anew: one that has an earlier one's id is another call all the same. */
  open(id: string, call: Omit<OpenCall, "fact">): void {
    const times = this.#times.get(id) ?? 0;
    this.#times.set(id, times + 1);
    this.#open.set(id, { ...call, fact: factId(times === 0 ? id : `${id}#${times}`) });
  }

  close(id: string): OpenCall | undefined {
    const call = this.#open.get(id);
    this.#open.delete(id);
    return call;
  }
}
