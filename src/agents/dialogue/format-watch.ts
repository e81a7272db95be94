import type { AgentEvent } from "../port.ts";

/** What prloom expects of a program, for the person who has to find out what has changed. */
export interface ExpectedFormat {
  /** As the user started it. */
  readonly program: string;
  /** Some lines that every run has. */
  readonly expected: string;
}

/** Notices that a program printed nothing that is known: another version, or another program. */
export interface FormatWatch {
  /** A line was understood, or a failure was told that needs no second explanation. */
  known(): void;
  /** A line was not understood; the first one is told. */
  strange(line: string): void;
  close(): readonly AgentEvent[];
}

const MAX_EXCERPT = 200;

export function formatWatch({ program, expected }: ExpectedFormat): FormatWatch {
  let isKnown = false;
  let first: string | undefined;
  return {
    known: () => {
      isKnown = true;
    },
    strange: (line) => {
      if (line.trim() !== "") first ??= line.trim().slice(0, MAX_EXCERPT);
    },
    close: () => {
      // One that printed nothing at all has not changed its format: how it ended says more.
      if (isKnown || first === undefined) return [];
      const message = `${program} printed nothing that prloom knows. Expected were lines such as ${expected}; the first that came: ${first}`;
      return [{ type: "error", kind: "format", message }];
    },
  };
}
