import { sha256 } from "../../kernel/ids.ts";
import { asString } from "../../kernel/json-fields.ts";

/** Longer than any program's. */
const MAX_ID = 200;
/** More than a run can make, unless it does nothing else; the oldest are forgotten. */
const MAX_CALLS = 100_000;

/** What a call or a sub-agent is called, which is kept as long as its run: it comes from the program, and may be as long as a line. */
export function asCallId(value: unknown): string | undefined {
  const id = asString(value);
  return id === undefined || id.length <= MAX_ID ? id : `long-${sha256(id)}`;
}

/** Calls of a run of which something is remembered. */
export class CallIds {
  readonly #ids = new Set<string>();

  add(id: string): void {
    this.#ids.add(id);
    if (this.#ids.size <= MAX_CALLS) return;
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest);
      break;
    }
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  delete(id: string): void {
    this.#ids.delete(id);
  }
}
