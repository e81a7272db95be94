import { setMaxListeners } from "node:events";

/** How long a call may go on when the dispatcher stops. */
const STOP_GRACE_MS = 2000;

export interface DeadlineOptions {
  readonly ms: number;
  readonly stopSignal: AbortSignal;
}

/** The time that one call has. */
export interface Deadline {
  /** Aborted when the time is over, or the dispatcher stops. */
  readonly signal: AbortSignal;
  /** Time stands still while this works. */
  exempt<T>(work: () => Promise<T>): Promise<T>;
  /** What the call gives; rejects when the time is over first. */
  wait(call: PromiseLike<unknown>): Promise<unknown>;
  /** The call is over: whatever it left running, an agent for example, is told to end. */
  end(): void;
}

const OVER = new Error("the call is over");

/** Starts the time of a call. */
export function startDeadline({ ms, stopSignal }: DeadlineOptions): Deadline {
  const controller = new AbortController();
  let left = ms;
  let exemptions = 0;
  let startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  let expire: ((error: Error) => void) | undefined;

  const fire = (): void => {
    const error = new Error(`it did not return within ${ms / 1000} s`);
    controller.abort(error);
    expire?.(error);
  };
  const hold = (): void => {
    clearTimeout(timer);
    if (exemptions === 0) left -= performance.now() - startedAt;
  };
  const go = (): void => {
    startedAt = performance.now();
    if (expire && exemptions === 0) timer = setTimeout(fire, Math.max(0, left));
  };
  const stop = (): void => {
    controller.abort(stopSignal.reason);
    clearTimeout(timer);
    timer = setTimeout(fire, Math.max(0, Math.min(left, STOP_GRACE_MS)));
  };
  if (stopSignal.aborted) controller.abort(stopSignal.reason);

  return {
    signal: controller.signal,
    async exempt(work) {
      hold();
      exemptions += 1;
      try {
        return await work();
      } finally {
        exemptions -= 1;
        if (!controller.signal.aborted) go();
      }
    },
    async wait(call) {
      const over = Promise.withResolvers<never>();
      expire = over.reject;
      // Every hook that is under way listens; that is not a leak.
      setMaxListeners(0, stopSignal);
      stopSignal.addEventListener("abort", stop, { once: true });
      if (stopSignal.aborted) stop();
      else go();
      try {
        return await Promise.race([call, over.promise]);
      } finally {
        expire = undefined;
        clearTimeout(timer);
        stopSignal.removeEventListener("abort", stop);
      }
    },
    end: () => controller.abort(OVER),
  };
}

/** What `work` gives; rejects when it takes longer than `ms`. */
export async function withinDeadline<T>(work: () => Promise<T>, ms: number): Promise<T> {
  const over = Promise.withResolvers<never>();
  const timer = setTimeout(() => over.reject(new Error(`it did not return within ${ms / 1000} s`)), ms);
  try {
    return await Promise.race([work(), over.promise]);
  } finally {
    clearTimeout(timer);
  }
}
