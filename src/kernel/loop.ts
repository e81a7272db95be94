import { type Clock, timerMs } from "./clock.ts";

export interface LoopOptions {
  readonly clock: Clock;
  /** Does what there is to do now. Returns when the next pass is due if nothing wakes the loop before. */
  pass(): Promise<number | undefined> | number | undefined;
  /** How long to wait after so many failures in a row. */
  backoffMs(failures: number): number;
  onFailure(error: unknown): void;
  /** Something that a pass began is still under way, so the loop is not idle. Its end must wake the loop. */
  underWay?(): boolean;
  /** A pass is over, and the loop is idle. */
  onIdle?(): void;
  /** Wakes within this time count as one; without it, those of the caller's synchronous work do. */
  readonly gatherMs?: number;
}

/** A loop that is woken, backs off, becomes idle and stops. Its passes never overlap. */
export class Loop {
  readonly #options: LoopOptions;
  /** asked: a pass is about to begin; again: one runs, and another was asked for; hurried: the same, even if it fails. */
  #state: "resting" | "asked" | "running" | "again" | "hurried" = "resting";
  #timer: NodeJS.Timeout | undefined;
  #dueAt: number | undefined;
  #failures = 0;
  #stopped = false;
  #settled: PromiseWithResolvers<void> | undefined;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** There may be work. Many calls are one pass, one during a pass asks for another, one during a back-off is ignored. */
  wake(): void {
    if (!(this.backsOff() && this.#isEarly())) this.#want("again");
  }

  /** The same, and a back-off ends now; during a pass, none begins after it. */
  hurry(): void {
    this.#want("hurried");
  }

  /** The last pass failed, and the next one waits for its time. */
  backsOff(): boolean {
    return this.#failures > 0 && this.#state === "resting";
  }

  /** No pass runs or is about to, nothing is under way, and none is due up to `horizon`. */
  idle(horizon = Number.NEGATIVE_INFINITY): boolean {
    if (this.#state !== "resting") return false;
    const isDue = this.#dueAt !== undefined && this.#dueAt <= horizon;
    return this.#stopped || !(isDue || this.#options.underWay?.());
  }

  /** When the next pass is due if nothing wakes the loop before. */
  nextAt(): number | undefined {
    return this.#dueAt;
  }

  /** Resolves when it is idle, whatever is due later. */
  async settled(): Promise<void> {
    if (this.idle()) return;
    this.#settled ??= Promise.withResolvers();
    await this.#settled.promise;
  }

  /** No pass is begun any more. One that runs is left alone; nothing else is waited for. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#dueAt = undefined;
    if (this.#state === "asked") this.#state = "resting";
    this.#tellSettled();
  }

  #want(next: "again" | "hurried"): void {
    if (this.#stopped || this.#state === "asked" || this.#state === "hurried") return;
    if (this.#state === "resting") this.#ask();
    else this.#state = next;
  }

  /** Not a microtask: passes that follow each other at once must not keep everything else from its turn. */
  #ask(): void {
    clearTimeout(this.#timer);
    this.#state = "asked";
    const { gatherMs } = this.#options;
    const run = () => void this.#run();
    if (gatherMs === undefined) setImmediate(run);
    else this.#timer = setTimeout(run, gatherMs);
  }

  async #run(): Promise<void> {
    if (this.#stopped) return;
    this.#state = "running";
    let dueAt: number | undefined;
    try {
      dueAt = await this.#options.pass();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      dueAt = this.#options.clock.now() + this.#options.backoffMs(this.#failures);
      this.#options.onFailure(error);
    } finally {
      // Even if `onFailure` threw: a loop that stayed "running" would never run again.
      this.#rest(dueAt);
    }
  }

  #rest(dueAt: number | undefined): void {
    const isAskedAgain = this.#isAskedAgain();
    this.#state = "resting";
    this.#dueAt = this.#stopped ? undefined : dueAt;
    if (isAskedAgain && !this.#stopped) this.#ask();
    else this.#setTimer();
    if (this.#tellSettled()) this.#options.onIdle?.();
  }

  /**
   * Timers cannot be set to any time, and may fire before the clock has it: then it is set once more. Not for a back-off,
   * which is a duration: a clock that is set back must not make it longer.
   */
  #setTimer(): void {
    if (this.#dueAt === undefined) return;
    const wait = timerMs(this.#dueAt, this.#options.clock.now());
    this.#timer = setTimeout(() => (this.#isEarly() && !this.backsOff() ? this.#setTimer() : this.#ask()), wait);
  }

  #isAskedAgain(): boolean {
    return this.#state === "hurried" || (this.#state === "again" && this.#failures === 0);
  }

  #isEarly(): boolean {
    return this.#options.clock.now() < (this.#dueAt ?? 0);
  }

  #tellSettled(): boolean {
    if (!this.idle()) return false;
    this.#settled?.resolve();
    this.#settled = undefined;
    return true;
  }
}
