import type { Program } from "./program.ts";
import { END_OF_INPUT, INPUT, SAID } from "./shim-protocol.ts";

/** What a program that is talked to says, on its way to the daemon: all of it, whatever the log keeps. */
export class Conversation {
  readonly #program: Program;
  #waits = true;

  constructor(program: Program) {
    this.#program = program;
    process.stdout.on("drain", this.#resume).on("close", this.#resume);
  }

  /** A program that says more than the daemon takes has to wait. */
  handOn(chunk: Buffer): void {
    if (process.stdout.destroyed || process.stdout.write(`${SAID}${chunk.toString("base64")}\n`) || !this.#waits)
      return;
    for (const output of this.#program.outputs) output.pause();
  }

  /** Nothing of the run is alive: what is left in its pipes is little, and is taken before the daemon is ready for it. */
  takeRest(): void {
    this.#waits = false;
    this.#resume();
  }

  /** Resolves when the daemon has all. One that has heard enough, or is dead, closes the pipe. */
  async delivered(): Promise<void> {
    if (!process.stdout.destroyed) await new Promise((resolve) => process.stdout.write("", resolve));
    process.stdout.off("drain", this.#resume).off("close", this.#resume);
  }

  readonly #resume = (): void => {
    for (const output of this.#program.outputs) output.resume();
  };
}

/** Several of the longest answers. */
const MAX_UNREAD = 64 * 1024 * 1024;

/**
 * Hands on what the daemon says to the program; one that has closed its stdin hears nothing, nor does one that asks and asks and reads no
 * answer: they would fill our memory.
 */
export function say({ child }: Pick<Program, "child">, line: string): void {
  if (!child.stdin?.writable) return;
  if (child.stdin.writableLength > MAX_UNREAD) return void child.stdin.destroy();
  if (line === END_OF_INPUT) child.stdin.end();
  else for (const text of JSON.parse(line.slice(INPUT.length)) as string[]) child.stdin.write(`${text}\n`);
}
