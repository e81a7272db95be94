import { PrloomError } from "../kernel/errors.ts";
import type { Environment } from "../kernel/system/environment.ts";
import { type Paint, paintFor } from "./render/colour.ts";
import { jsonText } from "./render/safe-text.ts";
import { type Cell, type Column, renderTable } from "./render/tables/table.ts";

/** Where a command writes its output. */
export interface Output {
  /** The caller wants JSON and nothing else on stdout. */
  readonly json: boolean;
  /** Standard output is a terminal. */
  readonly terminal: boolean;
  /** Columns of the terminal; without end where there is none. */
  width(): number;
  readonly paint: Paint;
  /** One line for people; nothing with --json. */
  line(text?: string): void;
  table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void;
  /** The result for programs; nothing without --json. */
  data(value: unknown): void;
  /** A line on stderr. */
  note(text: string): void;
}

/** What a command is called with. */
export interface Call {
  readonly cwd: string;
  readonly env: Environment;
  readonly output: Output;
}

function createOutput(json: boolean, env: Environment): Output {
  const { stdout } = process;
  const terminal = stdout.isTTY === true && !json;
  const paint = paintFor(stdout, env);
  const width = () => (stdout.isTTY === true ? Math.max(1, stdout.columns || 80) : Number.POSITIVE_INFINITY);
  const line = (text = ""): void => {
    if (!json) stdout.write(`${text}\n`);
  };
  return {
    json,
    terminal,
    width,
    paint,
    line,
    table: (columns, rows) => {
      // One write: a table of a thousand rows would otherwise be a thousand of them.
      line(renderTable(columns, rows, { width: width(), paint }).join("\n"));
    },
    data: (value) => {
      if (json) stdout.write(`${jsonText(value, 2)}\n`);
    },
    note: (text) => void process.stderr.write(`${text}\n`),
  };
}

/** The folder that a command is typed in; another program may have removed it meanwhile. */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new PrloomError(
      "not-a-repository",
      "The folder that you are in does not exist any more.",
      "Go to your project (`cd <folder>`), and try again.",
      error,
    );
  }
}

export function createCall(options: { json?: boolean | undefined }): Call {
  return { cwd: currentFolder(), env: process.env, output: createOutput(options.json === true, process.env) };
}
