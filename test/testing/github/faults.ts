import { type Random, seededRandom } from "../random.ts";

/** How a call goes wrong. */
export type FaultKind =
  /** No answer at all: the connection is cut before anything happened. */
  | "cut-before"
  /** Everything happened, and the answer is lost. */
  | "cut-after"
  /** Nothing happened, and an error comes. */
  | "error-before"
  /** Everything happened, and an error comes all the same. */
  | "error-after"
  /** Everything happened; half of the answer comes. */
  | "truncated"
  /** The answer never comes; the connection stays open. */
  | "silence"
  /** Nothing happened, and a page comes, with 200: a proxy, or a place to log in. */
  | "page"
  | "secondary-limit";

export interface Fault {
  readonly kind: FaultKind;
  /** Of `error-…`; 502 unless told. */
  readonly status?: number;
  /** Of `error-…`: what the answer says besides. */
  readonly says?: Readonly<Record<string, unknown>>;
  /** Compared with `METHOD /path`, without the query; every call unless told. */
  readonly on?: RegExp;
  /** Once unless told. */
  readonly times?: number;
}

const RANDOM_KINDS: readonly FaultKind[] = ["cut-before", "cut-after", "error-before", "error-after", "truncated"];

/** Decides for each call whether it goes wrong. */
export class Faults {
  #planned: { readonly fault: Fault; left: number }[] = [];
  #random: { readonly share: number; readonly random: Random } | undefined;

  add(fault: Fault): void {
    this.#planned.push({ fault, left: fault.times ?? 1 });
  }

  /** From now on this share of all calls fails, in ways drawn with the seed; 0 ends it. */
  failShare(share: number, seed: number): void {
    this.#random = share === 0 ? undefined : { share, random: seededRandom(seed) };
  }

  clear(): void {
    this.#planned = [];
    this.#random = undefined;
  }

  next(call: string): Fault | undefined {
    const met = this.#planned.find(({ fault, left }) => left > 0 && (fault.on?.test(call) ?? true));
    if (met) {
      met.left -= 1;
      return met.fault;
    }
    if (this.#random?.random.chance(this.#random.share)) return { kind: this.#random.random.pick(RANDOM_KINDS) };
    return undefined;
  }
}
