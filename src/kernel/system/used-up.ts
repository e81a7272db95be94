import { type ErrorCode, errnoOf, PrloomError } from "../errors.ts";

/** What the system had none left of, by the errno of a call that failed for it. */
const USED_UP: Readonly<Record<string, string>> = {
  EAGAIN: "processes",
  ENOMEM: "memory",
  EMFILE: "open files",
  ENFILE: "open files",
};

/** The same in the words of the C library, at the end of a line that a program printed; `LC_ALL=C` keeps them English. */
const USED_UP_WORDS = /: (Resource temporarily unavailable|Cannot allocate memory|Too many open files)$/m;

/** Turns "the system has none left" into an error that says so; passes everything else on. */
export function usedUpError(error: unknown, doing: string): unknown {
  const what = USED_UP[errnoOf(error) ?? ""];
  return what === undefined || error instanceof PrloomError ? error : usedUp(what, doing, error);
}

/** The same by what a program said that failed; undefined when it failed for something else. */
export function usedUpWords(words: string, doing: string): PrloomError | undefined {
  return USED_UP_WORDS.test(words) ? usedUp("processes, memory or open files", doing, words) : undefined;
}

/** Whether Node's words about a failure have one of those errnos. */
export function namesUsedUp(words: string): boolean {
  return (words.match(/\bE[A-Z]+\b/g) ?? []).some((name) => Object.hasOwn(USED_UP, name));
}

/** So long after the last time something is likely to be missing again. */
const SCARCE_MS = 30_000;
let lastUsedUp = Number.NEGATIVE_INFINITY;

/** Whether the system had nothing left a moment ago. */
export function isScarce(): boolean {
  return performance.now() - lastUsedUp < SCARCE_MS;
}

export function usedUp(what: string, doing: string, cause: unknown): PrloomError {
  lastUsedUp = performance.now();
  return new PrloomError(
    "resources-used-up",
    `This user has no ${what} left, so prloom waits with ${doing}.`,
    "Nothing was lost, and prloom goes on by itself. `ps -u $USER` shows what runs, `ulimit -u` and `ulimit -n` how many processes and open files may be.",
    cause,
  );
}

const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["disk-full", "resources-used-up", "forge-unreachable"]);

/** What goes away without a change of the plan: it waits, and nothing is counted against it. */
export function passesByItself(error: unknown): error is PrloomError {
  return error instanceof PrloomError && PASSING.has(error.code);
}
