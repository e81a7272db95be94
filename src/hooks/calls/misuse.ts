import { PrloomError } from "../../kernel/errors.ts";

/** An error for the author of a plugin: which member was used wrongly, and how it is used rightly. */
export function misuse(message: string, hint: string): PrloomError {
  return new PrloomError("hook-misuse", message, hint);
}

/** A value that an author gave, for such an error. */
export function showValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 80));
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "a list" : `a value of type ${typeof value}`;
}

/** Whether the call that a context belongs to is still under way. */
export class CallLife {
  readonly #call: string;
  #over = false;

  constructor(call: string) {
    this.#call = call;
  }

  end(): void {
    this.#over = true;
  }

  /** Throws when the call is over: what comes then can no longer be committed with it. */
  require(member: string): void {
    if (!this.#over) return;
    throw misuse(
      `${member} was called after ${this.#call} was over.`,
      "Await everything before the hook returns; what it does later has no effect.",
    );
  }
}
