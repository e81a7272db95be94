import { Console } from "node:console";
import { errnoOf } from "../kernel/errors.ts";
import { strayError } from "../kernel/foreign-code.ts";
import { reportError } from "./report-error.ts";

/** Runs the command that this process was started with, to the end of the process. */
export async function run(): Promise<void> {
  const argv = process.argv.slice(2);
  prepareProcess(argv);
  try {
    const { runProgram } = await import("./program.ts");
    await runProgram(argv);
  } catch (error) {
    process.exitCode = reportError(error, argv);
  }
  // What a plugin or a bridge left behind, a timer or an open connection, must not keep a process that is done.
  const streams = [process.stdout, process.stderr];
  await Promise.all(streams.map((stream) => new Promise((resolve) => stream.write("", resolve))));
  process.exit();
}

function prepareProcess(argv: readonly string[]): void {
  const emitWarning = process.emitWarning.bind(process) as (...args: unknown[]) => void;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    // The owner lock uses node:sqlite on purpose, and the built program imports plugins; the user can do nothing about it.
    if (/^(?:SQLite|vm\.USE_MAIN_CONTEXT_DEFAULT_LOADER) is an experimental feature/.test(String(warning))) return;
    // Whether a repository says "type": "module" is its own matter: its plugins work either way.
    if ((rest[0] as { code?: string } | undefined)?.code === "MODULE_TYPELESS_PACKAGE_JSON") return;
    emitWarning(warning, ...rest);
  };

  // Standard output holds the answers of commands, JSON for instance. What plugins print belongs on standard error.
  globalThis.console = new Console(process.stderr);

  // `prloom status | head -1` closes our stdout: there is no reader left, and nothing is wrong.
  let closed = false;
  process.stdout.on("error", (error) => {
    if (errnoOf(error) !== "EPIPE") throw error;
    if (closed) return;
    closed = true;
    // A dispatcher listens to this signal and ends its agents first.
    if (!process.emit("SIGTERM", "SIGTERM")) process.exit(0);
  });

  process.on("uncaughtException", (error) => {
    process.exit(reportError(strayError(error), argv));
  });
}
