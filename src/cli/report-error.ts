import { errnoOf, messageOf, PrloomError } from "../kernel/errors.ts";
import { diskError } from "../kernel/files.ts";
import { deniedError } from "../kernel/system/denied.ts";
import { hintLines } from "./render/hint.ts";
import { jsonText, visible } from "./render/safe-text.ts";
import { version } from "./setup/version.ts";

const CALLED_WRONGLY: readonly string[] = ["usage", "id-invalid"];

/** 2 when the command was called wrongly, else 1. */
export function exitCodeOf(error: unknown): number {
  return error instanceof PrloomError && CALLED_WRONGLY.includes(error.code) ? 2 : 1;
}

/** What the system refused because of the user's own surroundings, as an error with a hint; all else as it is. */
function explained(error: unknown): unknown {
  const code = errnoOf(error) ?? "";
  if (code === "ERR_SQLITE_ERROR" && /unable to open|readonly database/i.test(messageOf(error))) return noLock(error);
  return diskError(deniedError(error), "what prloom had to say or to keep");
}

/** The lock is a database file, and its library does not say which system call failed. */
function noLock(error: unknown): PrloomError {
  return new PrloomError(
    "no-permission",
    `prloom cannot open its lock file, prloom/daemon.lock in the git directory: ${messageOf(error)}.`,
    "Look who may write there: ls -la .git/prloom",
    error,
  );
}

/** What programs are told about an error. */
export function errorData(thrown: unknown): { code: string; message: string; hint: string } {
  const error = explained(thrown);
  if (error instanceof PrloomError) return { code: error.code, message: error.message, hint: error.hint };
  return { code: "internal", message: messageOf(error), hint: "This is a fault of prloom; please report it." };
}

/** The lines for people: what and what to do for a user's mistake, a report for our bug. */
export function errorLines(thrown: unknown, argv: readonly string[]): string[] {
  const error = explained(thrown);
  if (error instanceof PrloomError && error.code !== "internal") {
    const [first = "", ...more] = error.message.split("\n").map(visible);
    return [`error: ${first} [${error.code}]`, ...more.map((line) => `  ${line}`), ...hintLines(error.hint)];
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return [
    `error: ${visible(messageOf(error))} [internal]`,
    "  This is a bug in prloom. Your plans and branches are as they were. Please report it with these lines:",
    "",
    `  version:  ${version()}`,
    `  node:     ${process.version}`,
    `  platform: ${process.platform} ${process.arch}`,
    `  command:  prloom ${argv.map(visible).join(" ")}`,
    ...stack.split("\n").map((line) => `  ${visible(line)}`),
    ...causeLines(error),
  ];
}

function causeLines(error: unknown): string[] {
  if (!(error instanceof Error) || error.cause === undefined) return [];
  return [`  caused by: ${visible(messageOf(error.cause))}`];
}

/** Says on stderr what went wrong, and with --json on stdout too; returns the exit code. */
export function reportError(error: unknown, argv: readonly string[]): number {
  const end = argv.indexOf("--");
  if ((end < 0 ? argv : argv.slice(0, end)).includes("--json")) {
    process.stdout.write(`${jsonText({ error: errorData(error) })}\n`);
  }
  process.stderr.write(`${errorLines(error, argv).join("\n")}\n`);
  return exitCodeOf(error);
}
