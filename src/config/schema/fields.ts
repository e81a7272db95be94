import * as z from "zod";
import { DURATION_PATTERN, parseDuration, parseSize, Quantity, SIZE_PATTERN } from "./units.ts";

/** Node's timers fire at once when asked to wait longer than this. */
const MAX_TIMER_MS = 24 * 86_400_000;

interface DurationRule {
  /** Zero makes sense, and no timer is started with it. */
  readonly zero?: boolean;
  readonly long?: boolean;
  /** The shortest that is allowed, as it is written. */
  readonly least?: string;
}

const inMs = (written: string): number => parseDuration(written) ?? 0;

/** A string like `30m`. */
export function durationLike(example: string, { zero = false, long = false, least = "0ms" }: DurationRule = {}) {
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
    .refine((written) => long || inMs(written) <= MAX_TIMER_MS, { error: "must not be more than 24d" })
    .transform((written) => new Quantity(inMs(written), "Ms"));
}

/** A duration that need not be given. */
export function duration(usual: string, description: string, rule?: DurationRule) {
  return usually(durationLike(usual, rule).describe(description), usual);
}

/** A string like `16MB`, which need not be given. */
export function size(usual: string, description: string) {
  const written = z
    .string({ error: `must be a string with a unit, like "${usual}"` })
    .regex(SIZE_PATTERN, { error: `must be a number with a unit (B, KB, MB, GB), like "${usual}"` })
    .refine((value) => parseSize(value) !== 0, { error: `must be more than 0, like "${usual}"` })
    .transform((value) => new Quantity(parseSize(value) ?? 0, "Bytes"));
  return usually(written.describe(description), usual);
}

/** A whole number of 1 or more. */
export function count(description: string) {
  const error = "must be a whole number of 1 or more";
  return z.int({ error }).min(1, { error }).describe(description);
}

/** A field with a default, which its description names, too. */
export function usually<Field extends z.ZodType>(field: Field, value: z.input<Field>): z.ZodPrefault<Field> {
  return field.describe(`${field.description}. ${String(value)}`).prefault(value as never);
}

type WithoutDefault<Field> = Field extends z.ZodPrefault<infer Inner> ? Inner : Field;

/** The same keys, none of them needed and none filled in: for what is laid over something else. */
export function overlayOf<Shape extends z.ZodRawShape>(shape: Shape) {
  const fields = Object.entries(shape).map(([key, field]) => {
    const inner = field instanceof z.ZodPrefault ? field.unwrap() : field;
    return [key, z.exactOptional(inner)] as const;
  });
  return Object.fromEntries(fields) as { [Key in keyof Shape]: z.ZodExactOptional<WithoutDefault<Shape[Key]>> };
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
  .regex(VARIABLE, { error: "is not a name for an environment variable" });

export const insideRepository = text.refine(
  (path) => !/^([/\\]|[A-Za-z]:)/.test(path) && !path.split(/[/\\]/).includes(".."),
  { error: "must be a path below the repository, without .." },
);

/** Of a home in the sandbox; never the whole of it. */
export const belowHome = text.refine(
  (path) => !/^[/~]/.test(path) && !path.split("/").some((part) => ["", ".", ".."].includes(part)),
  { error: "must be a path below the home in the sandbox, like .local/share/my-agent" },
);
