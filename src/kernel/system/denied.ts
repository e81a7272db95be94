import { dirname } from "node:path";
import { errnoOf, PrloomError } from "../errors.ts";

const DENIED: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
};

/** Turns what the system refuses this user into an error that says so; passes everything else on. */
export function deniedError(error: unknown): unknown {
  const code = errnoOf(error) ?? "";
  const why = DENIED[code];
  // Without a path it is not about a file, and we would not know what to tell.
  if (why === undefined || !(error instanceof Error) || !("path" in error) || typeof error.path !== "string")
    return error;
  return new PrloomError(
    "no-permission",
    `prloom cannot use ${error.path}: ${why} (${code}).`,
    `Look who owns it and who may write there: ls -ld ${dirname(error.path)} ${error.path}`,
    error,
  );
}
