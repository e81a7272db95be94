/** One line of OpenCode's log, as `--print-logs` prints it. */
export interface LogLine {
  readonly level: string;
  readonly fields: Readonly<Record<string, string>>;
}

const FIELD = /([\w.]+)=("(?:[^"\\]|\\.)*"|\S*)/g;

/** Reads `timestamp=… level=ERROR message="stream error" …`; undefined for any other line. */
export function readLogLine(line: string): LogLine | undefined {
  const level = /^timestamp=\S+ level=([A-Z]+) /.exec(line)?.[1];
  if (level === undefined) return undefined;
  const fields: Record<string, string> = {};
  for (const [, name = "", value = ""] of line.matchAll(FIELD)) fields[name] ??= unquoted(value);
  return { level, fields };
}

function unquoted(value: string): string {
  if (!value.startsWith('"')) return value;
  try {
    return String(JSON.parse(value));
  } catch (error) {
    if (error instanceof SyntaxError) return value.slice(1, -1);
    throw error;
  }
}
