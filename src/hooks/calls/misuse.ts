import { PrloomError } from "../../kernel/errors.ts";

/** An error for the author of a plugin: which member was used wrongly, and how it is used rightly. */
export function misuse(message: string, hint: string): PrloomError {
  return new PrloomError("hook-misuse", message, hint);
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
