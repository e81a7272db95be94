/** The line that a program has begun to print and not ended yet. */
export class OpenLine {
  /** One buffer that grows: a program may print byte by byte, and a list of such pieces takes a hundred times the memory. */
  #held = Buffer.alloc(0);
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(part: Uint8Array): void {
    const bytes = this.#bytes + part.length;
    if (bytes > this.#held.length) this.#held = Buffer.concat([this.#held], 2 * bytes);
    this.#held.set(part, this.#bytes);
    this.#bytes = bytes;
  }

  /** All of it, valid until something is added; the next line begins. */
  take(): Buffer {
    const line = this.#held.subarray(0, this.#bytes);
    this.#bytes = 0;
    return line;
  }
}

/** Whether a line of JSON-RPC is a question or an answer. These have an id; what has none may be missed. */
export function isMessage(line: Buffer): boolean {
  // Far cheaper than to parse all that is told by the way.
  if (!line.includes('"id"')) return false;
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    return typeof value === "object" && value !== null && "id" in value;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
