import { createHook, executionAsyncResource } from "node:async_hooks";

/** What `entering` gives and `left` takes. */
export interface WorkEntry {
  readonly label: string;
  /** The plan that it is done for. */
  readonly plan: string | undefined;
  readonly outer: WorkEntry | undefined;
  isOver: boolean;
}

export interface WatchedWork {
  /** Work begins; if the loop blocks, what is then under way is named. It is for the plan that the work around it is for. */
  entering(label: string): WorkEntry;
  /** That work is over. Pieces of work overlap, so they end in any order. */
  left(entry: WorkEntry): void;
  /** Does something for a plan, or for none; what goes on later because of it counts as the same work. */
  about<T>(plan: string | undefined, label: string, act: () => T): T;
  stop(): void;
}

type Work = Omit<WatchedWork, "stop">;

/** The work of a process that is watched from some moment on, if at all. */
export interface HeldWatch extends Work {
  watchWith(watch: Work): void;
}

export function holdWatch(): HeldWatch {
  let held = UNWATCHED;
  return {
    entering: (label) => held.entering(label),
    left: (entry) => held.left(entry),
    about: (plan, label, act) => held.about(plan, label, act),
    watchWith(watch) {
      held = watch;
    },
  };
}

/** For processes without a watchdog. */
const UNWATCHED: Work = {
  entering: (label) => ({ label, plan: undefined, outer: undefined, isOver: false }),
  left: () => undefined,
  about: (_plan, _label, act) => act(),
};

const CARRIED = Symbol("prloom.work");
type Carrier = { [CARRIED]?: WorkEntry };

/**
 * Knows what the loop is at, at every moment. Steps of plans take turns at each `await`, so the newest that began is
 * often not the one that blocks, and a plan must not be blamed for another: each callback and promise carries the work
 * that it was made by. `show` hears of every change.
 */
export function watchWork(show: (entry: WorkEntry | undefined) => void): WatchedWork {
  let current: WorkEntry | undefined;
  /** Callbacks may run inside others. */
  const around: (WorkEntry | undefined)[] = [];
  const become = (entry: WorkEntry | undefined): void => {
    let open = entry;
    while (open?.isOver) open = open.outer;
    if (open === current) return;
    current = open;
    show(open);
  };
  const hook = createHook({
    init(_id, _type, _trigger, resource) {
      if (current) (resource as Carrier)[CARRIED] = current;
    },
    before() {
      around.push(current);
      become((executionAsyncResource() as Carrier)[CARRIED]);
    },
    after() {
      become(around.pop());
    },
  }).enable();
  return {
    entering(label) {
      const entry = { label, plan: current?.plan, outer: current, isOver: false };
      become(entry);
      return entry;
    },
    left(entry) {
      entry.isOver = true;
      if (current?.isOver) become(current);
    },
    about(plan, label, act) {
      const before = current;
      // Without what is around it: plans wake each other, and that would be a chain without an end.
      become({ label, plan, outer: undefined, isOver: false });
      try {
        return act();
      } finally {
        become(before);
      }
    },
    stop: () => void hook.disable(),
  };
}
