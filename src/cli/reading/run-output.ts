import { join } from "node:path";
import * as z from "zod";
import type { RunExit } from "../../agents/port.ts";
import { readExit } from "../../agents/runner/run-exit.ts";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import { listDir, readTail } from "../../kernel/files.ts";
import { readChecked } from "../../kernel/json-files.ts";
import { lstatIfThere } from "../../kernel/lstat.ts";
import { MAX_FILE_BYTES } from "../../kernel/own-file.ts";

/** One of the commands that were run to check what a run left. */
export interface CheckOutput {
  readonly number: number;
  /** Absent when it cannot be read any more. */
  readonly command?: string;
  readonly output: string;
  /** Absent while it runs, and when it was interrupted. */
  readonly exit?: RunExit;
}

/** What the agent of a run printed so far. `limits.maxOutput` may keep more of it than fits into a string: then the end counts. */
export function agentOutput(runDir: string): string {
  const path = join(runDir, RUN_FILES.output);
  const more = (lstatIfThere(path)?.size ?? 0) - MAX_FILE_BYTES;
  const output = readTail(path, MAX_FILE_BYTES);
  return more > 0 ? `… ${more} bytes before this are in ${path}\n${output}` : output;
}

/** The lines that a program printed, however it ends them. */
export function printedLines(text: string): string[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

const requestSchema = z.object({ invocation: z.object({ shell: z.string() }) });

function commandOf(dir: string): string | undefined {
  return readChecked(join(dir, RUN_FILES.request), requestSchema)?.invocation.shell;
}

/** The checks of a run, in the order in which they ran. */
export function checksOf(runDir: string): CheckOutput[] {
  const folder = join(runDir, "checks");
  const numbers = listDir(folder)
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => a - b);
  return numbers.map((number) => {
    const dir = join(folder, String(number));
    const command = commandOf(dir);
    const exit = readExit(dir);
    return {
      number: number + 1,
      output: agentOutput(dir),
      ...(command === undefined ? {} : { command }),
      ...(exit === undefined ? {} : { exit }),
    };
  });
}

/** A check as people read it: a line that says what it was and how it ended, and what it printed. */
export function checkText({ number, command, exit, output }: CheckOutput): string {
  const end =
    exit === undefined ? "no end" : exit.reason === "exited" ? `exit ${exit.code ?? exit.signal}` : exit.reason;
  return `--- check ${command === undefined ? number : `\`${command}\``} (${end}) ---\n${endingInLine(output)}`;
}

/** Why a run could not even be started, as a line; "" for all others. */
export function startFailure(runDir: string): string {
  const exit = readExit(runDir);
  return exit?.reason === "spawn-failed" ? `could not be started: ${exit.error ?? "no reason is known"}\n` : "";
}

export function endingInLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
