import { StringDecoder } from "node:string_decoder";
import { takeTurns } from "../kernel/turns.ts";

/*
 * What goes to git and comes from it. An agent decides how much that is, with a tree that has a hundred megabytes of names, so
 * lists of names are made and read piece by piece while others have their turn.
 */

export type Encoding = "utf8" | "latin1";

/** What a git that ended printed. */
export class GitResult {
  readonly stderr: string;
  readonly code: number;
  readonly #chunks: readonly Uint8Array[];
  readonly #encoding: Encoding;

  constructor(ended: { stderr: string; code: number }, chunks: readonly Uint8Array[], encoding: Encoding) {
    this.stderr = ended.stderr;
    this.code = ended.code;
    this.#chunks = chunks;
    this.#encoding = encoding;
  }

  get stdout(): string {
    return Buffer.concat(this.#chunks).toString(this.#encoding);
  }

  /** What `splitNul` makes of `stdout`; for whatever lists the files of a tree. */
  async entries(): Promise<string[]> {
    const decoder = new StringDecoder(this.#encoding);
    const entries: string[] = [];
    let rest = "";
    for (const chunk of this.#chunks) {
      await takeTurns();
      const parts = (rest + decoder.write(chunk)).split("\0");
      rest = parts.pop() ?? "";
      for (const part of parts) entries.push(part);
    }
    rest += decoder.end();
    if (rest !== "") entries.push(rest);
    return entries;
  }
}

/** Splits the output of a `-z` command; there is no last empty entry. */
export function splitNul(text: string): string[] {
  const parts = text.split("\0");
  if (parts.at(-1) === "") parts.pop();
  return parts;
}

/** So much is written at once. */
const PIECE = 64 * 1024;

/** Lines for the input of git, each with its end. */
export function* lined(lines: Iterable<string>, end = "\0"): Generator<string> {
  let piece = "";
  for (const line of lines) {
    piece += line + end;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

/** The same as bytes, while others have their turn. */
export async function* bytesIn(input: string | Iterable<string>, encoding: Encoding): AsyncGenerator<Buffer> {
  for (const piece of typeof input === "string" ? [input] : input) {
    await takeTurns();
    yield Buffer.from(piece, encoding);
  }
}
