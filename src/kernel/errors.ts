/**
 * Every code that prloom can print. `docs/errors.md` explains each one (a test compares the two lists), and people
 * search for them, so a code is never renamed or reused.
 */
export const ERROR_CODES = [
  "branch-exists",
  "bridge-invalid",
  "check-failed",
  "checkout-in-the-way",
  "config-invalid",
  "config-missing",
  "control-failed",
  "daemon-running",
  "disk-full",
  "event-not-found",
  "filter-refused",
  "forge-refused",
  "forge-unreachable",
  "git-failed",
  "git-too-old",
  "github-failed",
  "hook-misuse",
  "id-invalid",
  "id-taken",
  "internal",
  "letter-not-found",
  "link-astray",
  "lock-lost",
  "merge-conflict",
  "nested-repository",
  "no-commits",
  "no-permission",
  "not-a-repository",
  "pin-changed",
  "plan-invalid",
  "plan-not-found",
  "plan-state",
  "plugin-failed",
  "plugin-invalid",
  "policy-invalid",
  "record-too-large",
  "recovery-failed",
  "resources-used-up",
  "reload-refused",
  "reload-stale",
  "repository-copied",
  "revision-conflict",
  "run-not-found",
  "sandbox-unavailable",
  "schema-newer",
  "signing-failed",
  "source-taken",
  "state-unreadable",
  "target-clash",
  "tree-too-large",
  "usage",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** A user's mistake or a broken environment, reported with what to do next. Anything else that is thrown is our bug. */
export class PrloomError extends Error {
  override readonly name = "PrloomError";
  readonly code: ErrorCode;
  /** What to do about it; contains the command to type where there is one. */
  readonly hint: string;

  constructor(code: ErrorCode, message: string, hint: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint;
  }
}

/** The errno name ("ENOENT") of a failed system call, or undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  return undefined;
}

/** Whether a system call failed because nothing is at its path. */
export function isMissing(error: unknown): boolean {
  const code = errnoOf(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** What an act gives; undefined where the system refuses it, for whatever reason. */
export function unlessRefused<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The same where only nothing at the path is expected; any other refusal throws. */
export function unlessGone<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** One line that says what was thrown, whatever it was. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
