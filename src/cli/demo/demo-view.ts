import { closeSync, readSync } from "node:fs";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { createLogUpdate } from "log-update";
import { RUN_FILES } from "../../agents/runner/run-files.ts";
import type { Progress } from "../../dispatcher/capabilities.ts";
import { homeOf, type Paths } from "../../dispatcher/paths.ts";
import { isMissing } from "../../kernel/errors.ts";
import { listDir, readTextIfExists } from "../../kernel/files.ts";
import { openOwn } from "../../kernel/own-file.ts";
import { parsePlan, progressOf } from "../../plan/markdown/markdown.ts";
import type { Output } from "../output.ts";
import { LEVEL_STYLES } from "../render/colour.ts";
import { firstLine, visible } from "../render/safe-text.ts";
import { cutToWidth } from "../render/tables/table.ts";
import { DEMO_PLAN } from "./demo-repository.ts";

const LOOK_MS = 100;

export interface DemoView {
  progress(progress: Progress): void;
  /** Shows what is still pending and leaves the terminal as it was. */
  close(): void;
}

interface LiveOptions {
  readonly paths: Paths;
  readonly out: Output;
  readonly now: () => number;
}

/** Tells what the dispatcher does and what the agent prints, as it happens; in a terminal with a moving last line. */
export function openDemoView(options: LiveOptions): DemoView {
  const { out, now, paths } = options;
  const { paint } = out;
  const began = now();
  const terminal = out.terminal ? createLogUpdate(process.stdout) : undefined;
  const seconds = () => `${((now() - began) / 1000).toFixed(1).padStart(5)}s`;
  const write = (text: string): void => {
    // Not `persist`: it cuts to the terminal's height, which some terminals do not tell.
    terminal?.clear();
    out.line(`${paint("dim", seconds())}  ${text}`);
  };
  const output = openAgentOutput(homeOf(paths, DEMO_PLAN).runs);
  const look = (): void => {
    for (const line of output.newLines()) write(paint("dim", `│ ${visible(line)}`));
    terminal?.(paint("cyan", cutToWidth(footer(paths, seconds()), out.width())));
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    progress({ level, text }) {
      // What the agent printed before comes before.
      look();
      const style = LEVEL_STYLES[level];
      const line = firstLine(text);
      write(style ? paint(style, line) : line);
    },
    close() {
      clearInterval(timer);
      look();
      terminal?.clear();
      terminal?.done();
    },
  };
}

function footer(paths: Paths, elapsed: string): string {
  const text = readTextIfExists(homeOf(paths, DEMO_PLAN).plan);
  if (text === undefined) return "starting";
  const { total, completed } = progressOf(parsePlan(text));
  return `${elapsed}  ${"█".repeat(completed)}${"░".repeat(total - completed)}  ${completed} of ${total} TODOs`;
}

/** Whole new lines of all runs, in order. */
function openAgentOutput(runsDir: string): { newLines(): string[] } {
  const readers = new Map<number, () => string[]>();
  return {
    newLines() {
      const runs = listDir(runsDir)
        .map(Number)
        .filter(Number.isInteger)
        .sort((a, b) => a - b);
      return runs.flatMap((run) => {
        const reader = readers.get(run) ?? lineReader(join(runsDir, String(run), RUN_FILES.output));
        readers.set(run, reader);
        return reader();
      });
    },
  };
}

function lineReader(file: string): () => string[] {
  const decoder = new StringDecoder("utf8");
  const buffer = Buffer.alloc(64 * 1024);
  let offset = 0;
  let rest = "";
  return () => {
    let fd: number;
    try {
      fd = openOwn(file);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
    try {
      for (let read = readSync(fd, buffer, 0, buffer.length, offset); read > 0; ) {
        rest += decoder.write(buffer.subarray(0, read));
        offset += read;
        read = readSync(fd, buffer, 0, buffer.length, offset);
      }
    } finally {
      closeSync(fd);
    }
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    return lines;
  };
}
