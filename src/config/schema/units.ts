const DURATION_UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SIZE_UNITS = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 } as const;

export const DURATION_PATTERN = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;
export const SIZE_PATTERN = /^(\d+(?:\.\d+)?)(B|KB|MB|GB)$/;

/** Milliseconds of `90s`, `30m`, `2h`, `7d`, `500ms`; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = DURATION_PATTERN.exec(text) ?? [];
  if (amount === undefined) return undefined;
  return Math.round(Number(amount) * DURATION_UNITS[unit as keyof typeof DURATION_UNITS]);
}

/** Bytes of `16MB`, `512KB`; undefined for anything else. */
export function parseSize(text: string): number | undefined {
  const [, amount, unit] = SIZE_PATTERN.exec(text) ?? [];
  if (amount === undefined) return undefined;
  return Math.round(Number(amount) * SIZE_UNITS[unit as keyof typeof SIZE_UNITS]);
}

function inLargestUnit(value: number, units: Readonly<Record<string, number>>): string {
  const fitting = Object.entries(units).filter(([, size]) => value >= size && value % size === 0);
  const [unit, size] = fitting.at(-1) ?? Object.entries(units)[0] ?? ["", 1];
  return `${value / size}${unit}`;
}

/** The way a person would write it in the config: 7200000 is `2h`. */
export function formatDuration(ms: number): string {
  return inLargestUnit(ms, DURATION_UNITS);
}

/** The way a person would write it in the config: 16777216 is `16MB`. */
export function formatSize(bytes: number): string {
  return inLargestUnit(bytes, SIZE_UNITS);
}

/** An amount whose unit becomes a part of its key: `runTimeout` in the file is `runTimeoutMs` in the config. */
export class Quantity<Unit extends string> {
  readonly amount: number;
  readonly unit: Unit;

  constructor(amount: number, unit: Unit) {
    this.amount = amount;
    this.unit = unit;
  }
}

type WithUnits<T> = {
  [K in keyof T as Exclude<T[K], undefined> extends Quantity<infer Unit> ? `${K & string}${Unit}` : K]: Exclude<
    T[K],
    undefined
  > extends Quantity<string>
    ? number
    : T[K];
};

/** The values of an object, with plain numbers for its quantities. */
export function withUnits<T extends object>(values: T): WithUnits<T> {
  const named = Object.entries(values).map(([key, value]) =>
    value instanceof Quantity ? [`${key}${value.unit}`, value.amount] : [key, value],
  );
  return Object.fromEntries(named) as WithUnits<T>;
}
