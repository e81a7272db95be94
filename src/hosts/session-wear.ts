import type { SeenOutput } from "../governance/context/warnings.ts";

const MAX_OUTPUTS = 1000;

/** How long each session goes on without evidence, and what its tools brought. */
export class SessionWear {
  readonly #outputs = new Map<string, readonly SeenOutput[]>();
  readonly #drift = new Map<string, number>();

  /** Sessions that something is known of. */
  get size(): number {
    return new Set([...this.#outputs.keys(), ...this.#drift.keys()]).size;
  }

  brought(session: string, output: SeenOutput): void {
    this.#outputs.set(session, [...this.outputs(session), output].slice(-MAX_OUTPUTS));
  }

  /** It changed something that is not evidence. */
  drifted(session: string): void {
    this.#drift.set(session, this.drift(session) + 1);
  }

  /** There is evidence, or a note, of what it does. */
  anchored(session: string): void {
    this.#drift.delete(session);
  }

  outputs(session: string): readonly SeenOutput[] {
    return this.#outputs.get(session) ?? [];
  }

  drift(session: string): number {
    return this.#drift.get(session) ?? 0;
  }

  release(session: string): void {
    this.#outputs.delete(session);
    this.#drift.delete(session);
  }
}
