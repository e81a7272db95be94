import * as z from "zod";
import { DURATION_PATTERN, parseDuration, parseSize, SIZE_PATTERN } from "./units.ts";

/** Node's timers fire at once when asked to wait longer than this. */
const LONGEST_TIMER_MS = 24 * 86_400_000;

interface DurationRule {
  readonly example: string;
  readonly description: string;
  /** Zero makes sense, and no timer is started with it. */
  readonly zero?: boolean;
  readonly long?: boolean;
  /** The shortest that is allowed, as it is written. */
  readonly least?: string;
}

/** A text like `30m`. */
export function duration({ example, description, zero = false, long = false, least = "0ms" }: DurationRule) {
  const inMs = (written: string) => parseDuration(written) ?? 0;
  return z
    .string({ error: `must be a string with a unit, like "${example}"` })
    .regex(DURATION_PATTERN, {
      error: `must be a number with a unit (ms, s, m, h, d), like "${example}"`,
      abort: true,
    })
    .refine((written) => zero || inMs(written) !== 0, {
      error: `must be more than 0, like "${example}"`,
      abort: true,
    })
    .refine((written) => inMs(written) >= inMs(least), { error: `must not be less than ${least}` })
    .refine((written) => long || inMs(written) <= LONGEST_TIMER_MS, { error: "must not be more than 24d" })
    .describe(description);
}

/** A text like `16MB`. */
export function size(example: string, description: string) {
  return z
    .string({ error: `must be a string with a unit, like "${example}"` })
    .regex(SIZE_PATTERN, { error: `must be a number with a unit (B, KB, MB, GB), like "${example}"` })
    .refine((written) => parseSize(written) !== 0, { error: `must be more than 0, like "${example}"` })
    .describe(description);
}

/** A whole number of 1 or more. */
export function count(description: string) {
  const error = "must be a whole number of 1 or more";
  return z.int({ error }).min(1, { error }).describe(description);
}

export const text = z
  .string({ error: "must be a string" })
  .refine((value) => value.trim() !== "", { error: "must not be empty" });
export const texts = z.array(text, { error: "must be a list of strings" });
export const yesOrNo = z.boolean({ error: "must be true or false" });
export const anObject = { error: "must be an object: { … }" };

export const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, { error: "names have letters, digits, . _ and - only" });

/** Stricter than other names: these are parts of file names, and a key of digits would lose its place in the order. */
export const moduleName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, {
  error: "names begin with a letter and have letters, digits, _ and - only, 64 at most",
});

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
export const variableName = z
  .string({ error: "must be the name of an environment variable" })
  .regex(VARIABLE, { error: "is no name for an environment variable" });

export const insideRepository = text.refine(
  (path) => !/^([/\\]|[A-Za-z]:)/.test(path) && !path.split(/[/\\]/).includes(".."),
  { error: "must be a path below the repository, without .." },
);

/** Of a home in the sandbox; never the whole of it. */
export const belowHome = text.refine(
  (path) => !/^[/~]/.test(path) && !path.split("/").some((part) => ["", ".", ".."].includes(part)),
  { error: "must be a path below the home in the sandbox, like .local/share/my-agent" },
);
